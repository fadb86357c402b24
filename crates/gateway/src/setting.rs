//! What a tenant sets for itself: few things, each of a type, changed by a JSON merge patch (RFC 7396).

use axum::Json;
use axum::extract::State;
use governance::Action;
use schema::{SideEffectLevel, TenantId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use store::Commit;

use crate::app::{App, Shared};
use crate::audit::Change;
use crate::clock::now;
use crate::discretion::setting::RedactionSettings;
use crate::error::{ApiError, unread, unrecorded};
use crate::governor::tripwire::TripwireSettings;
use crate::identity::Caller;
use crate::strict::{Body, from_value};

/// What holds for a tenant.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    pub(crate) memory_quarantine: MemoryQuarantine,
    pub(crate) cache: CacheSettings,
    pub(crate) redaction: RedactionSettings,
    pub(crate) tripwires: TripwireSettings,
    /// What is known of tools, by name.
    pub(crate) tools: BTreeMap<String, ToolSettings>,
}

/// What is known of a tool.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ToolSettings {
    /// How much it changes, from 0 to 4; 3 when nobody says.
    pub(crate) level: Option<SideEffectLevel>,
    /// What policies call it, such as `write:email`; `execute:` and its name when left out.
    pub(crate) action: Option<String>,
    /// Whether it takes something out of the house, which counts as a write.
    pub(crate) egress: bool,
    /// Who writes the fields of what it returns: `own`, `trusted`, `name` or `untrusted`; `*` is all that is not listed.
    #[schemars(with = "BTreeMap<String, String>")]
    pub(crate) fields: BTreeMap<String, provenance::Label>,
    /// What its arguments do: `target`, `amount`, `content` or `detail`.
    #[schemars(with = "BTreeMap<String, String>")]
    pub(crate) arguments: BTreeMap<String, provenance::Role>,
}

impl Settings {
    /// The action that a tool performs, and how much it changes.
    pub(crate) fn declared(&self, tool: &str) -> (Action, SideEffectLevel) {
        let known = self.tools.get(tool);
        let action = known.and_then(|known| known.action.as_deref()?.parse().ok());
        let level = known.and_then(|known| known.level).unwrap_or(SideEffectLevel::UNDECLARED);
        (action.unwrap_or_else(|| Action::execute(tool)), level)
    }

    /// The same for whoever looks where the words of an action came from.
    pub(crate) fn provenance(&self) -> provenance::Settings {
        let MemoryQuarantine { threshold, coverage, undeclared, .. } = self.memory_quarantine;
        let tools = self.tools.iter().map(|(name, known)| {
            let ToolSettings { level, egress, fields, arguments, .. } = known.clone();
            (name.clone(), provenance::Declaration { level, egress, fields, arguments })
        });
        provenance::Settings { undeclared, coverage, threshold, tools: tools.collect() }
    }
}

/// Whether actions are held back when untrusted memory had a part in the run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct MemoryQuarantine {
    pub(crate) enabled: bool,
    /// From which level of side effects on, 0 to 4.
    pub(crate) threshold: SideEffectLevel,
    /// How much one vouched influence lifts: `source`, what has its own source or hash, or `run`, everything.
    #[schemars(with = "String")]
    pub(crate) coverage: provenance::Coverage,
    /// What to make of tools that nobody declared: `strict`, or `infer` from their names and schemas.
    #[schemars(with = "String")]
    pub(crate) undeclared: provenance::Undeclared,
}

impl Default for MemoryQuarantine {
    fn default() -> Self {
        Self {
            enabled: false,
            threshold: SideEffectLevel::ReversibleWrite,
            coverage: provenance::Coverage::Source,
            undeclared: provenance::Undeclared::Strict,
        }
    }
}

/// Whether and how long answers are used again.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct CacheSettings {
    /// Whether the answer to an identical request is used again.
    pub(crate) exact_enabled: bool,
    /// For how long, in seconds; at most 30 days.
    #[schemars(range(min = 1, max = 2_592_000))]
    pub(crate) exact_ttl_seconds: u64,
    /// Whether only requests without chance in them (temperature 0) are.
    pub(crate) deterministic_only: bool,
}

impl Default for CacheSettings {
    fn default() -> Self {
        Self::of(&cache::Rules::default())
    }
}

impl CacheSettings {
    /// What the installation says, where a tenant has set nothing.
    fn of(rules: &cache::Rules) -> Self {
        Self {
            exact_enabled: rules.enabled,
            exact_ttl_seconds: rules.ttl_seconds,
            deterministic_only: rules.deterministic_only,
        }
    }

    /// The rules that come of it. The installation can switch the cache off for everybody.
    pub(crate) fn over(self, rules: &cache::Rules) -> cache::Rules {
        cache::Rules {
            enabled: rules.enabled && self.exact_enabled,
            deterministic_only: self.deterministic_only,
            ttl_seconds: self.exact_ttl_seconds,
            at_most: rules.at_most,
        }
    }
}

/// Members of the settings to change; null puts one back to its default.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct SettingsPatch(Map<String, Value>);

/// What holds.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ShownSettings {
    settings: Settings,
}

