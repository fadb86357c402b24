//! What the first events of a run say of it, read without copies.
//!
//! Most runs begin and end in one commit. Of those nobody needs the row itself, only what is kept of it: how it is written
//! out, what it is like, and what it adds to the sums. [`RunRow::fold`](crate::RunRow::fold) and
//! [`Sums::follow`](crate::sums::Sums::follow) say what all of it has to come to.

use ledger::Event;
use schema::{Day, Digest, RunKind, Seq, Timestamp};
use serde::Deserialize as _;
use serde_json::Value;

use super::fields::{KEPT, place};
use super::{END, is_kept};
use crate::conduct::{self, ConductRow};
use crate::filter::TraitsOf;
use crate::usage::UsageSums;

/// The fields of a row, by their places in [`KEPT`].
pub(crate) type FieldsOf<'e> = [Option<&'e Value>; KEPT.len()];

/// A run as its first events show it.
pub(crate) struct Outline<'e> {
    pub(crate) seq: Seq,
    pub(crate) head: Digest,
    pub(crate) started_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) finished: bool,
    fields: FieldsOf<'e>,
    conduct: Vec<(Day, [i64; 8])>,
}

/// What a run adds to the sums. Under which names is in what it is like.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Adds {
    /// What it used, and the day on which it began; nothing, until it has ended.
    pub(crate) usage: Option<(Day, UsageSums)>,
    /// When it began, if it shows an agent.
    pub(crate) agent: Option<Timestamp>,
    /// What that agent did, day by day.
    pub(crate) conduct: Vec<(Day, [i64; 8])>,
}

impl<'e> Outline<'e> {
    /// Of all events that a run has so far. `None` if there are none, or if what its agent did is two agents' doing: the
    /// longer way knows what to make of that.
    pub(crate) fn of(events: &'e [Event]) -> Option<Self> {
        let (first, last) = (events.first()?, events.last()?);
        let mut outline = Self {
            seq: last.seq,
            head: last.hash,
            started_at: first.at,
            updated_at: last.at,
            finished: false,
            fields: [None; KEPT.len()],
            conduct: Vec::new(),
        };
        let mut doer = None;
        for event in events {
            let is_end = !outline.finished && event.r#type == END;
            if !outline.finished && is_kept(&event.r#type) {
                outline.finished = is_end;
                outline.learn(event);
            }
            if let Some(counted) = conduct::counted(event, is_end)
                && let Some(agent) = outline.agent()
            {
                if doer.is_some_and(|doer| doer != agent) {
                    return None;
                }
                doer = Some(agent);
                outline.count(Day::of(event.at), counted);
            }
        }
        // It was said to be another's afterwards.
        (doer.is_none() || doer == outline.agent()).then_some(outline)
    }

    fn learn(&mut self, event: &'e Event) {
        for (name, field) in event.payload.iter() {
            if let (Some(place), Some(value)) = (place(name), field.value()) {
                self.fields[place] = Some(value);
            }
        }
    }

    fn count(&mut self, day: Day, counted: conduct::Number) {
        let known = self.conduct.iter().position(|(there, _)| *there == day);
        let at = known.unwrap_or_else(|| {
            self.conduct.push((day, [0; 8]));
            self.conduct.len() - 1
        });
        let numbers = &mut self.conduct[at].1;
        let mut row = ConductRow::from_numbers(String::new(), day, *numbers);
        *counted(&mut row) += 1;
        *numbers = row.numbers();
    }

    fn get(&self, name: &str) -> Option<&'e Value> {
        self.fields[place(name)?]
    }

    /// The agent that it shows. Records of the ledger about itself show none.
    fn agent(&self) -> Option<&'e str> {
        let agent = self.get("agent")?.as_str()?;
        let kind = self.get("kind").and_then(|kind| RunKind::deserialize(kind).ok());
        (kind != Some(RunKind::Audit)).then_some(agent)
    }

    /// The fields that the row keeps.
    pub(crate) fn fields(&self) -> &FieldsOf<'e> {
        &self.fields
    }

    /// What it is like.
    pub(crate) fn traits(&self) -> TraitsOf<'e> {
        TraitsOf::new(|name| self.get(name), self.finished)
    }

    /// What it adds to the sums.
    pub(crate) fn adds(&mut self) -> Adds {
        let usage = || (Day::of(self.started_at), UsageSums::of(|name| self.get(name)));
        Adds {
            usage: self.finished.then(usage),
            agent: self.agent().map(|_| self.started_at),
            conduct: std::mem::take(&mut self.conduct),
        }
    }
}
