//! A small model is asked for the fields that a learned program leaves open.
//!
//! It is a call like any other: judged, with leave to act, through the same upstreams, on record and paid for by the same run. What
//! comes of it completes the program's part, or there is no answer of theirs and the request goes on to live. Where live is asked
//! anyway, what they would have said is an opinion: it is there before live is asked.

use std::sync::Arc;
use std::time::Duration;

use apprentice::{Draft, Offered};
use bytes::Bytes;
use governance::{Action, EffectPermit};
use http::HeaderMap;
use providers::mock;
use providers::upstream::Attempt;
use schema::{MicroUsd, SideEffectLevel, Timestamp};
use serde_json::json;
use wire::Answer;

use super::asked::{Asked, refused};
use super::live::{self, Heard};
use super::open_run::OpenRun;
use super::outgoing::Outgoing;
use super::record::ModelCall;
use super::{hash_of, learned};
use crate::clock::{Stopwatch, now};
use crate::error::ApiError;
use crate::governor::{Asking, Judgement};
use crate::record::{Fields, fields};

/// How long a small model may take. Whoever is slower is of no use: live could have answered.
const PATIENCE: Duration = Duration::from_secs(10);

/// What was asked of a small model in a run, for the record.
pub(crate) struct AskedSmall {
    pub(crate) judged: Judgement,
    pub(crate) attempts: Vec<Attempt>,
    /// What it used; absent if nobody was reached.
    pub(crate) call: Option<ModelCall>,
    /// Which program left what open.
    draft: Box<Draft>,
    /// What it told, as text; or why that is no answer.
    told: Result<String, String>,
    pub(crate) at: Timestamp,
    took_ms: u64,
}

impl AskedSmall {
    /// What was spent on it, if that is known.
    pub(crate) fn cost(&self) -> Option<MicroUsd> {
        self.call.as_ref().map_or(Some(MicroUsd(0)), |call| call.cost)
    }

    /// The fields of `artifact.asked`.
    pub(crate) fn event(&self) -> Fields {
        let shelved = &self.draft.shelved;
        let mut asked = fields([
            ("artifactId", json!(shelved.artifact)),
            ("costMicroUsd", json!(self.cost().map(|MicroUsd(micros)| micros))),
            ("fields", json!(self.draft.open_names())),
            ("patternId", json!(shelved.pattern)),
            ("small", json!(self.draft.small)),
            ("tookMs", json!(self.took_ms)),
            ("version", json!(shelved.version)),
        ]);
        asked.push(match &self.told {
            Ok(told) => ("told".into(), json!(told)),
            Err(why) => ("unused".into(), json!(why)),
        });
        asked
    }
}

/// The whole answer that a draft and the small model make; or why there is none, in words. Either way it is on record what was asked.
pub(crate) async fn complete(
    open: &mut OpenRun,
    headers: &HeaderMap,
    asked: &Asked,
    draft: Box<Draft>,
) -> Result<Box<Offered>, String> {
    let said = |error: ApiError| error.in_brief().1;
    let question = question(asked, &draft).map_err(said)?;
    let resolution = open.app.resolve(&draft.small).map_err(said)?;
    let outgoing = Outgoing::prepare(&question, &resolution, &open.app.models.upstreams);
    let outgoing = outgoing.map_err(|why| said(refused(why)))?;
    let (judged, permit) = leave(open, &resolution.canonical, &question).await.map_err(said)?;
    let Some(permit) = permit else {
        return Err(format!("policy does not let `{}` be asked ({})", draft.small, judged.verdict.policy));
    };
    let watch = Stopwatch::start();
    // Until it has answered it is the call of this run: whoever hangs up meanwhile owes it.
    let told = Err("nobody waited for it".to_owned());
    let (attempts, at) = (Vec::new(), now());
    let asking = AskedSmall { judged, attempts, call: None, draft: draft.clone(), told, at, took_ms: 0 };
    open.small = Some(Box::new(asking));
    let answer = tokio::time::timeout(PATIENCE, ask(open, &permit, headers, &question, &outgoing)).await;
    let answer = answer.unwrap_or_else(|_| Err("it took too long".to_owned()));
    if answer.is_err() {
        open.used(&Answer::nothing());
    }
    let completed = answer.and_then(|answer| {
        let (offered, told) = draft.complete(&answer)?;
        let is_recordable =
            learned::is_recordable(open, &offered) && learned::is_recorded_as_it_is(open, &told);
        let as_it_is = || "there is something in it that is not recorded as it is".to_owned();
        is_recordable.then_some((offered, told)).ok_or_else(as_it_is)
    });
    let completed = completed.map_err(|why| format!("`{}`: {why}", draft.small));
    draft.came_to(completed.is_ok(), now());
    let (offered, told) = match completed {
        Ok((offered, told)) => (Ok(Box::new(offered)), Ok(told)),
        Err(why) => (Err(why.clone()), Err(why)),
    };
    let (attempts, call) = (std::mem::take(&mut open.attempts), open.call.take());
    if let Some(small) = &mut open.small {
        (small.attempts, small.call, small.told, small.took_ms) = (attempts, call, told, watch.millis());
    }
    offered
}

/// What is asked, as the caller of the run would have asked it.
fn question(asked: &Asked, draft: &Draft) -> Result<Asked, ApiError> {
    let written = asked.wire.write_request(&draft.question(&asked.request)).map_err(refused)?;
    let request = asked.wire.read_request(&written.body).map_err(refused)?;
    let bytes = Bytes::from(written.body.to_string());
    Ok(Asked {
        wire: asked.wire,
        bytes,
        body: Arc::new(written.body),
        request: Arc::new(request),
        wish: asked.wish,
    })
}

/// Leave to ask. Where people would have to be asked first, there is none: live is asked instead.
async fn leave(
    open: &OpenRun,
    model: &str,
    question: &Asked,
) -> Result<(Judgement, Option<EffectPermit>), ApiError> {
    let (app, opening) = (&open.app, &open.opening);
    let asking = Asking {
        action: Action::model_chat(),
        run: opening.run,
        model: Some(model),
        tool: None,
        level: SideEffectLevel::Pure,
        cost: &|| app.models.expected_cost(model, &question.request),
        payload: &|| hash_of(&question.body),
        labels: opening.judged.facts.labels.clone(),
        barred: Vec::new(),
        shaped: None,
        approval: None,
        now: now(),
    };
    let judged = app.judge(&opening.caller, asking).await?;
    let permit = app.permit(&opening.caller, &judged);
    Ok((judged, permit))
}

/// Asks, and notes what that used.
async fn ask(
    open: &mut OpenRun,
    permit: &EffectPermit,
    headers: &HeaderMap,
    question: &Asked,
    outgoing: &Outgoing,
) -> Result<Answer, String> {
    let answer = match outgoing {
        Outgoing::Mock(model) => {
            open.call = Some(ModelCall::begun(mock::NAME, model));
            let request = wire::Request { model: model.clone(), ..wire::Request::clone(&question.request) };
            let answer = mock::answer(&request).map_err(|failure| failure.to_string());
            answer.inspect_err(|_| open.call = None)?
        }
        Outgoing::Upstreams(groups) => match live::ask(open, permit, headers, question, groups).await {
            Ok(Heard::Whole { answer, .. }) => answer,
            // It was not asked to stream.
            Ok(Heard::Stream { .. }) => return Err("it streams".to_owned()),
            Err(error) => {
                if !error.may_be_billed() {
                    open.call = None;
                }
                return Err(error.discreet(&open.discretion()).in_brief().1);
            }
        },
    };
    open.used(&answer);
    Ok(answer)
}
