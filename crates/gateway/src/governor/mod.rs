//! The governor's shell: gathers what is known, asks `governance::decide`, and keeps what came of it.
//!
//! [`App::judge`] is the one way to a verdict; whatever wants to act goes through it. `policies.rs` has the policies in
//! force and `watch.rs` notices that they change, `tenant.rs` is what a tenant has decided, `standing.rs` how far an agent is
//! trusted, `meters.rs` sets aside what an action would use of its limits, in the `book.rs` of this installation, `question.rs` asks people and finds what they
//! answered, `flow.rs` whether untrusted text could have shaped it, `tripwire.rs` what it would destroy, and
//! `remote.rs` asks another decision maker, where there is one.
//!
//! - What cannot be read decides nothing: without the facts there is no verdict, and without a verdict nothing happens.
//! - An approval is used up before what it allows is done, so it allows it once; and only if all that is asked is approved.
//! - What was set aside is settled in the commit of the run, or given back.

mod book;
pub(crate) mod flow;
pub(crate) mod meters;
mod policies;
mod question;
mod remote;
mod standing;
pub(crate) mod tenant;
pub(crate) mod tripwire;
mod watch;

use std::sync::Arc;

use governance::{Action, EffectPermit, Facts, Shaped, decide};
use schema::{ApprovalId, Digest, Effect, GatewayMode, MicroUsd, RunId, SideEffectLevel, Timestamp, Verdict};
use serde_json::json;

pub(crate) use self::book::Book;
pub(crate) use self::meters::Held;
pub(crate) use self::policies::{InForce, Policies};
pub(crate) use self::question::Question;
pub(crate) use self::remote::Bridge;
pub use self::remote::RemoteGovernor;
pub(crate) use self::standing::{Standing, Word};
pub(crate) use self::tenant::Decided;
pub(crate) use self::watch::{record as record_policies, watch};
use crate::app::{App, Shared};
use crate::error::ApiError;
use crate::identity::Caller;
use crate::record::{Fields, fields};

/// What somebody wants to do.
pub(crate) struct Asking<'a> {
    pub(crate) action: Action,
    /// The run that it belongs to.
    pub(crate) run: RunId,
    /// The model that is asked, or was asked for the action.
    pub(crate) model: Option<&'a str>,
    /// The tool that would act.
    pub(crate) tool: Option<&'a str>,
    /// How much it changes.
    pub(crate) level: SideEffectLevel,
    /// What it is expected to cost. Asked for only where a verdict may depend on it.
    pub(crate) cost: &'a (dyn Fn() -> Option<MicroUsd> + Sync),
    /// What exactly it is. Asked for only where people are asked.
    pub(crate) payload: &'a (dyn Fn() -> Digest + Sync),
    /// What the data in it is known to be.
    pub(crate) labels: Vec<String>,
    /// What is in it and must not pass.
    pub(crate) barred: Vec<String>,
    /// What untrusted text may have had to do with it.
    pub(crate) shaped: Option<Shaped>,
    /// The approval that the caller names.
    pub(crate) approval: Option<ApprovalId>,
    pub(crate) now: Timestamp,
}

/// What the governor says, and what it went by.
#[derive(Debug)]
pub(crate) struct Judgement {
    pub(crate) action: Action,
    pub(crate) facts: Facts,
    pub(crate) verdict: Verdict,
    pub(crate) policies: Arc<InForce>,
    /// What is set aside for it; only if it may be done.
    pub(crate) held: Option<Held>,
    /// What people are asked, if they are.
    pub(crate) question: Option<Question>,
}

impl Judgement {
    /// The fields of `policy.decided`: everything that it takes to decide again.
    pub(crate) fn event(&self) -> Fields {
        let Verdict { effect, policy, rule } = &self.verdict;
        let mut decided = fields([
            ("action", json!(self.action.as_str())),
            ("engine", json!(governance::ENGINE)),
            ("facts", json!(self.facts)),
            ("policies", json!([self.policies.digest])),
            ("verdict", json!({ "effect": effect, "policy": policy, "rule": rule })),
        ]);
        if let Some(question) = &self.question {
            decided.push(("approvalId".into(), json!(question.id)));
        }
        decided
    }
}

