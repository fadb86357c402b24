//! Walking the routes: each is asked in turn until one answers, and what they said is kept.

use apprentice::Shelved;
use schema::{ArtifactDetails, CacheDetails, Completion, GhostRoute, PassedRoute, RouteExplanation, Verdict};

use crate::route::{Estimate, Offer, Plan, Question, Route};

/// A walk along the routes for one request.
pub struct Walk<'r> {
    routes: std::slice::Iter<'r, Box<dyn Route>>,
    passed: Vec<PassedRoute>,
    offered: Option<Offered>,
    ghost: Option<GhostRoute>,
}

/// What was offered last.
#[derive(Debug, Clone)]
struct Offered {
    route: schema::Route,
    reason: String,
    estimate: Estimate,
    cache: Option<CacheDetails>,
    artifact: Option<ArtifactDetails>,
}

impl<'r> Walk<'r> {
    /// At the first route.
    #[must_use]
    pub fn new(routes: &'r [Box<dyn Route>]) -> Self {
        Self { routes: routes.iter(), passed: Vec::new(), offered: None, ghost: None }
    }

    /// Asks on until a route offers a plan. When the request is only observed, a plan that would not ask the model is
    /// written down as the ghost, and the walk goes on.
    pub async fn next(&mut self, question: &Question<'_>) -> Option<Plan> {
        for route in self.routes.by_ref() {
            let id = route.id();
            match route.consider(question).await {
                Offer::Nothing => {}
                Offer::Pass(reason) => self.passed.push(PassedRoute { route: id, reason }),
                Offer::Serve { plan, reason, estimate }
                    if question.observed && !matches!(plan, Plan::Call) =>
                {
                    let observed = "would have answered; the key only observes".to_owned();
                    self.passed.push(PassedRoute { route: id, reason: observed });
                    let ghost = GhostRoute { route: id, reason, saved_usd: estimate.saved };
                    self.ghost.get_or_insert(ghost);
                }
                Offer::Serve { plan, reason, estimate } => {
                    let (mut cache, mut artifact) = (None, None);
                    match &plan {
                        Plan::Recall(recalled) => {
                            let (source_run, age_seconds) = (recalled.kept.run, recalled.kept.age_seconds);
                            cache = Some(CacheDetails { source_run, age_seconds });
                        }
                        Plan::Execute(offered) => {
                            artifact = Some(details(&offered.shelved, None));
                        }
                        Plan::Complete(draft) => {
                            let (model, fields) = (draft.small.clone(), draft.open_names());
                            artifact = Some(details(&draft.shelved, Some(Completion { model, fields })));
                        }
                        Plan::Call => {}
                    }
                    self.offered = Some(Offered { route: id, reason, estimate, cache, artifact });
                    return Some(plan);
                }
            }
        }
        None
    }

    /// The plan that was offered last did not work: its route has passed after all.
    pub fn failed(&mut self, reason: impl Into<String>) {
        if let Some(offered) = self.offered.take() {
            self.passed.push(PassedRoute { route: offered.route, reason: reason.into() });
        }
    }

    /// What `route` said when it passed did not come to pass, for this reason.
    pub fn passed_otherwise(&mut self, route: schema::Route, reason: String) {
        if let Some(passed) = self.passed.iter_mut().find(|passed| passed.route == route) {
            passed.reason = reason;
        }
    }

    /// What the plan that was offered last is thought to save.
    #[must_use]
    pub fn estimate(&self) -> Estimate {
        self.offered.as_ref().map(|offered| offered.estimate).unwrap_or_default()
    }

    /// What would have answered, had the request not only been observed.
    #[must_use]
    pub fn ghost(&self) -> Option<&GhostRoute> {
        self.ghost.as_ref()
    }

    /// Why the request is answered the way it is.
    #[must_use]
    pub fn explain(self, verdict: Verdict) -> RouteExplanation {
        let Some(offered) = self.offered else {
            let unserved = "no route could answer";
            let explanation = RouteExplanation::new(schema::Route::Live, unserved, verdict);
            return RouteExplanation { rejected: self.passed, ghost: self.ghost, ..explanation };
        };
        RouteExplanation {
            rejected: self.passed,
            cache: offered.cache,
            artifact: offered.artifact,
            estimated_saved_usd: offered.estimate.saved,
            ghost: self.ghost,
            ..RouteExplanation::new(offered.route, offered.reason, verdict)
        }
    }
}

fn details(shelved: &Shelved, completion: Option<Completion>) -> ArtifactDetails {
    let Shelved { artifact: artifact_id, version, pattern: pattern_id, .. } = *shelved;
    ArtifactDetails { artifact_id, version, pattern_id, completion }
}
