//! A file as statements, with what their annotations say.

use std::collections::BTreeSet;

use cedar_policy::{Effect, ParseErrors, Policy, PolicyId, PolicySet};
use miette::Diagnostic;

use super::depth::too_deep;
use crate::load::{LoadError, PolicyFile};
use crate::policy::ApprovalTerms;

/// One `permit` or `forbid`.
#[derive(Debug)]
pub(super) struct Statement {
    /// The place of its file.
    pub(super) file: usize,
    /// Its own place in the file.
    pub(super) index: u32,
    pub(super) policy: Policy,
    pub(super) forbids: bool,
    /// Who must agree, if it asks.
    pub(super) terms: Option<ApprovalTerms>,
}

/// The statements of a file, in order.
pub(super) fn statements(place: usize, file: &PolicyFile) -> Result<Vec<Statement>, LoadError> {
    let set = parse(file)?;
    if let Some(template) = set.templates().next() {
        let message =
            "a template is for nobody until it is linked, and nothing links it: name whom it is for";
        return Err(at(file, offset(file, &template.to_cedar()), message.to_owned()));
    }
    let count = u32::try_from(set.num_of_policies()).unwrap_or(u32::MAX);
    let named = (0..count).map(|index| (index, PolicyId::new(format!("policy{index}"))));
    let read = named.filter_map(|(index, id)| Some((index, set.policy(&id)?))).map(|(index, policy)| {
        let terms = terms(policy)
            .map_err(|message| at(file, offset(file, &policy.to_cedar().unwrap_or_default()), message))?;
        let forbids = policy.effect() == Effect::Forbid;
        Ok(Statement { file: place, index, policy: policy.clone(), forbids, terms })
    });
    read.collect()
}

/// A file as Cedar reads it.
pub(super) fn parse(file: &PolicyFile) -> Result<PolicySet, LoadError> {
    if let Some(offset) = too_deep(&file.text) {
        return Err(at(file, offset, "it nests too deep: say it in several statements".to_owned()));
    }
    file.text.parse().map_err(|errors: ParseErrors| refused(file, &errors))
}

/// The annotations that mean something. `id` and `description` are for people.
const ASKS: [&str; 4] = ["requiresApproval", "approval_needed", "approval_roles", "approval_minutes"];
const FOR_PEOPLE: [&str; 2] = ["id", "description"];

/// Who must agree, by the annotations of a statement.
fn terms(policy: &Policy) -> Result<Option<ApprovalTerms>, String> {
    let said: BTreeSet<&str> = policy.annotations().map(|(name, _)| name).collect();
    if let Some(unknown) = said.iter().find(|name| !ASKS.contains(name) && !FOR_PEOPLE.contains(name)) {
        let known = ASKS.iter().chain(&FOR_PEOPLE).copied().collect::<Vec<_>>().join("`, `@");
        return Err(format!("unknown annotation `@{unknown}`, expected one of `@{known}`"));
    }
    let asks = said.iter().any(|name| ASKS.contains(name));
    if asks && policy.effect() == Effect::Forbid {
        return Err("an approval goes with `permit`: what is forbidden is not asked about".to_owned());
    }
    let requires = match policy.annotation("requiresApproval") {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => return Err("`@requiresApproval` wants \"true\" or \"false\"".to_owned()),
    };
    let number = |name: &str, most: u32| match policy.annotation(name) {
        None => Ok(None),
        Some(text) => {
            let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let number = text.parse().ok().filter(|number| plain && (1..=most).contains(number));
            number.map(Some).ok_or_else(|| format!("`@{name}` wants a number from \"1\" to \"{most}\""))
        }
    };
    let (needed, minutes) = (number("approval_needed", 20)?, number("approval_minutes", 43_200)?);
    let roles = policy.annotation("approval_roles").map(|roles| {
        roles
            .split(',')
            .map(|role| role.trim().to_owned())
            .filter(|role| !role.is_empty())
            .collect::<Vec<_>>()
    });
    if !(requires || needed.is_some() || minutes.is_some() || roles.is_some()) {
        return Ok(None);
    }
    let usual = ApprovalTerms::default();
    Ok(Some(ApprovalTerms {
        needed: needed.unwrap_or(usual.needed),
        roles: roles.unwrap_or(usual.roles),
        expires_minutes: minutes.unwrap_or(usual.expires_minutes),
    }))
}

/// What Cedar says of a file, at the place that it names.
pub(super) fn refused(file: &PolicyFile, error: &impl Diagnostic) -> LoadError {
    let label = error.labels().and_then(|mut labels| labels.next());
    // The place says which statement it is; Cedar says it again, by a name that nobody gave.
    let message = error.to_string();
    let named = message.strip_prefix("for policy `policy").and_then(|rest| rest.split_once('`'));
    let what = named.map_or(message.as_str(), |(_, what)| what.trim_start_matches([',', ':', ' ']));
    let mut message = what.to_owned();
    // Where it points at something, the label says what it expected there.
    if let Some(expected) = label.as_ref().and_then(|label| label.label()).filter(|text| !text.is_empty()) {
        message = format!("{message}: {expected}");
    }
    if let Some(help) = error.help() {
        message = format!("{message} ({help})");
    }
    let message = message.lines().collect::<Vec<_>>().join(" ");
    at(file, label.map_or(0, |label| label.offset()), message)
}

fn offset(file: &PolicyFile, statement: &str) -> usize {
    file.text.find(statement).unwrap_or(0)
}

/// What is wrong at a place in a file.
pub(super) fn at(file: &PolicyFile, offset: usize, message: String) -> LoadError {
    let before = file.text.get(..offset).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    LoadError { file: file.name.clone(), place: Some((number(line), number(column))), message }
}