impl App {
    /// Asks the governor. In a commit of whoever asks: `question`, if people are to be asked, and `held`, settled.
    pub(crate) async fn judge(&self, caller: &Caller, asking: Asking<'_>) -> Result<Judgement, ApiError> {
        let policies = self.policies.in_force();
        let decided = self.decided(caller.tenant).await?;
        let mut facts = self.facts(caller, &asking, &policies, &decided).await?;
        let (meters, held) = self.meter(caller, &asking, &facts, &policies, &decided).await?;
        facts.meters = meters;
        let (verdict, question) = match self.decided_by_people(caller, &asking, &policies, &mut facts).await {
            Ok(decided) => decided,
            Err(error) => {
                // Nothing comes of it, so nothing stays set aside for it.
                self.give_back(caller, held).await;
                return Err(error);
            }
        };
        let may = verdict.effect == Effect::Allow || observes(caller, &asking.action);
        let (held, unused) = if may { (held, None) } else { (None, held) };
        self.give_back(caller, unused).await;
        Ok(Judgement { action: asking.action, facts, verdict, policies, held, question })
    }

    /// The verdict, with what people have approved; and what they are asked, where it asks.
    async fn decided_by_people(
        &self,
        caller: &Caller,
        asking: &Asking<'_>,
        policies: &InForce,
        facts: &mut Facts,
    ) -> Result<(Verdict, Option<Question>), ApiError> {
        let verdict = decide(&policies.set, facts, &asking.action);
        if caller.gateway_mode == GatewayMode::Observe {
            return Ok((verdict, None));
        }
        if verdict.effect != Effect::Ask {
            return Ok((verdict, None));
        }
        // In boxes: few are asked of people, and every judgement would take the room that this needs.
        let verdict = Box::pin(self.with_approvals(caller, asking, policies, facts, verdict)).await?;
        if verdict.effect != Effect::Ask {
            return Ok((verdict, None));
        }
        let question = Box::pin(self.question(caller, asking, &verdict, &policies.set)).await?;
        Ok((verdict, Some(question)))
    }

    /// What is known of somebody and of what they want to do.
    async fn facts(
        &self,
        caller: &Caller,
        asking: &Asking<'_>,
        policies: &InForce,
        decided: &Decided,
    ) -> Result<Facts, ApiError> {
        let standing = self.standing(caller.tenant, &caller.agent, asking.now).await?;
        let mut facts = Facts::of(caller.tenant, &caller.app, &caller.agent, caller.gateway_mode, asking.now);
        facts.key = caller.key;
        facts.trust_tier = standing.tier;
        facts.trust_score_milli = standing.score_milli;
        facts.tags = standing.word.tags;
        facts.model = asking.model.map(str::to_owned);
        facts.tool = asking.tool.map(str::to_owned);
        facts.level = asking.level;
        facts.shaped.clone_from(&asking.shaped);
        facts.labels.clone_from(&asking.labels);
        facts.barred.clone_from(&asking.barred);
        if policies.asks_for_cost || !decided.budgets.is_empty() {
            facts.cost_micro_usd = (asking.cost)().map(|MicroUsd(micros)| micros);
        }
        let excepted = decided.exceptions.iter();
        facts.exceptions = excepted
            .filter_map(|exception| exception.for_whom(&caller.app, &caller.agent, asking.now))
            .collect();
        if let Some(remote) = &self.remote {
            // Few ask over the network, and what that takes is large.
            facts.remote = Some(Box::pin(remote.ask(&facts, asking.action.as_str(), asking.run)).await);
        }
        Ok(facts)
    }
}

impl Shared {
    /// Leave to act, if there is any.
    pub(crate) fn permit(&self, caller: &Caller, judged: &Judgement) -> Option<EffectPermit> {
        EffectPermit::new(&judged.verdict, &judged.action, &self.authority)
            .or_else(|| EffectPermit::observing(caller.gateway_mode, &judged.action, &self.authority))
    }
}

/// Whether somebody may ask a model though the governor does not let them: because they only observe.
fn observes(caller: &Caller, action: &Action) -> bool {
    caller.gateway_mode == GatewayMode::Observe && action.as_str().starts_with("model:")
}
