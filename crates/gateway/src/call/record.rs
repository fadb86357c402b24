//! Writing a model call down: what happened becomes events, the events become one commit.

use std::num::NonZeroU32;
use std::sync::Arc;

use apprentice::ASKED;
use ledger::canonical::CanonicalError;
use ledger::{Name, Recorder, Said, Salt};
use providers::upstream::Attempt;
use redaction::Lexicon;
use schema::{Digest, MicroUsd, RouteExplanation, RunId, RunKind, RunStatus, Timestamp, Usage};
use serde_json::{Value, json};
use store::{Append, CacheKind, CacheWrite, Commit, Settle, Settlement};
use wire::Answer;

use super::hybrid::AskedSmall;
use super::wanted::Wanted;
use crate::discretion::{Discretion, Looked, recorded_fields};
use crate::governor::{InForce, Judgement, Question};
use crate::identity::Caller;
use crate::record::{Fields, fields, fields_of_object};

/// How a run began.
pub(crate) struct Opening {
    pub(crate) run: RunId,
    pub(crate) caller: Caller,
    pub(crate) kind: RunKind,
    pub(crate) wire: &'static str,
    /// The model that was asked for, by its canonical name.
    pub(crate) model: String,
    pub(crate) stream: bool,
    /// The caller's trace that it is a part of.
    pub(crate) trace: Option<String>,
    /// What untrusted text in it tries.
    pub(crate) signals: Vec<Value>,
    pub(crate) judged: Judgement,
    pub(crate) started_at: Timestamp,
}

/// How it ended.
pub(crate) struct Ending {
    /// What was asked, as it is recorded.
    pub(crate) request: Arc<Value>,
    pub(crate) status: RunStatus,
    pub(crate) explanation: RouteExplanation,
    /// Every time an upstream was asked, as it went.
    pub(crate) attempts: Vec<Attempt>,
    /// The model call that counts, if there was one.
    pub(crate) call: Option<ModelCall>,
    pub(crate) answer: Option<Value>,
    /// The code and the words of what went wrong.
    pub(crate) error: Option<(String, String)>,
    /// What a cheaper route saved against the live one.
    pub(crate) saved: Saved,
    /// What one would have saved, had the key not been one that only observes.
    pub(crate) ghost_saved: MicroUsd,
    /// What the answer is kept under, if it may be used again.
    pub(crate) keep: Option<Keep>,
    /// What it was found under, if it was used again.
    pub(crate) recalled: Option<Digest>,
    /// What a learned program had to do with it: the type of an event, and its fields.
    pub(crate) learned: Option<(&'static str, Fields)>,
    /// What a small model was asked beside it, before live was.
    pub(crate) small: Option<Box<AskedSmall>>,
    /// What the answer wants done.
    pub(crate) wanted: Vec<Wanted>,
    /// Why the caller does not get the answer, if something in it must not leave.
    pub(crate) barred: Option<Judgement>,
    /// What was used of limits.
    pub(crate) settled: Vec<Settlement>,
    pub(crate) finished_at: Timestamp,
    pub(crate) latency_ms: u64,
}

/// One call of a model.
#[derive(Debug, Clone)]
pub(crate) struct ModelCall {
    pub(crate) upstream: String,
    pub(crate) model: String,
    pub(crate) stop: Option<&'static str>,
    pub(crate) usage: Usage,
    /// Whether the usage is our own count because the upstream did not say.
    pub(crate) estimated: bool,
    /// Absent when the price is not known, which is not the same as free.
    pub(crate) cost: Option<MicroUsd>,
}

impl ModelCall {
    /// A call of which nothing is known yet but whom it went to.
    pub(crate) fn begun(upstream: &str, model: &str) -> Self {
        Self {
            upstream: upstream.to_owned(),
            model: model.to_owned(),
            stop: None,
            usage: Usage::default(),
            estimated: true,
            cost: None,
        }
    }
}

/// What was saved.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Saved {
    pub(crate) money: MicroUsd,
    pub(crate) millis: u64,
}

/// How an answer is kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Keep {
    pub(crate) key: Digest,
    pub(crate) until: Timestamp,
    /// How many the tenant may have.
    pub(crate) at_most: Option<NonZeroU32>,
}

