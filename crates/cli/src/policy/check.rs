//! `punk policy check`: whether policies can be read, and what they are.

use super::files::{self, Read};
use crate::answer::{Answer, columns};
use crate::args::Common;
use crate::failure::Failure;
use governance::policy::{AppliesTo, Policy, RuleEffect};
use serde_json::{Value, json};
use std::path::PathBuf;

pub(super) fn run(common: &Common, paths: &[PathBuf]) -> Result<Answer, Failure> {
    let Read { set, digest, files } = files::read(common, paths)?;
    let in_cedar = set.cedar_files().map(cedar_row);
    let rows: Vec<_> = set.policies().map(row).chain(in_cedar).collect();
    let rules: usize = set.policies().map(|policy| policy.rules.len()).sum();
    let text = format!(
        "valid: {} in {}, {}\n{}digest {digest}\n",
        counted(set.policies().len() + set.cedar_files().len(), "policy", "policies"),
        counted(files.len(), "file", "files"),
        counted(rules, "rule", "rules"),
        columns(&rows),
    );
    let json = json!({
        "valid": true, "digest": digest,
        "files": files.iter().map(|path| path.display().to_string()).collect::<Vec<_>>(),
        "policies": set.policies().map(described).collect::<Vec<_>>(),
        "cedar": set.cedar_files().collect::<Vec<_>>(),
    });
    Ok(Answer::success(text, json))
}

fn row(policy: &Policy) -> [String; 5] {
    let limits = limits(policy);
    let limited = if limits == 0 { String::new() } else { counted(limits, "limit", "limits") };
    [
        format!("  {} {}", policy.name, policy.version),
        for_whom(&policy.applies_to),
        counted(policy.rules.len() - limits, "rule", "rules"),
        limited,
        format!("else {}", plain(policy.default_effect)),
    ]
}

/// A file in Cedar is asked about everybody, and denies what nothing in it permits.
fn cedar_row(name: &str) -> [String; 5] {
    [
        format!("  {name}"),
        "for everybody".to_owned(),
        "Cedar".to_owned(),
        String::new(),
        "else deny".to_owned(),
    ]
}

fn described(policy: &Policy) -> Value {
    json!({
        "name": policy.name, "version": policy.version, "description": policy.description,
        "appliesTo": policy.applies_to, "rules": policy.rules.len(), "limits": limits(policy),
        "defaultEffect": policy.default_effect,
    })
}

fn limits(policy: &Policy) -> usize {
    policy.rules.iter().filter(|rule| rule.effect.is_none()).count()
}

/// For whom a policy is written, in words.
pub(super) fn for_whom(whom: &AppliesTo) -> String {
    let AppliesTo { agent_ids, tags, trust_tiers } = whom;
    let tiers: Vec<String> = trust_tiers.iter().map(|tier| format!("{tier:?}").to_lowercase()).collect();
    let said = [("agents", agent_ids), ("tags", tags), ("tiers", &tiers)];
    let said: Vec<String> = said
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(kind, names)| format!("{kind} {}", names.join(", ")))
        .collect();
    if said.is_empty() { "for everybody".to_owned() } else { format!("for {}", said.join("; ")) }
}

/// The word for what a rule says.
pub(super) fn plain(effect: RuleEffect) -> &'static str {
    match effect {
        RuleEffect::Allow => "allow",
        RuleEffect::Deny => "deny",
    }
}

/// A number of things.
pub(super) fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
