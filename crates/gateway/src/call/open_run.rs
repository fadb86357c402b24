//! A run that has begun. Whatever happens to it, it ends in the ledger.

use std::sync::Arc;
use std::time::Duration;

use governance::Action;
use http::HeaderMap;
use providers::upstream::Attempt;
use redaction::Lexicon;
use router::Estimate;
use schema::{
    Digest, Effect, GatewayMode, MicroUsd, Route, RouteExplanation, RunStatus, SideEffectLevel, Usage,
    Verdict,
};
use serde_json::Value;
use wire::{Answer, Part, Request};

use super::hybrid::AskedSmall;
use super::late::{self, Over};
use super::learned::{self, Learned};
use super::outgoing::Ready;
use super::record::{self, Ending, Keep, ModelCall, Opening, Saved};
use super::recording::Recording;
use super::tongue::Tongue;
use super::wanted::Wanted;
use crate::app::App;
use crate::clock::{Stopwatch, now};
use crate::discretion::{Barred, Discretion, Looked};
use crate::error::ApiError;
use crate::governor::{Asking, Held, Judgement};
use crate::identity::Caller;

/// Nobody waits for the record of a run that was cancelled, and callers often go away together: so much later it is written, when their
/// upstreams are free.
const AFTER_THE_REST: Duration = Duration::from_millis(100);

/// A run that has begun. Dropped before it is ended, it is recorded as cancelled, with the usage so far: the caller hung
/// up, and still owes what was asked in its name.
///
/// It is handed on in a box: it is large, and a future to which it is handed as it is has room for it twice.
pub(crate) struct OpenRun {
    pub(crate) app: App,
    pub(crate) opening: Arc<Opening>,
    /// What was asked, to count it where nobody else does.
    request: Arc<Request>,
    pub(crate) watch: Stopwatch,
    /// Why it goes the way it goes, as far as that is known.
    pub(crate) explanation: RouteExplanation,
    /// What the chosen route is thought to save.
    pub(crate) estimate: Estimate,
    /// What was asked, as it is recorded.
    pub(crate) request_recorded: Arc<Value>,
    /// What was looked at when it was told, and has nothing in it.
    looked: Looked,
    /// Every time an upstream was asked.
    pub(crate) attempts: Vec<Attempt>,
    /// The call that is being made, with what it has used so far.
    pub(crate) call: Option<ModelCall>,
    /// Its answer is kept under this, if it comes to one.
    pub(crate) keep: Option<Keep>,
    /// What its answer was found under, if it was given before.
    pub(crate) recalled: Option<Digest>,
    /// What a learned program has to do with it.
    pub(crate) learned: Option<Box<Learned>>,
    /// What a small model was asked beside it.
    pub(crate) small: Option<Box<AskedSmall>>,
    /// What the answer wants done, as it was judged.
    pub(crate) wanted: Vec<Wanted>,
    /// What stands for what the caller sent.
    pub(crate) lexicon: Lexicon,
    /// Why the caller does not get the answer, if something in it must not leave.
    barred: Option<Judgement>,
    /// What is set aside for it, until it is known what was spent.
    pub(crate) held: Option<Held>,
    /// Identical requests wait until this is gone: when the answer is where they can find it.
    pub(crate) lead: Option<Box<dyn Send + Sync>>,
    /// Its place in the traces: one span, in the caller's trace if there is one, until the run is recorded.
    span: tracing::Span,
    ended: bool,
}

/// The trace that a request belongs to, as its headers say.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub(crate) parent: Option<String>,
    pub(crate) state: Option<String>,
}

impl Trace {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let parent = text("traceparent").filter(|parent| telemetry::context::trace_id(parent).is_some());
        Self { parent, state: text("tracestate") }
    }

    /// The trace's id, for the record.
    pub(crate) fn id(&self) -> Option<&str> {
        self.parent.as_deref().and_then(telemetry::context::trace_id)
    }
}