impl Shared {
    /// What holds for a tenant. What a newer version set and this one does not know is left aside.
    pub(crate) async fn settings(&self, tenant: TenantId) -> Result<Settings, ApiError> {
        let set = self.of(tenant).settings().await.map_err(unread)?;
        Ok(self.over_defaults(Value::Object(set)).unwrap_or_else(|_| {
            tracing::warn!(%tenant, "the settings of a tenant cannot be read; the defaults hold");
            self.default_settings()
        }))
    }

    fn default_settings(&self) -> Settings {
        Settings { cache: CacheSettings::of(&self.cache), ..Settings::default() }
    }

    /// What a tenant has set, over what the installation says.
    fn over_defaults(&self, set: Value) -> Result<Settings, ApiError> {
        let mut all = json!(self.default_settings());
        merge(&mut all, set);
        from_value(all)
    }
}

pub(crate) async fn show(State(app): State<App>, caller: Caller) -> Result<Json<ShownSettings>, ApiError> {
    Ok(Json(ShownSettings { settings: app.settings(caller.tenant).await? }))
}

pub(crate) async fn change(
    State(app): State<App>,
    caller: Caller,
    Body(SettingsPatch(patch)): Body<SettingsPatch>,
) -> Result<Json<ShownSettings>, ApiError> {
    // One at a time: what is set is written whole, and a patch is about what was set before.
    let _turn = app.settings_turn.lock().await;
    let store = app.of(caller.tenant);
    let mut set = Value::Object(store.settings().await.map_err(unread)?);
    merge(&mut set, Value::Object(patch.clone()));
    let settings = app.over_defaults(set.clone())?;
    settings.check(&app.cache)?;
    let details = json!({ "patch": patch });
    let change = Change {
        tenant: caller.tenant,
        at: now(),
        action: "audit.settings_changed",
        target: "settings",
        details,
    };
    let commit = Commit {
        appends: vec![change.record(&app, &caller)?],
        settings: Some(crate::append::members(set)),
        ..Commit::default()
    };
    store.commit(commit).await.map_err(unrecorded)?;
    app.tenant_rules.forget(&caller.tenant);
    app.decided_by.forget(&caller.tenant);
    Ok(Json(ShownSettings { settings }))
}

impl Settings {
    fn check(&self, rules: &cache::Rules) -> Result<(), ApiError> {
        for (name, tool) in &self.tools {
            if tool.action.as_deref().is_some_and(|action| action.parse::<Action>().is_err()) {
                let param = format!("tools.{name}.action");
                let message = format!("{param}: expected an action such as `write:email`");
                return Err(ApiError::Malformed { message, param });
            }
        }
        self.redaction.check()?;
        let seconds = self.cache.exact_ttl_seconds;
        if (1..=2_592_000).contains(&seconds) || seconds == rules.ttl_seconds {
            return Ok(());
        }
        let param = "cache.exactTtlSeconds".to_owned();
        Err(ApiError::Malformed { message: format!("{param}: expected 1 to 2592000"), param })
    }
}

/// A JSON merge patch: members replace members, null takes one out.
fn merge(target: &mut Value, patch: Value) {
    let Value::Object(members) = patch else {
        *target = patch;
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Some(into) = target.as_object_mut() else { return };
    for (name, value) in members {
        if value.is_null() {
            into.remove(&name);
        } else {
            merge(into.entry(name).or_insert(Value::Null), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_can_change_all_but_what_the_installation_forbids() {
        let installation = cache::Rules { ttl_seconds: 60, ..cache::Rules::default() };
        let unset = CacheSettings::of(&installation);
        assert_eq!(unset.over(&installation), installation, "what is shown is what holds");
        let set = CacheSettings { exact_ttl_seconds: 5, deterministic_only: false, ..unset };
        let changed = set.over(&installation);
        assert_eq!((changed.enabled, changed.ttl_seconds, changed.deterministic_only), (true, 5, false));
        assert!(!set.over(&cache::Rules { enabled: false, ..installation }).enabled);
    }

    #[test]
    fn a_patch_does_what_the_examples_of_rfc_7396_say() {
        for (target, patch, result) in [
            (json!({ "a": "b" }), json!({ "a": "c" }), json!({ "a": "c" })),
            (json!({ "a": "b" }), json!({ "b": "c" }), json!({ "a": "b", "b": "c" })),
            (json!({ "a": "b" }), json!({ "a": null }), json!({})),
            (json!({ "a": "b", "b": "c" }), json!({ "a": null }), json!({ "b": "c" })),
            (json!({ "a": ["b"] }), json!({ "a": "c" }), json!({ "a": "c" })),
            (
                json!({ "a": { "b": "c" } }),
                json!({ "a": { "b": "d", "c": null } }),
                json!({ "a": { "b": "d" } }),
            ),
            (json!({ "a": [1] }), json!({ "a": [2, 3] }), json!({ "a": [2, 3] })),
            (json!({}), json!({ "a": { "bb": { "ccc": null } } }), json!({ "a": { "bb": {} } })),
        ] {
            let mut merged = target.clone();
            merge(&mut merged, patch.clone());
            assert_eq!(merged, result, "{target} patched with {patch}");
        }
    }
}
