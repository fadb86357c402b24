//! Tripwires: what a call would destroy, and what untrusted text tries, as the governor is told of it.

use governance::tripwire::destructive::{self, Severity};
use governance::tripwire::injection;
use outbox::{News, notify};
use schema::{RunId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::NewJob;
use wire::{Part, Request};

use super::Judgement;
use crate::app::App;
use crate::identity::Caller;
use crate::record::{Fields, fields};

/// What is done when a wire is tripped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Tripped {
    /// The call is not told, and the agent answers for it.
    Block,
    /// Policies are told of it.
    Label,
    /// Nobody looks.
    Off,
}

/// What a tenant says about tripwires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct TripwireSettings {
    /// Calls of tools that would destroy what is hard to get back. What destroys in an ordinary way is only labelled.
    pub(crate) destructive: Tripped,
    /// Whether what tools return is looked at for orders to the model, which are labelled.
    pub(crate) injection: bool,
}

impl Default for TripwireSettings {
    fn default() -> Self {
        Self { destructive: Tripped::Block, injection: true }
    }
}

/// What is known of a call before it is judged.
#[derive(Debug, Default)]
pub(crate) struct Warned {
    pub(crate) labels: Vec<String>,
    pub(crate) barred: Vec<String>,
}

impl TripwireSettings {
    /// What a call would destroy.
    pub(crate) fn warn(self, tool: &str, arguments: &Value) -> Warned {
        let mut warned = Warned::default();
        if self.destructive == Tripped::Off {
            return warned;
        }
        for danger in destructive::find(tool, arguments) {
            let category = serde_json::to_value(danger.category).unwrap_or_default();
            let grave = danger.severity == Severity::Grave;
            warned.labels.push("destructive".to_owned());
            warned.labels.push(format!("destructive.{}", category.as_str().unwrap_or_default()));
            if grave && self.destructive == Tripped::Block {
                warned.barred.push("tripwire:destructive".to_owned());
            }
        }
        warned.labels.sort();
        warned.labels.dedup();
        warned.barred.dedup();
        warned
    }

    /// What the results of tools in a request try, each for the record: its label, and why.
    pub(crate) fn signals(self, request: &Request) -> Vec<Value> {
        if !self.injection {
            return Vec::new();
        }
        let results =
            request.messages.iter().flat_map(|message| &message.parts).filter_map(|part| match part {
                Part::ToolResult(result) => Some(result),
                _ => None,
            });
        let mut signals: Vec<Value> = results
            .flat_map(|result| {
                result.content.iter().filter_map(Part::as_text).map(|text| (&result.call, text))
            })
            .flat_map(|(call, text)| injection::find(text).into_iter().map(move |signal| (call, signal)))
            .map(|(call, signal)| json!({ "label": signal.label, "reason": signal.reason, "toolCall": call }))
            .collect();
        signals.dedup();
        signals
    }
}

impl Judgement {
    /// The wires that were tripped.
    pub(crate) fn tripped(&self) -> impl Iterator<Item = &str> {
        self.facts.barred.iter().filter_map(|name| name.strip_prefix("tripwire:"))
    }

    /// The events that say so.
    pub(crate) fn tripwire_events(&self) -> impl Iterator<Item = (&'static str, Fields)> {
        self.tripped().map(|wire| {
            let tripped = fields([
                ("action", json!(self.action.as_str())),
                ("toolName", json!(self.facts.tool)),
                ("wire", json!(wire)),
            ]);
            ("tripwire.tripped", tripped)
        })
    }
}

impl App {
    /// The jobs that tell of tripped wires, to whoever wants to know. Where that cannot be read, nobody is told, and what
    /// happened is recorded all the same.
    pub(crate) async fn alarms<'j>(
        &self,
        caller: &Caller,
        run: RunId,
        judged: impl Iterator<Item = &'j Judgement>,
        at: Timestamp,
    ) -> Vec<NewJob> {
        let wires: Vec<&str> = judged.flat_map(Judgement::tripped).collect();
        if wires.is_empty() {
            return Vec::new();
        }
        let Caller { tenant, agent, app, .. } = caller;
        let data = json!({ "run": run, "app": app, "agent": agent, "wires": wires });
        let news = News::tripwire_tripped(*tenant, data, at);
        let Ok(decided) = self.decided(*tenant).await else { return Vec::new() };
        notify(&decided.webhooks, &news, || self.random_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_catastrophe_is_barred_and_ordinary_destruction_is_labelled() {
        let wires = TripwireSettings::default();
        let grave = wires.warn("shell", &json!({ "command": "sudo rm -rf /" }));
        assert_eq!(grave.barred, ["tripwire:destructive"]);
        assert_eq!(grave.labels, ["destructive", "destructive.files"]);
        let risky = wires.warn("shell", &json!({ "command": "rm -rf node_modules" }));
        assert_eq!((risky.barred.len(), risky.labels.len()), (0, 2));
        assert!(wires.warn("search", &json!({ "query": "how do I remove files" })).labels.is_empty());
        let label = TripwireSettings { destructive: Tripped::Label, ..wires };
        assert!(label.warn("shell", &json!({ "command": "rm -rf /" })).barred.is_empty());
        let off = TripwireSettings { destructive: Tripped::Off, ..wires };
        assert!(off.warn("shell", &json!({ "command": "rm -rf /" })).labels.is_empty());
    }
}