/// What the events of most runs fit in, in bytes.
const USUAL_TEXT: usize = 8 << 10;

/// The whole story as one commit: its events, the leaf that binds them, and the answer to be found again. `looked`: what was
/// looked at when it was told.
pub(crate) fn commit(
    opening: &Opening,
    ending: &Ending,
    (discretion, lexicon, looked): (&Discretion, &mut Lexicon, &Looked),
    salts: impl FnOnce(usize) -> Vec<Salt>,
) -> Result<Commit, CanonicalError> {
    let mut events = events(opening, ending);
    let mut changed = false;
    for (.., fields) in &mut events {
        // What is said of the last event, which has the answer, is what counts.
        changed = recorded_fields(fields, discretion, lexicon, looked);
    }
    let given = match &ending.answer {
        Some(_) if !changed => Given::AsRecorded,
        answer => Given::Otherwise(answer.as_ref()),
    };
    let keep = ending.keep.filter(|keep| keep_answer(&mut events, given, *keep, (discretion, lexicon)));
    // The first event has what was asked, too. That was looked at when it came.
    let mut request = Some((Name::Borrowed("request"), Said::from(ending.request.clone())));
    let count: usize = events.iter().map(|(.., fields)| fields.len()).sum();
    // Enough salts are drawn for every field, so the fallback is never taken.
    let mut salts = salts(count + 1).into_iter();
    let mut recorder = Recorder::new(opening.caller.tenant, opening.run).with_room_for(USUAL_TEXT);
    for (at, r#type, fields) in events {
        let fields = fields.into_iter().map(|(name, value)| (name, Said::from(value))).chain(request.take());
        recorder.append(at, r#type, fields, || salts.next().unwrap_or(Salt::from_bytes([0; 16])))?;
    }
    let events = recorder.end();
    let cache = keep.and_then(|keep| CacheWrite::of_run(opening.run, &events, keep.at_most));
    let subject = opening.caller.subject.clone();
    let append = Append { events, settle: Settle::Leaf, subject };
    Ok(Commit {
        appends: vec![append],
        policies: policies(opening, ending),
        cache: cache.into_iter().collect(),
        touched: ending.recalled.map(|key| (CacheKind::ExactResponse, key)).into_iter().collect(),
        records: questions(opening, ending).filter_map(|question| question.change.clone()).collect(),
        settled: ending.settled.clone(),
        jobs: questions(opening, ending).flat_map(|question| question.jobs.clone()).collect(),
        ..Commit::default()
    })
}

/// All that was judged in a run.
pub(crate) fn judgements<'r>(
    opening: &'r Opening,
    ending: &'r Ending,
) -> impl Iterator<Item = &'r Judgement> {
    let wanted = ending.wanted.iter().map(|wanted| &wanted.judged);
    let small = ending.small.iter().map(|small| &small.judged);
    std::iter::once(&opening.judged).chain(small).chain(wanted).chain(&ending.barred)
}

/// All that people are asked in a run.
fn questions<'r>(opening: &'r Opening, ending: &'r Ending) -> impl Iterator<Item = &'r Question> {
    judgements(opening, ending).filter_map(|judged| judged.question.as_ref())
}

/// The texts of the policies that were asked, as far as the ledger is not known to have them.
fn policies(opening: &Opening, ending: &Ending) -> Vec<String> {
    let mut in_force: Vec<&InForce> = judgements(opening, ending).map(|judged| &*judged.policies).collect();
    in_force.dedup_by_key(|policies| policies.digest);
    in_force.into_iter().filter_map(|policies| policies.text_for(opening.caller.tenant)).collect()
}