/// How a run ends.
pub(crate) enum End {
    /// With an answer.
    Answered {
        /// As it is recorded.
        answer: Value,
        saved: Saved,
    },
    /// Refused by policy.
    Blocked,
    /// With an answer that the caller does not get.
    Held {
        /// As it is recorded.
        answer: Value,
    },
    /// With an error, after as much of an answer as there was.
    Failed { code: String, message: String, answer: Option<Value> },
    /// The caller hung up, after as much of an answer as there was.
    Cancelled { answer: Option<Value> },
}

impl OpenRun {
    pub(crate) fn new(
        app: &App,
        opening: Opening,
        (request, request_recorded): (Arc<Request>, Arc<Value>),
        trace: &Trace,
        explanation: RouteExplanation,
    ) -> Box<Self> {
        let span =
            if telemetry::context::is_exported() { span_of(&opening, trace) } else { tracing::Span::none() };
        Box::new(Self {
            app: app.clone(),
            span,
            opening: Arc::new(opening),
            request,
            request_recorded,
            looked: Looked::default(),
            watch: Stopwatch::start(),
            explanation,
            estimate: Estimate::default(),
            attempts: Vec::new(),
            call: None,
            keep: None,
            recalled: None,
            learned: None,
            small: None,
            held: None,
            lexicon: Lexicon::default(),
            barred: None,
            wanted: Vec::new(),
            lead: None,
            ended: false,
        })
    }

    /// What was asked.
    pub(crate) fn request(&self) -> &Request {
        &self.request
    }

    /// How the caller of this run is spoken to.
    pub(crate) fn tongue(&self) -> Tongue {
        Tongue::of(&self.request, self.opening.run, self.opening.started_at)
    }

    /// Notes whom was asked so far, and how that went.
    pub(crate) fn tried(&mut self, attempts: &[Attempt]) {
        self.attempts = attempts.to_vec();
        // Whoever was asked last is who will have to be paid, should nobody wait for the end.
        if let Some(last) = attempts.iter().rfind(|attempt| attempt.was_sent()) {
            self.call = Some(ModelCall::begun(&last.upstream, &last.model));
        }
    }

    /// Notes who answers.
    pub(crate) fn answered_by(&mut self, ready: &Ready) {
        let (upstream, model) = (ready.target.upstream.name(), &*ready.target.model);
        self.call = Some(ModelCall::begun(upstream, model));
        self.explanation.left_out.clone_from(&ready.left_out);
        if self.attempts.len() > 1 {
            self.explanation.fallback = Some(format!(
                "{upstream}/{model} answered, after {} before it did not",
                self.attempts.len() - 1
            ));
        }
    }

    /// Ends the run. It is on the disk when the recording is done, which goes on though nobody waits for it.
    pub(crate) fn end(mut self: Box<Self>, end: End) -> Recording {
        self.record(end)
    }

    /// Ends the run because policy does not let it go on.
    pub(crate) async fn block(self: Box<Self>) -> ApiError {
        let (run, verdict) = (self.opening.run, self.opening.judged.verdict.clone());
        let approval = self.opening.judged.question.as_ref().map(|question| question.id);
        match self.end(End::Blocked).await {
            Ok(()) => ApiError::Blocked { run, verdict, approval },
            Err(error) => error,
        }
    }

    /// Ends the run with an error. What is returned is for the caller: that error, or that it could not be recorded.
    pub(crate) async fn fail(mut self: Box<Self>, error: ApiError) -> ApiError {
        let error = error.discreet(&self.discretion());
        let (code, message) = error.in_brief();
        if error.may_be_billed() {
            self.used(&Answer::nothing());
        } else {
            self.call = None;
        }
        match self.end(End::Failed { code, message, answer: None }).await {
            Ok(()) => error,
            Err(unrecorded) => unrecorded,
        }
    }

    /// What may be told to whom, for this caller.
    pub(crate) fn discretion(&self) -> Arc<Discretion> {
        self.app.house.of(self.opening.caller.tenant)
    }

    /// Whether the caller only observes, so that nothing is kept from it.
    pub(crate) fn observes(&self) -> bool {
        self.opening.caller.gateway_mode == GatewayMode::Observe
    }

    /// What the caller may have of an answer; nothing, if it may have it as it is.
    pub(crate) fn revealed(&mut self, answer: &Answer) -> Result<Option<Answer>, Barred> {
        if self.observes() {
            return Ok(None);
        }
        self.discretion().revealed(answer, &self.lexicon, &mut self.looked)
    }

