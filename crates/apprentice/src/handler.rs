//! Learning as a job: one for all tenants, again and again.

use std::num::NonZeroU32;
use std::sync::Arc;

use async_trait::async_trait;
use jobs::{Context, Failure, Handler, Kind};
use store::Job;

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