/// An event on its way to the record.
type Told = (Timestamp, &'static str, Fields);

/// What was given, beside what is recorded of it.
#[derive(Clone, Copy)]
enum Given<'a> {
    AsRecorded,
    Otherwise(Option<&'a Value>),
}

/// Notes at the end of the run what its answer is kept under. An answer that cannot be made again of what is recorded is not
/// kept.
fn keep_answer(
    events: &mut [Told],
    given: Given<'_>,
    keep: Keep,
    (discretion, lexicon): (&Discretion, &Lexicon),
) -> bool {
    let Some((.., finished)) = events.last_mut() else { return false };
    let same = |recorded: &&Value| match given {
        Given::AsRecorded => true,
        Given::Otherwise(given) => {
            given.is_some_and(|given| same_when_told(given, recorded, discretion, lexicon))
        }
    };
    let Some(bytes) = answer_in(finished).filter(same).map(length_of) else { return false };
    let kept =
        [("cacheBytes", json!(bytes)), ("cacheExpiresAt", json!(keep.until)), ("cacheKey", json!(keep.key))];
    // Where they belong by their names, right behind the answer: fields that are in order need not be sorted.
    let behind = finished.iter().position(|(name, _)| &**name > "cacheKey").unwrap_or(finished.len());
    finished.splice(behind..behind, kept.map(|(name, value)| (Name::Borrowed(name), value)));
    true
}

/// About how long a value is as a text, without making one: what has to be escaped in it counts as it is.
fn length_of(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(true) => 4,
        Value::Bool(false) => 5,
        Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => 2 + items.iter().map(|item| length_of(item) + 1).sum::<usize>(),
        Value::Object(members) => {
            2 + members.iter().map(|(name, member)| name.len() + 4 + length_of(member)).sum::<usize>()
        }
    }
}

/// The answer that the last event of a run tells of.
fn answer_in(finished: &Fields) -> Option<&Value> {
    finished.iter().find(|(name, _)| name == "answer").map(|(_, answer)| answer)
}

/// Whether a caller who sent the same would be told the same by what is recorded as by what was given.
fn same_when_told(given: &Value, recorded: &Value, discretion: &Discretion, lexicon: &Lexicon) -> bool {
    let told = |answer: &Value| {
        let answer: Answer = serde_json::from_value(answer.clone()).ok()?;
        let revealed = discretion.revealed(&answer, lexicon, &mut Looked::default());
        Some(revealed.ok()?.unwrap_or(answer))
    };
    given == recorded
        || (!lexicon.has_grown() && told(given).is_some_and(|given| Some(given) == told(recorded)))
}

