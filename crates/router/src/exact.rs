//! The exact cache: the same request, by the same subject, was answered before.
//!
//! An entry holds no answer of its own: it points to the run that gave it. So an answer that is erased with its subject, or
//! given up with its run, is gone from here in the same moment.

use std::time::Duration;

use async_trait::async_trait;
use cache::{Entry, Flights};
use schema::{Digest, MicroUsd, RunId, Seq, TenantId};
use serde_json::Value;
use store::{CacheHeld, CacheKind, StoreError};
use tokio::time::timeout;
use wire::Answer;

use crate::answers::Answers;
use crate::route::{Estimate, Kept, Offer, Plan, Question, Recalled, Route};

/// How long a request waits for an identical one.
const PATIENCE: Duration = Duration::from_secs(60);

/// Answers what was answered before, and lets identical requests that come together wait for one answer.
#[derive(Debug, Default)]
pub struct ExactCache {
    flights: Flights<(TenantId, Digest)>,
    /// Answers that were read from their runs. The store still says whether they may serve.
    answers: Answers,
}

#[async_trait]
impl Route for ExactCache {
    fn id(&self) -> schema::Route {
        schema::Route::ExactCache
    }

    async fn consider(&self, question: &Question<'_>) -> Offer {
        let key = match &question.key {
            None => return pass("kept answers are switched off"),
            Some(Err(why)) => return pass(why.to_string()),
            Some(Ok(key)) => *key,
        };
        if question.wish.fresh {
            return pass("the caller wants a new answer");
        }
        match self.look_up(question, key).await {
            Found::Kept(recalled, estimate) => {
                return serve("the same request was answered before", recalled, estimate);
            }
            Found::Nothing(reason) if question.observed || question.wish.forget => return pass(reason),
            Found::Nothing(_) => {}
            Found::Unread => return pass("the cache cannot be read now"),
        }
        // Whoever leads may read slowly, or not at all; nobody waits for that for ever.
        let Ok(entry) = timeout(PATIENCE, self.flights.enter(&(question.tenant, key))).await else {
            return pass("the same request is being answered, and takes too long to wait for");
        };
        let joined = match entry {
            Entry::Lead(lead) => {
                // Kept by the question for as long as the answer takes.
                let _ = question.lead.set(lead);
                false
            }
            Entry::Joined => true,
        };
        // Somebody may have been done between the first look and this one.
        match self.look_up(question, key).await {
            Found::Kept(recalled, estimate) if joined => {
                serve("the same request was being answered; this one waited for it", recalled, estimate)
            }
            Found::Kept(recalled, estimate) => {
                serve("the same request was answered before", recalled, estimate)
            }
            Found::Nothing(_) if joined => {
                pass("the same request was being answered, but its answer cannot be shared")
            }
            Found::Nothing(reason) => pass(reason),
            Found::Unread => pass("the cache cannot be read now"),
        }
    }
}

fn pass(reason: impl Into<String>) -> Offer {
    Offer::Pass(reason.into())
}

fn serve(reason: &str, recalled: Box<Recalled>, estimate: Estimate) -> Offer {
    Offer::Serve { plan: Plan::Recall(recalled), reason: reason.to_owned(), estimate }
}

/// What a look came to.
enum Found {
    Kept(Box<Recalled>, Estimate),
    Nothing(&'static str),
    Unread,
}

impl ExactCache {
    async fn look_up(&self, question: &Question<'_>, key: Digest) -> Found {
        match self.read(question, key).await {
            Ok(found) => found,
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "the cache cannot be read; answering live"
                );
                Found::Unread
            }
        }
    }

    async fn read(&self, question: &Question<'_>, key: Digest) -> Result<Found, StoreError> {
        let Some(row) = question.cache.cached(CacheKind::ExactResponse, key, question.now).await? else {
            return Ok(Found::Nothing("no identical request was answered before"));
        };
        let age_seconds = question.now.as_millis().saturating_sub(row.created_at.as_millis()) / 1000;
        if question.wish.max_age.is_some_and(|most| age_seconds > most) {
            return Ok(Found::Nothing("the kept answer is older than the caller wants"));
        }
        let CacheHeld::Run(run) = row.held else { return Ok(Found::Nothing("the kept answer has no run")) };
        let place = (question.tenant, run);
        let known = self.answers.get(&place);
        let (answer, estimate) = match known {
            Some(known) => known,
            None => {
                let Some(read) = answer_of(question, run).await? else {
                    return Ok(Found::Nothing("the answer that was kept is no longer there"));
                };
                // What is about somebody is forgotten with them, so it is not kept here.
                if row.subject.is_none() {
                    self.answers.keep(place, &read, row.bytes);
                }
                read
            }
        };
        Ok(Found::Kept(Box::new(Recalled { answer, kept: Kept { run, age_seconds } }), estimate))
    }
}

