//! Learned programs: work of this kind is proven, and a program answers it.
//!
//! What serves is in memory (`apprentice::Shelf`); where nothing does, nothing is read and nothing is said. A part of what could
//! be answered is audited instead: live answers, and whoever walks compares.

use std::sync::Arc;

use apprentice::{Considered, Offered, Shelf};
use async_trait::async_trait;

use crate::route::{Estimate, Offer, Plan, Question, Route};

/// Answers with promoted artifacts.
#[derive(Debug, Default)]
pub struct Artifacts(pub Arc<Shelf>);

#[async_trait]
impl Route for Artifacts {
    fn id(&self) -> schema::Route {
        schema::Route::Artifact
    }

    async fn consider(&self, question: &Question<'_>) -> Offer {
        if !self.0.has_any(question.tenant) {
            return Offer::Nothing;
        }
        if question.wish.fresh {
            return Offer::Pass("the caller wants a new answer".to_owned());
        }
        let Some(request) = (question.recorded)() else {
            return Offer::Pass("what is recorded of the request cannot be read".to_owned());
        };
        let place = (question.run, question.observed, question.now);
        match self.0.consider(question.tenant, question.model, &request, place) {
            Considered::Nothing => Offer::Nothing,
            Considered::Pass(reason) => Offer::Pass(reason),
            Considered::Audit(offered) => {
                let reason =
                    format!("{} is audited: what it would have said is compared with live", named(&offered));
                let _ = question.audited.set(offered);
                Offer::Pass(reason)
            }
            Considered::Serve(offered) => {
                let (cost, live_ms) = offered.shelved.usual;
                let reason = format!("{} is proven for work of this kind", named(&offered));
                let estimate = Estimate { saved: Some(cost), live_ms: Some(live_ms) };
                Offer::Serve { plan: Plan::Execute(offered), reason, estimate }
            }
        }
    }
}

fn named(offered: &Offered) -> String {
    format!("{} version {}", offered.shelved.artifact, offered.shelved.version)
}