fn events(opening: &Opening, ending: &Ending) -> Vec<Told> {
    let Caller { app, agent, subject, gateway_mode, key, .. } = &opening.caller;
    let (started_at, finished_at) = (opening.started_at, ending.finished_at);
    let mut started = fields([
        ("agent", json!(agent)),
        ("app", json!(app)),
        ("gatewayMode", json!(gateway_mode)),
        ("keyId", json!(key)),
        ("kind", json!(opening.kind)),
        ("model", json!(opening.model)),
        ("stream", json!(opening.stream)),
        ("subject", json!(subject)),
        ("wire", json!(opening.wire)),
    ]);
    if let Some(trace) = &opening.trace {
        started.push(("traceId".into(), json!(trace)));
    }
    let decided = opening.judged.event();
    let mut events = vec![(started_at, "run.started", started), (started_at, "policy.decided", decided)];
    for signal in &opening.signals {
        events.push((started_at, "tripwire.signalled", fields_of_object(signal.clone())));
    }
    if let Some(small) = &ending.small {
        events.push((small.at, "policy.decided", small.judged.event()));
        called(&mut events, small.at, &small.attempts, small.call.as_ref());
        events.push((small.at, ASKED, small.event()));
    }
    called(&mut events, finished_at, &ending.attempts, ending.call.as_ref());
    if let Some((r#type, fields)) = &ending.learned {
        events.push((finished_at, r#type, fields.clone()));
    }
    for (r#type, fields) in ending.wanted.iter().flat_map(Wanted::events) {
        events.push((finished_at, r#type, fields));
    }
    if let Some(barred) = &ending.barred {
        events.push((finished_at, "policy.decided", barred.event()));
    }
    for (r#type, fields) in judgements(opening, ending).flat_map(Judgement::tripwire_events) {
        events.push((finished_at, r#type, fields));
    }
    events.push((finished_at, "run.finished", finished(ending)));
    events
}

/// Whom a model call went to, and what it used.
fn called(events: &mut Vec<Told>, at: Timestamp, attempts: &[Attempt], call: Option<&ModelCall>) {
    for one in attempts {
        events.push((at, "model.attempted", attempt(one)));
    }
    if let Some(call) = call {
        let Totals { cache_read, cache_write, cost, input, output, reasoning } =
            Totals::of(call.usage, call.cost);
        let completed = fields([
            ("cacheReadTokens", cache_read),
            ("cacheWriteTokens", cache_write),
            ("costMicroUsd", cost),
            ("finishReason", json!(call.stop)),
            ("inputTokens", input),
            ("model", json!(call.model)),
            ("outputTokens", output),
            ("provider", json!(call.upstream)),
            ("reasoningTokens", reasoning),
            ("usageEstimated", json!(call.estimated)),
        ]);
        events.push((at, "model.completed", completed));
    }
}

/// The last event of a run.
fn finished(ending: &Ending) -> Fields {
    // Without a model call nothing was spent; with one whose price is unknown, the sum is unknown too.
    let calls = ending.call.iter().chain(ending.small.iter().filter_map(|small| small.call.as_ref()));
    let (usage, cost) = calls.fold((Usage::default(), Some(MicroUsd(0))), |(usage, cost), call| {
        (sum(usage, call.usage), cost.zip(call.cost).map(|(a, b)| MicroUsd(a.0.saturating_add(b.0))))
    });
    let Totals { cache_read, cache_write, cost, input, output, reasoning } = Totals::of(usage, cost);
    let mut finished = fields([
        ("answer", ending.answer.clone().unwrap_or_default()),
        ("cacheReadTokens", cache_read),
        ("cacheWriteTokens", cache_write),
        ("costMicroUsd", cost),
        ("explanation", json!(ending.explanation)),
        ("ghostRoute", json!(ending.explanation.ghost.as_ref().map(|ghost| ghost.route))),
        ("ghostSavedMicroUsd", json!(ending.ghost_saved.0)),
        ("inputTokens", input),
        ("latencyMs", json!(ending.latency_ms)),
        ("outputTokens", output),
        ("provider", json!(ending.call.as_ref().map(|call| &call.upstream))),
        ("reasoningTokens", reasoning),
        ("route", json!(ending.explanation.route)),
        ("savedMicroUsd", json!(ending.saved.money.0)),
        ("savedMs", json!(ending.saved.millis)),
        ("status", json!(ending.status)),
    ]);
    if let Some((code, message)) = &ending.error {
        finished.push(("errorCode".into(), json!(code)));
        finished.push(("error".into(), json!(message)));
    }
    finished
}

/// One time that an upstream was asked, or was not, and how that went.
fn attempt(attempt: &Attempt) -> Fields {
    fields([
        ("fault", json!(attempt.fault.map(|fault| fault.to_string()))),
        ("key", json!(attempt.key)),
        ("model", json!(&*attempt.model)),
        ("outcome", json!(attempt.outcome.to_string())),
        ("provider", json!(&*attempt.upstream)),
        ("startedMs", json!(attempt.started_ms)),
        ("tookMs", json!(attempt.took_ms)),
    ])
}

fn sum(a: Usage, b: Usage) -> Usage {
    Usage {
        input_tokens: a.input_tokens + b.input_tokens,
        output_tokens: a.output_tokens + b.output_tokens,
        reasoning_tokens: a.reasoning_tokens + b.reasoning_tokens,
        cache_read_tokens: a.cache_read_tokens + b.cache_read_tokens,
        cache_write_tokens: a.cache_write_tokens + b.cache_write_tokens,
        cache_write_long_tokens: a.cache_write_long_tokens + b.cache_write_long_tokens,
    }
}

/// What was used and spent, as the values of the fields that add up over the events of a run.
struct Totals {
    cache_read: Value,
    cache_write: Value,
    cost: Value,
    input: Value,
    output: Value,
    reasoning: Value,
}

impl Totals {
    fn of(usage: Usage, cost: Option<MicroUsd>) -> Self {
        Self {
            cache_read: json!(usage.cache_read_tokens),
            cache_write: json!(usage.cache_write_tokens + usage.cache_write_long_tokens),
            cost: json!(cost.map(|MicroUsd(micros)| micros)),
            input: json!(usage.input_tokens),
            output: json!(usage.output_tokens),
            reasoning: json!(usage.reasoning_tokens),
        }
    }
}