/// The answer that a run gave, and what giving it took.
async fn answer_of(question: &Question<'_>, run: RunId) -> Result<Option<(Answer, Estimate)>, StoreError> {
    let events = question.events.events(run, Seq::START, std::num::NonZeroU32::MAX).await?;
    let Some(finished) = events.iter().find(|event| event.r#type == "run.finished") else { return Ok(None) };
    let field = |name: &str| finished.payload.get(name).and_then(|field| field.value());
    let Some(answer) = field("answer").and_then(|answer| serde_json::from_value(answer.clone()).ok()) else {
        return Ok(None);
    };
    let estimate = Estimate {
        saved: field("costMicroUsd").and_then(Value::as_i64).map(MicroUsd),
        live_ms: field("latencyMs").and_then(Value::as_u64),
    };
    Ok(Some((answer, estimate)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Walk, routes};
    use cache::Wish;
    use schema::{Effect, Timestamp, Verdict};
    use std::num::NonZeroU32;
    use std::sync::{Arc, OnceLock};
    use store::{CacheFilter, CacheRow, CacheStats, CacheStore, Commit, CommitError, EventStore};
    use wire::{Request, Wire};

    /// A store that cannot be read.
    struct Away;

    fn away<T>() -> Result<T, StoreError> {
        Err(StoreError::unavailable("the test took it away"))
    }

    #[async_trait]
    impl CacheStore for Away {
        async fn cached(
            &self,
            _: CacheKind,
            _: Digest,
            _: Timestamp,
        ) -> Result<Option<CacheRow>, StoreError> {
            away()
        }
        async fn touch(&self, _: CacheKind, _: Digest) -> Result<(), StoreError> {
            away()
        }
        async fn cache_stats(&self, _: Timestamp) -> Result<Vec<CacheStats>, StoreError> {
            away()
        }
        async fn invalidate(&self, _: &CacheFilter) -> Result<u64, StoreError> {
            away()
        }
        async fn sweep_cache(&self, _: Timestamp) -> Result<u64, StoreError> {
            away()
        }
    }

    #[async_trait]
    impl EventStore for Away {
        async fn commit(&self, _: Commit) -> Result<(), CommitError> {
            Ok(away()?)
        }
        async fn events(&self, _: RunId, _: Seq, _: NonZeroU32) -> Result<Vec<ledger::Event>, StoreError> {
            away()
        }
    }

    /// A store with nothing in it.
    struct Empty;

    #[async_trait]
    impl CacheStore for Empty {
        async fn cached(
            &self,
            _: CacheKind,
            _: Digest,
            _: Timestamp,
        ) -> Result<Option<CacheRow>, StoreError> {
            Ok(None)
        }
        async fn touch(&self, _: CacheKind, _: Digest) -> Result<(), StoreError> {
            Ok(())
        }
        async fn cache_stats(&self, _: Timestamp) -> Result<Vec<CacheStats>, StoreError> {
            Ok(Vec::new())
        }
        async fn invalidate(&self, _: &CacheFilter) -> Result<u64, StoreError> {
            Ok(0)
        }
        async fn sweep_cache(&self, _: Timestamp) -> Result<u64, StoreError> {
            Ok(0)
        }
    }

    fn question<'q>(request: &'q Request, cache: &'q dyn CacheStore) -> Question<'q> {
        Question {
            tenant: TenantId::NIL,
            cache,
            events: &Away,
            request,
            recorded: &|| None,
            model: "gpt-4o",
            run: RunId::NIL,
            key: Some(Ok(Digest::ZERO)),
            wish: Wish::default(),
            observed: false,
            now: Timestamp::EPOCH,
            lead: OnceLock::new(),
            audited: OnceLock::new(),
            opinion: OnceLock::new(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_ever_for_a_leader_that_does_not_read() {
        let request = Request::new(Wire::Chat, "gpt-4o");
        let route = ExactCache::default();
        let leading = question(&request, &Empty);
        assert!(matches!(route.consider(&leading).await, Offer::Pass(_)));
        assert!(leading.lead.get().is_some(), "the first one leads");
        let Offer::Pass(reason) = route.consider(&question(&request, &Empty)).await else {
            unreachable!("there is nothing to serve")
        };
        assert_eq!(reason, "the same request is being answered, and takes too long to wait for");
    }

    #[tokio::test]
    async fn a_cache_that_cannot_be_read_is_passed_and_the_explanation_says_so() {
        let request = Request::new(Wire::Chat, "gpt-4o");
        let question = question(&request, &Away);
        let routes = routes(Arc::default());
        let mut walk = Walk::new(&routes);
        assert!(matches!(walk.next(&question).await, Some(Plan::Call)));
        let verdict = Verdict { effect: Effect::Allow, policy: "p".into(), rule: None };
        let explanation = walk.explain(verdict);
        assert_eq!(explanation.route, schema::Route::Live);
        assert_eq!(explanation.rejected.len(), 1);
        assert_eq!(explanation.rejected[0].reason, "the cache cannot be read now");
    }
}
