//! Learning as jobs: one for all tenants, again and again, which is also where what is in the shadow is compared with live; and one
//! for each time that somebody wants an artifact tried on recorded runs.

use std::num::NonZeroU32;
use std::sync::Arc;

use async_trait::async_trait;
use jobs::{Context, Failure, Handler, Kind};
use schema::{ArtifactId, JobId, Timestamp};
use serde_json::json;
use store::{Job, NewJob};

use crate::tick::Apprentice;

const PAGE: NonZeroU32 = NonZeroU32::new(100).unwrap();

/// Reads what is new in the logs of all tenants.
pub struct LearningTick(pub Arc<Apprentice>);

#[async_trait]
impl Handler for LearningTick {
    fn kind(&self) -> &str {
        Kind::LearningTick.as_str()
    }

    async fn handle(&self, _: &Job, context: &Context) -> Result<(), Failure> {
        let later = |error: &store::StoreError| Failure::Retry(error.to_string());
        let mut after = None;
        loop {
            let tenants = self.0.store.tenants(after, PAGE).await.map_err(|error| later(&error))?;
            let Some(last) = tenants.last() else { return Ok(()) };
            after = Some(*last);
            for tenant in tenants {
                let report =
                    self.0.tick(tenant, &|| !context.is_lost()).await.map_err(|error| later(&error))?;
                if context.is_lost() {
                    return Err(Failure::Retry("the lease was lost on the way".to_owned()));
                }
                if report.lessons > 0 {
                    tracing::debug!(%tenant, ?report, "learned from what is new");
                }
            }
        }
    }
}

/// Tries an artifact on recorded runs.
pub struct ReplayEvaluation(pub Arc<Apprentice>);

/// How often a replay is tried.
const ATTEMPTS: u32 = 5;

impl ReplayEvaluation {
    /// What its jobs are called.
    pub const KIND: &'static str = Kind::ReplayEvaluation.as_str();

    /// The job that tries `artifact`, for `actor`. While one waits or runs, another is not made.
    #[must_use]
    pub fn job(artifact: ArtifactId, actor: &str, at: Timestamp, random: [u8; 10]) -> NewJob {
        NewJob {
            id: JobId::new(at.as_millis(), random),
            kind: Kind::ReplayEvaluation.as_str().to_owned(),
            key: Some(artifact.to_string()),
            payload: json!({ "artifactId": artifact, "actor": actor }),
            priority: 0,
            run_at: at,
            max_attempts: ATTEMPTS,
        }
    }
}

#[async_trait]
impl Handler for ReplayEvaluation {
    fn kind(&self) -> &str {
        Kind::ReplayEvaluation.as_str()
    }

    async fn handle(&self, job: &Job, context: &Context) -> Result<(), Failure> {
        let later = |error: &store::StoreError| Failure::Retry(error.to_string());
        let artifact = job.payload["artifactId"].as_str().and_then(|text| text.parse::<ArtifactId>().ok());
        let artifact =
            artifact.ok_or_else(|| Failure::GiveUp("`artifactId` names no artifact".to_owned()))?;
        let actor = job.payload["actor"].as_str().unwrap_or("punk");
        let go_on = || !context.is_lost();
        let report =
            self.0.replay(job.tenant, artifact, actor, &go_on).await.map_err(|error| later(&error))?;
        if context.is_lost() {
            return Err(Failure::Retry("the lease was lost on the way".to_owned()));
        }
        if report.is_none() {
            return Err(Failure::GiveUp(format!("{artifact} has no program that could be tried")));
        }
        // What came of it is shown once the log is read.
        self.0.tick(job.tenant, &go_on).await.map(drop).map_err(|error| later(&error))
    }
}
