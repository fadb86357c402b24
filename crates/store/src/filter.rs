//! Which runs a list shows.
//!
//! Runs are alike in few ways: a tenant has some kinds, apps, agents, models, routes, endings and keys, and a run is in one of
//! the slots that they make. A list with a filter looks through the slots, which are few, and takes the newest runs of those
//! that fit: a rare value is found as fast as a common one, and a run pays for it with one entry in one index.

use ledger::sha256;
use schema::{ApiKeyId, Route, RunId, RunKind, RunStatus, Subject, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::run::RunRow;

/// Which runs are meant: those that fit everything that is said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunFilter {
    /// What kind of work.
    pub kind: Option<RunKind>,
    /// The application that asked.
    pub app: Option<String>,
    /// The agent that asked.
    pub agent: Option<String>,
    /// Whom they are about.
    pub subject: Option<Subject>,
    /// The model that was asked for.
    pub model: Option<String>,
    /// The route that answered.
    pub route: Option<Route>,
    /// Where they stand.
    pub status: Option<RunStatus>,
    /// The API key that was used.
    pub key: Option<ApiKeyId>,
    /// Made then or later, by their ids.
    pub since: Option<Timestamp>,
    /// Made before then, by their ids.
    pub until: Option<Timestamp>,
}

impl RunFilter {
    /// All runs.
    pub const ALL: Self = Self {
        kind: None,
        app: None,
        agent: None,
        subject: None,
        model: None,
        route: None,
        status: None,
        key: None,
        since: None,
        until: None,
    };

    /// The traits that are asked for, if any is.
    pub(crate) fn traits(&self) -> Option<Traits> {
        let wanted = Traits {
            kind: self.kind.and_then(literal),
            app: self.app.clone(),
            agent: self.agent.clone(),
            model: self.model.clone(),
            route: self.route.map(|route| route.as_str().to_owned()),
            status: self.status.and_then(literal),
            key: self.key.map(|key| key.to_string()),
        };
        (wanted != Traits::default()).then_some(wanted)
    }

    /// The bytes of the first id that is meant, and of the first past it that is not.
    pub(crate) fn bounds(&self, before: Option<RunId>) -> (Vec<u8>, Vec<u8>) {
        let first = |moment: Timestamp| RunId::new(moment.as_millis(), [0; 10]);
        let end = [before, self.until.map(first)].into_iter().flatten().min();
        (
            self.since.map_or(Vec::new(), |moment| first(moment).as_bytes().to_vec()),
            end.map_or([0xff; 17].to_vec(), |run| run.as_bytes().to_vec()),
        )
    }
}

fn literal(value: impl Serialize) -> Option<String> {
    serde_json::to_value(value).ok()?.as_str().map(str::to_owned)
}

/// The traits of one run, as its events have them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TraitsOf<'e>([Option<&'e str>; 7]);

impl<'e> TraitsOf<'e> {
    /// Of a run with these fields.
    pub(crate) fn new(field: impl Fn(&str) -> Option<&'e Value>, finished: bool) -> Self {
        let text = |name: &str| field(name).and_then(Value::as_str);
        let status = text("status").or((!finished).then_some(RUNNING));
        Self([text("kind"), text("app"), text("agent"), text("model"), text("route"), status, text("keyId")])
    }

    /// The same, to be kept.
    pub(crate) fn owned(&self) -> Traits {
        let [kind, app, agent, model, route, status, key] = self.0.map(|text| text.map(str::to_owned));
        Traits { kind, app, agent, model, route, status, key }
    }

    /// Writes bytes that no others write.
    pub(crate) fn write_to(&self, out: &mut Vec<u8>) {
        for text in self.0 {
            let length = text.map_or(usize::MAX, str::len);
            out.extend_from_slice(&length.to_le_bytes());
            out.extend_from_slice(text.unwrap_or_default().as_bytes());
        }
    }
}

/// How a run without an end stands: [`RunStatus::Running`] by its name.
const RUNNING: &str = "running";

/// What runs are alike in. As a wish, what is absent may be anything.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Traits {
    pub(crate) kind: Option<String>,
    pub(crate) app: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) route: Option<String>,
    pub(crate) status: Option<String>,
    key: Option<String>,
}

impl Traits {
    /// The traits of a run.
    pub(crate) fn of(run: &RunRow) -> Self {
        TraitsOf::new(|name| run.fields.get(name), run.finished).owned()
    }

    fn each(&self) -> [Option<&String>; 7] {
        [&self.kind, &self.app, &self.agent, &self.model, &self.route, &self.status, &self.key]
            .map(Option::as_ref)
    }

    /// Whether a run with these traits is what `wanted` asks for.
    pub(crate) fn fit(&self, wanted: &Self) -> bool {
        wanted.each().into_iter().zip(self.each()).all(|(wanted, found)| wanted.is_none() || wanted == found)
    }

    /// As it is kept. It is JSON already; writing it out cannot fail.
    pub(crate) fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Where runs with these traits are: eight bytes of a digest.
    pub(crate) fn slot(&self) -> i64 {
        let digest = sha256(self.text().as_bytes());
        digest.as_bytes().first_chunk().map_or(0, |bytes| i64::from_be_bytes(*bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_an_end_is_called_what_a_filter_calls_it() {
        assert_eq!(literal(RunStatus::Running).as_deref(), Some(RUNNING));
    }
}