    /// Ends the run without its answer, because something in it must not leave.
    pub(crate) async fn bar(mut self: Box<Self>, Barred(name): Barred, answer: &Answer) -> ApiError {
        let run = self.opening.run;
        let asking = Asking {
            action: Action::model_answer(),
            run,
            model: Some(&self.opening.model),
            tool: None,
            level: SideEffectLevel::Pure,
            cost: &|| Some(MicroUsd(0)),
            payload: &|| self.opening.judged.policies.digest,
            labels: self.opening.judged.facts.labels.clone(),
            barred: vec![name.clone()],
            shaped: None,
            approval: None,
            now: now(),
        };
        let mut judged = match self.app.judge(&self.opening.caller, asking).await {
            Ok(judged) => judged,
            Err(error) => return self.fail(error).await,
        };
        self.app.give_back(&self.opening.caller, judged.held.take()).await;
        let verdict = judged.verdict.clone();
        self.explanation.route = Route::Blocked;
        self.explanation.reason = format!("the answer has in it what must not leave ({name})");
        self.explanation.verdict = verdict.clone();
        self.barred = Some(judged);
        match self.end(End::Held { answer: recorded(answer) }).await {
            Ok(()) => ApiError::Blocked { run, verdict, approval: None },
            Err(error) => error,
        }
    }

    /// Notes what the call has used, by the upstream's word or, where it has none, by our own count.
    pub(crate) fn used(&mut self, answer: &Answer) {
        let Some(call) = &mut self.call else { return };
        let complete = answer.choices.iter().any(|choice| choice.stop.is_some());
        call.stop = answer.choices.first().and_then(|choice| choice.stop.as_ref()).map(wire::Stop::as_str);
        match answer.usage {
            Some(usage) if complete => (call.usage, call.estimated) = (usage, false),
            // An answer that was cut off has been paid for as far as it came, whatever was said at its beginning.
            said => {
                call.usage = said.unwrap_or_default();
                if said.is_none() {
                    call.usage.input_tokens = providers::tokens::rough_request(&self.request);
                }
                let written = providers::tokens::rough(&spoken(answer));
                call.usage.output_tokens = call.usage.output_tokens.max(written);
                call.estimated = true;
            }
        }
        call.cost = self.app.models.cost(&call.model, &call.usage);
    }

    /// Notes what a call that wrote nothing has used.
    pub(crate) fn spent(&mut self, usage: Option<Usage>) {
        let Some(call) = &mut self.call else { return };
        call.estimated = usage.is_none();
        call.usage = usage.unwrap_or_else(|| Usage {
            input_tokens: providers::tokens::rough_request(&self.request),
            ..Usage::default()
        });
        call.cost = self.app.models.cost(&call.model, &call.usage);
    }

