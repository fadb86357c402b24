//! What many runs are alike in, worked out once for all of them.
//!
//! Where a run is listed and which rows it adds to follows from a few names that most runs share with others. Both are digests
//! of texts; so is what comes of them kept, by the names themselves.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use foldhash::quality::RandomState;
use schema::{Day, Digest};

use crate::filter::{Traits, TraitsOf};
use crate::usage::{UsageRow, UsageSums};

/// So many are remembered. It starts afresh when there are more.
const KNOWN: usize = 1_024;

/// What runs with the same traits have in common.
pub(super) struct Likeness {
    pub(super) traits: Traits,
    /// Where they are listed.
    pub(super) slot: i64,
    /// Which row of a day's usage they add to.
    pub(super) usage: Digest,
    /// The agent that they are by; empty, if they name none.
    pub(super) agent: Arc<str>,
}

impl Likeness {
    pub(super) fn of(traits: Traits) -> Self {
        let agent = traits.agent.as_deref().unwrap_or_default().into();
        let slot = traits.slot();
        let mut likeness = Self { traits, slot, usage: Digest::ZERO, agent };
        likeness.usage = likeness.used(Day::LAST, UsageSums::default()).place().1;
        likeness
    }

    /// The row of the usage of a day on which they come to so much.
    pub(super) fn used(&self, day: Day, sums: UsageSums) -> UsageRow {
        let text = |name: &Option<String>| name.clone().unwrap_or_default();
        let Traits { kind, app, model, route, status, .. } = &self.traits;
        let (kind, app, model) = (text(kind), text(app), text(model));
        UsageRow { day, kind, app, model, route: text(route), status: text(status), sums }
    }
}

#[cfg(test)]
impl Likeness {
    /// What one of them adds, as sums.
    pub(super) fn sums(&self, adds: &crate::run::Adds) -> crate::sums::Sums {
        use crate::agent::{AgentRow, add_agent};
        use crate::conduct::{ConductRow, add_conduct};
        let mut sums = crate::sums::Sums::default();
        if let Some((day, used)) = adds.usage {
            crate::usage::add_usage(&mut sums.usage, self.used(day, used));
        }
        if let Some(at) = adds.agent {
            add_agent(&mut sums.agents, AgentRow::at(&self.agent, at));
        }
        for (day, numbers) in &adds.conduct {
            let row = ConductRow::from_numbers(self.agent.to_string(), *day, *numbers);
            add_conduct(&mut sums.conduct, row);
        }
        sums
    }
}

/// Those that are known. They are nobody's secret and the same for every tenant.
#[derive(Default)]
pub(super) struct Likenesses(RwLock<HashMap<Box<[u8]>, Arc<Likeness>, RandomState>>);

impl Likenesses {
    /// What runs with these traits have in common.
    pub(super) fn of(&self, traits: &TraitsOf<'_>) -> Arc<Likeness> {
        let mut place = Vec::with_capacity(256);
        traits.write_to(&mut place);
        if let Some(known) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&place[..]) {
            return known.clone();
        }
        let likeness = Arc::new(Likeness::of(traits.owned()));
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KNOWN {
            known.clear();
        }
        known.insert(place.into(), likeness.clone());
        likeness
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn those_that_differ_in_any_trait_are_told_apart_and_no_more_are_known_than_may_be() {
        let known = Likenesses::default();
        let slot = |fields: Value| known.of(&TraitsOf::new(|name| fields.get(name), true)).slot;
        let one = slot(json!({ "kind": "chat", "app": "ab" }));
        assert_eq!(one, slot(json!({ "kind": "chat", "app": "ab", "savedMs": 3 })));
        for other in
            [json!({ "kind": "chata", "app": "b" }), json!({ "kind": "chat", "agent": "ab" }), json!({})]
        {
            assert_ne!(one, slot(other));
        }
        for number in 0..KNOWN * 2 {
            slot(json!({ "app": number.to_string() }));
            assert!(known.0.read().unwrap().len() <= KNOWN);
        }
        assert_eq!(one, slot(json!({ "kind": "chat", "app": "ab" })));
    }
}
