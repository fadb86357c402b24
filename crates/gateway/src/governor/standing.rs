//! How far an agent is trusted: by what it did, and by what an operator says of it.

use governance::trust::{self, Components, DayOfConduct};
use schema::{Day, TenantId, Timestamp, TrustTier};
use serde::{Deserialize, Serialize};
use store::{ConductRow, RecordKind};

use crate::app::Shared;
use crate::error::{ApiError, unread};

/// Nobody in particular: such an agent earns nothing.
const ANONYMOUS: &str = "anonymous";

/// What an operator says of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Word {
    /// How far it is trusted, whatever it did.
    pub(crate) tier: Option<TrustTier>,
    /// What policies select it by.
    pub(crate) tags: Vec<String>,
    /// Why.
    pub(crate) reason: Option<String>,
    /// Who said so.
    pub(crate) by: Option<String>,
    pub(crate) at: Option<Timestamp>,
}

/// How far an agent is trusted.
#[derive(Debug, Clone)]
pub(crate) struct Standing {
    pub(crate) tier: TrustTier,
    pub(crate) score_milli: u16,
    pub(crate) components: Components,
    pub(crate) word: Word,
}

impl Shared {
    /// How far an agent is trusted.
    pub(crate) async fn standing(
        &self,
        tenant: TenantId,
        agent: &str,
        now: Timestamp,
    ) -> Result<Standing, ApiError> {
        let key = (tenant, agent.to_owned());
        if let Some(standing) = self.standings.get(&key) {
            return Ok(standing);
        }
        let store = self.of(tenant);
        let today = Day::of(now);
        let from = Day::from_number(today.number().saturating_sub(trust::DAYS)).unwrap_or(Day::FIRST);
        let word = match store.record(RecordKind::Agent, agent).await.map_err(unread)? {
            Some(record) => serde_json::from_value(record.body).map_err(unread)?,
            None => Word::default(),
        };
        let conduct = store.conduct(agent, from).await.map_err(unread)?;
        let conduct: Vec<DayOfConduct> = conduct.iter().map(day_of).collect();
        let earned = trust::trust(&conduct, today);
        let by_conduct = if agent == ANONYMOUS { TrustTier::Unverified } else { earned.tier };
        let standing = Standing {
            tier: word.tier.unwrap_or(by_conduct),
            score_milli: earned.score_milli,
            components: earned.components,
            word,
        };
        self.standings.learn(key, standing.clone());
        Ok(standing)
    }
}

fn day_of(row: &ConductRow) -> DayOfConduct {
    let count = |number: i64| u64::try_from(number).unwrap_or(0);
    DayOfConduct {
        day: row.day,
        good: count(row.allowed) + count(row.executed),
        bad: count(row.denied) + count(row.blocked),
        praised: count(row.praised),
        corrected: count(row.corrected),
    }
}