    fn record(&mut self, end: End) -> Recording {
        self.ended = true;
        let (status, answer, error, saved) = match end {
            End::Answered { answer, saved } => (RunStatus::Completed, Some(answer), None, saved),
            End::Blocked => (RunStatus::Blocked, None, None, Saved::default()),
            End::Held { answer } => (RunStatus::Blocked, Some(answer), None, Saved::default()),
            End::Failed { code, message, answer } => {
                (RunStatus::Failed, answer, Some((code, message)), Saved::default())
            }
            End::Cancelled { answer } => (RunStatus::Cancelled, answer, None, Saved::default()),
        };
        let (app, opening, lead) = (self.app.clone(), self.opening.clone(), self.lead.take());
        app.count(self.explanation.route);
        self.span.record("route", self.explanation.route.as_str());
        self.span.record("status", tracing::field::debug(status));
        let span = self.span.clone();
        let cost = self.call.as_ref().map_or(Some(MicroUsd(0)), |call| call.cost);
        let mut wanted = std::mem::take(&mut self.wanted);
        // A tool costs nothing that is counted here, but how often it is called may be.
        let of_calls = wanted.iter_mut().filter_map(|wanted| wanted.judged.held.take());
        let of_calls = of_calls.map(|held| held.settle(Some(MicroUsd(0))));
        let mut small = self.small.take();
        let of_small = small.as_mut().and_then(|small| {
            let cost = small.cost();
            small.judged.held.take().map(|held| held.settle(cost))
        });
        let settled = self.held.take().map(|held| held.settle(cost));
        let settled = settled.into_iter().chain(of_small).chain(of_calls).collect();
        let barred = self.barred.take();
        let (lexicon, looked) = (std::mem::take(&mut self.lexicon), std::mem::take(&mut self.looked));
        let learned = learned::told(&app, self.learned.take(), status, answer.as_ref());
        let ending = Ending {
            request: std::mem::take(&mut self.request_recorded),
            wanted,
            barred,
            settled,
            status,
            ghost_saved: self.ghost_saved(),
            explanation: self.take_explanation(),
            attempts: std::mem::take(&mut self.attempts),
            call: self.call.take(),
            answer,
            error,
            saved,
            // Errors, cut streams and blocked answers are never used again.
            keep: self.keep.filter(|_| status == RunStatus::Completed),
            recalled: self.recalled,
            learned,
            small,
            finished_at: now(),
            latency_ms: self.watch.millis(),
        };
        let tasks = app.tasks.clone();
        let is_cancelled = status == RunStatus::Cancelled;
        let refused =
            record::judgements(&opening, &ending).any(|judged| judged.verdict.effect != Effect::Allow);
        let over = Box::new(Over { opening: opening.clone(), ending, lexicon, looked });
        let work = Box::pin(async move {
            if is_cancelled {
                tokio::time::sleep(AFTER_THE_REST).await;
            }
            let written = late::record(&app, over).await;
            if refused {
                // Trust falls at once, not when what was read of it is old.
                let Caller { tenant, agent, .. } = &opening.caller;
                app.standings.forget(&(*tenant, agent.clone()));
            }
            // Whoever waits for this answer finds it now, or learns that there is none.
            drop(lead);
            drop(span);
            written
        });
        Recording::begin(&tasks, work)
    }

    /// The explanation, for the record. Nothing is asked of it after the end but its route.
    fn take_explanation(&mut self) -> RouteExplanation {
        let RouteExplanation { route, verdict, .. } = &self.explanation;
        let nothing = Verdict { effect: verdict.effect, policy: String::new(), rule: None };
        let left = RouteExplanation::new(*route, "", nothing);
        std::mem::replace(&mut self.explanation, left)
    }

    /// What the ghost would have saved: the price of this very call, now that it is known.
    fn ghost_saved(&self) -> MicroUsd {
        let Some(ghost) = &self.explanation.ghost else { return MicroUsd::default() };
        let paid = self.call.as_ref().and_then(|call| call.cost);
        paid.or(ghost.saved_usd).unwrap_or_default()
    }
}

impl Drop for OpenRun {
    fn drop(&mut self) {
        if !self.ended {
            self.used(&Answer::nothing());
            self.record(End::Cancelled { answer: None });
        }
    }
}

/// The span of a run, in the caller's trace if there is one.
fn span_of(opening: &Opening, trace: &Trace) -> tracing::Span {
    let span = tracing::info_span!(
        "model_call",
        run = %opening.run,
        model = opening.model,
        wire = opening.wire,
        route = tracing::field::Empty,
        status = tracing::field::Empty,
    );
    telemetry::context::continue_trace(&span, trace.parent.as_deref(), trace.state.as_deref());
    span
}

/// The answer as it is recorded.
pub(crate) fn recorded(answer: &Answer) -> Value {
    // An answer is JSON already; writing it out cannot fail.
    serde_json::to_value(answer).unwrap_or_default()
}

/// Everything that a model wrote, as text.
fn spoken(answer: &Answer) -> String {
    let parts = answer.choices.iter().flat_map(|choice| &choice.parts);
    let texts = parts.map(|part| match part {
        Part::Text { text, .. } | Part::Thinking { text, .. } | Part::Refusal { text } => text.as_str(),
        Part::ToolCall(call) => call.arguments.as_str(),
        _ => "",
    });
    texts.collect()
}
