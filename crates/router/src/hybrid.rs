//! Hybrids: a program tells a part of the answer, and a small model the rest.
//!
//! Asking that model is an effect, so nothing is asked here: the plan is a draft, and whoever performs it completes it with leave to
//! act, or goes on to the next route. While a hybrid is not proven, and where it is audited, live answers: the draft is then
//! completed before live is asked, and compared with what live said.

use std::sync::Arc;

use apprentice::{ConsideredPart, Draft, Shelf};
use async_trait::async_trait;

use crate::route::{Estimate, Offer, Plan, Question, Route};

/// Answers with promoted hybrids.
#[derive(Debug, Default)]
pub struct Hybrids(pub Arc<Shelf>);

#[async_trait]
impl Route for Hybrids {
    fn id(&self) -> schema::Route {
        schema::Route::Hybrid
    }

    async fn consider(&self, question: &Question<'_>) -> Offer {
        if !self.0.has_hybrids(question.tenant) {
            return Offer::Nothing;
        }
        if question.wish.fresh {
            return Offer::Pass("the caller wants a new answer".to_owned());
        }
        // Whoever wants nothing asked has nothing asked.
        if question.wish.only_kept {
            return Offer::Nothing;
        }
        let Some(request) = (question.recorded)() else {
            return Offer::Pass("what is recorded of the request cannot be read".to_owned());
        };
        let place = (question.run, question.observed, question.now);
        match self.0.consider_part(question.tenant, question.model, &request, place) {
            ConsideredPart::Nothing => Offer::Nothing,
            ConsideredPart::Pass(reason) => Offer::Pass(reason),
            ConsideredPart::Opine(draft) => {
                let reason = format!("{}, which is compared with live", told(&draft));
                let _ = question.opinion.set(draft);
                Offer::Pass(reason)
            }
            ConsideredPart::Serve(draft) => {
                let (cost, live_ms) = draft.shelved.usual;
                let reason = format!("{}, which is proven for work of this kind", told(&draft));
                let estimate = Estimate { saved: Some(cost), live_ms: Some(live_ms) };
                Offer::Serve { plan: Plan::Complete(draft), reason, estimate }
            }
        }
    }
}

fn told(draft: &Draft) -> String {
    let (artifact, version) = (draft.shelved.artifact, draft.shelved.version);
    format!(
        "{artifact} version {version} tells a part, and `{}` {}",
        draft.small,
        draft.open_names().join(", ")
    )
}
