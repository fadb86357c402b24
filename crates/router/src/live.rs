//! The live route: the model is asked.

use async_trait::async_trait;

use crate::route::{Estimate, Offer, Plan, Question, Route};

/// Asks the model. It always can, so it comes last.
#[derive(Debug, Clone, Copy, Default)]
pub struct Live;

#[async_trait]
impl Route for Live {
    fn id(&self) -> schema::Route {
        schema::Route::Live
    }

    async fn consider(&self, _: &Question<'_>) -> Offer {
        let reason = "no cheaper route is proven for this request".to_owned();
        Offer::Serve { plan: Plan::Call, reason, estimate: Estimate::default() }
    }
}
