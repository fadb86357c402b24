//! Both as jobs.

use std::num::NonZeroU32;
use std::time::Duration;

use async_trait::async_trait;
use jobs::{Context, Failure, Handler, Kind};
use schema::SubjectId;
use store::{Job, StoreError};

use crate::keeper::Keeper;
use crate::sweep::Swept;

const PAGE: NonZeroU32 = NonZeroU32::new(100).unwrap();

/// Gives up, for every tenant, what has been kept long enough, and takes out of its cache what no longer serves.
pub struct RetentionSweep {
    keeper: Keeper,
    keep: Option<Duration>,
}

impl RetentionSweep {
    /// A sweep of what nobody added to for `keep`; without it everything is kept but the cache.
    #[must_use]
    pub fn new(keeper: Keeper, keep: Option<Duration>) -> Self {
        Self { keeper, keep }
    }
}

#[async_trait]
impl Handler for RetentionSweep {
    fn kind(&self) -> &str {
        Kind::RetentionSweep.as_str()
    }

    async fn handle(&self, _: &Job, context: &Context) -> Result<(), Failure> {
        let (mut swept, mut entries, mut after) = (Swept::default(), 0, None);
        loop {
            let tenants = self.keeper.store.tenants(after, PAGE).await.map_err(|error| later(&error))?;
            let Some(last) = tenants.last() else { break };
            after = Some(*last);
            for tenant in tenants {
                if context.is_lost() {
                    return Err(Failure::Retry("the lease was lost on the way".to_owned()));
                }
                if let Some(keep) = self.keep {
                    swept += self.keeper.sweep(tenant, keep).await.map_err(|error| later(&error))?;
                }
                entries += self.keeper.sweep_cache(tenant).await.map_err(|error| later(&error))?;
            }
        }
        let meters = self.keeper.sweep_meters().await.map_err(|error| later(&error))?;
        let jobs = self.keeper.sweep_jobs().await.map_err(|error| later(&error))?;
        tracing::info!(
            meters,
            jobs,
            runs = swept.runs,
            events = swept.events,
            entries,
            "gave up what was kept long enough"
        );
        Ok(())
    }
}

/// Has the views forget an erased subject.
pub struct ErasureSweep(pub Keeper);

#[async_trait]
impl Handler for ErasureSweep {
    fn kind(&self) -> &str {
        Kind::ErasureSweep.as_str()
    }

    async fn handle(&self, job: &Job, _: &Context) -> Result<(), Failure> {
        let subject = job.payload["subjectId"].as_str().and_then(|text| text.parse::<SubjectId>().ok());
        let subject = subject.ok_or_else(|| Failure::GiveUp("`subjectId` names no subject".to_owned()))?;
        self.0.forget(job.tenant, subject).await.map_err(|error| later(&error))
    }
}

fn later(error: &StoreError) -> Failure {
    Failure::Retry(error.to_string())
}
