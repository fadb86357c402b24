//! What a leaf of the log tells the learner: that live answered, that an artifact did, that somebody corrected or decided something.
//!
//! Only what went live teaches. Everything is read from the events of one run, in the tokenised form in which they are recorded.

use std::sync::Arc;

use artifact::fingerprint;
use learning::comparator::Comparator;
use ledger::{Event, Field};
use schema::{ArtifactId, Digest, PatternId, Route, RunId, RunStatus, SideEffectLevel, TenantId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::FeedRow;
use wire::Answer;

use crate::executable::{Style, read_request, said};
use crate::instructions::{Instructions, Known};
use crate::replay::ReplayReport;
use crate::task::{Loose, Task, Unlearnable};
use crate::template::Skeleton;

/// The types of the events by which operators, and Punk in their name, say what is to become of what was learned. All of them name it as `target`.
pub mod order {
    /// A pattern is not to be learned.
    pub const RETIRED: &str = "audit.pattern_retired";
    /// An artifact is to be made of a pattern now.
    pub const SYNTHESIS: &str = "audit.pattern_synthesis_requested";
    /// Answers of a pattern are compared like this from now on.
    pub const COMPARATOR: &str = "audit.pattern_comparator_declared";
    /// An artifact is to serve.
    pub const PROMOTED: &str = "audit.artifact_promoted";
    /// An artifact is not to serve until it is proven anew.
    pub const ROLLED_BACK: &str = "audit.artifact_rolled_back";
    /// An artifact is neither to serve nor to be proven.
    pub const QUARANTINED: &str = "audit.artifact_quarantined";
    /// What was corrected has been looked at.
    pub const RELEASED: &str = "audit.artifact_released";
    /// An artifact from elsewhere is to be tried here.
    pub const IMPORTED: &str = "audit.artifact_imported";
    /// Another small model may be asked for what programs leave open, or none.
    pub const SMALL_MODEL: &str = "audit.small_model_set";
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// Live answered.
    Lesson(Box<Lesson>),
    /// Live answered a request without instructions: what kind of work it is is mined, and then it is a lesson.
    Loose(Box<(Loose, Lesson)>),
    /// An artifact answered.
    Served(Box<Served>),
    /// Somebody said what an answer should have been.
    Corrected {
        /// The run.
        run: RunId,
        /// When.
        at: Timestamp,
        /// What kind of work it was, if the request says so.
        task: Option<Digest>,
        /// Which artifact had answered, and its version; nobody but live if absent.
        by: Option<(ArtifactId, u32)>,
    },
    /// Somebody did not like an answer of an artifact, and did not say what it should have been.
    Disliked {
        /// The run.
        run: RunId,
        /// When.
        at: Timestamp,
        /// What was asked.
        input: String,
        /// Which artifact had answered, and its version.
        by: (ArtifactId, u32),
    },
    /// An artifact was tried on recorded runs.
    Replayed {
        /// The artifact.
        artifact: ArtifactId,
        /// What came of it.
        replay: Replay,
    },
    /// Somebody decided.
    Ordered {
        /// The run that records it.
        run: RunId,
        /// When.
        at: Timestamp,
        /// What.
        order: Order,
        /// By whom.
        actor: String,
    },
}

/// What somebody decided.
#[derive(Debug, Clone, PartialEq)]
pub enum Order {
    /// See [`order::RETIRED`].
    Retire(PatternId),
    /// See [`order::SYNTHESIS`].
    Synthesize(PatternId),
    /// See [`order::COMPARATOR`].
    Compare(PatternId, Comparator),
    /// See [`order::PROMOTED`].
    Promote(ArtifactId),
    /// See [`order::ROLLED_BACK`].
    RollBack(ArtifactId),
    /// See [`order::QUARANTINED`].
    Quarantine(ArtifactId),
    /// See [`order::RELEASED`].
    Release(ArtifactId),
    /// See [`order::IMPORTED`]; the text is found by its digest.
    Import(Digest),
    /// See [`order::SMALL_MODEL`].
    Ask(Option<String>),
}

/// A live answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Lesson {
    /// The run.
    pub run: RunId,
    /// When it ended.
    pub at: Timestamp,
    /// The model's one name.
    pub model: String,
    /// What kind of work.
    pub task: Task,
    /// What was answered.
    pub output: Value,
    /// How it was written.
    pub style: Style,
    /// The hash of the request.
    pub request: Digest,
    /// In micro-dollars.
    pub cost: u64,
    /// In milliseconds.
    pub latency: u64,
    /// The highest level of side effects of what the answer calls; zero if it calls nothing.
    pub side_effects: u8,
    /// What its requests have in common, where that was mined; and whether this one fitted before it was taken in.
    pub template: Option<(Skeleton, bool)>,
    /// What the artifact would have said, if this was an audit.
    pub compared: Option<Compared>,
}

/// What an artifact would have said to a request that was audited.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Compared {
    /// The artifact.
    pub artifact_id: ArtifactId,
    /// Its version.
    pub version: u32,
    /// What it would have said.
    pub said: Value,
    /// The small model that told what the artifact leaves open.
    #[serde(default)]
    pub small: Option<String>,
}

/// An answer of an artifact.
#[derive(Debug, Clone, PartialEq)]
pub struct Served {
    /// The run.
    pub run: RunId,
    /// When it ended.
    pub at: Timestamp,
    /// What kind of work, if the request says so.
    pub task: Option<Digest>,
    /// What was asked.
    pub input: String,
    /// The artifact.
    pub artifact: ArtifactId,
    /// Its version.
    pub version: u32,
    /// What it saved, in micro-dollars.
    pub saved: u64,
}

/// What came of trying an artifact on recorded runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Replay {
    /// The run that records it.
    pub run: RunId,
    /// When.
    pub at: Timestamp,
    /// The version that was tried.
    pub version: u32,
    /// What was counted.
    #[serde(flatten)]
    pub report: ReplayReport,
}

/// The type of the event of a replay.
pub const REPLAYED: &str = "audit.artifact_replayed";
/// The type of the event of a run that an artifact answered, and of one that was an audit of one.
pub const EXECUTED: &str = "artifact.executed";
/// See [`EXECUTED`].
pub const COMPARED: &str = "artifact.compared";
/// The type of the event of a small model that was asked for what a program leaves open.
pub const ASKED: &str = "artifact.asked";

impl News {
    /// What is new in a run of a tenant's up to a leaf. `events` are all of its events.
    pub(crate) fn read(row: &FeedRow, events: &[Event], (tenant, known): (TenantId, &Known)) -> Vec<Self> {
        let read = |text: &str| known.read(tenant, text);
        let run = Run { id: row.run, events, read: &read };
        let is_new = |event: &&Event| event.seq > row.after && event.seq <= row.seq;
        events.iter().filter(is_new).filter_map(|event| run.news(event)).collect()
    }

    /// What a run has to teach again, to a learner that has forgotten it.
    #[must_use]
    pub fn recall(run: RunId, events: &[Event]) -> Option<Self> {
        let read = Run { id: run, events, read: &|text| Arc::new(Instructions::read(text)) };
        read.finished(events.iter().find(|event| event.r#type == "run.finished")?)
    }
}

/// What was asked, as far as the request itself says.
enum Asked {
    Task(Task),
    Loose(Loose),
}

impl Asked {
    /// The kind of work, if it is known, and what is different every time.
    fn parts(self) -> (Option<Digest>, String) {
        match self {
            Self::Task(task) => (Some(task.key), task.input),
            Self::Loose(loose) => (None, loose.text),
        }
    }
}

struct Run<'e> {
    id: RunId,
    events: &'e [Event],
    /// How instructions are read.
    read: &'e dyn Fn(&str) -> Arc<Instructions>,
}

impl Run<'_> {
    fn news(&self, event: &Event) -> Option<News> {
        match event.r#type.as_str() {
            "run.finished" => self.finished(event),
            "feedback.recorded" => self.corrected(event),
            REPLAYED => {
                let artifact = text(event, "target")?.parse().ok()?;
                let number = |name: &str| value(event, name).and_then(Value::as_u64);
                let report = ReplayReport {
                    runs: number("runs")?,
                    answered: number("answered")?,
                    disagreed: number("disagreed")?,
                    known: number("known")?,
                };
                let version = u32::try_from(number("version")?).ok()?;
                let replay = Replay { run: self.id, at: event.at, version, report };
                Some(News::Replayed { artifact, replay })
            }
            other => {
                let order = ordered(other, event)?;
                let actor = text(event, "actor").unwrap_or("punk").to_owned();
                Some(News::Ordered { run: self.id, at: event.at, order, actor })
            }
        }
    }

    fn event(&self, r#type: &str) -> Option<&Event> {
        self.events.iter().find(|event| event.r#type == r#type)
    }

    fn asked(&self) -> Option<(Asked, &str, &Value)> {
        let started = self.event("run.started")?;
        let (wire, model) = (text(started, "wire")?, text(started, "model")?);
        let request = value(started, "request")?;
        let read = read_request(wire, request)?;
        let asked = match Task::by(self.read, model, &read) {
            Ok(task) => Asked::Task(task),
            Err(Unlearnable::NoInstructions) => Asked::Loose(Loose::of(model, &read)?),
            Err(_) => return None,
        };
        Some((asked, model, request))
    }

    fn by(&self) -> Option<(ArtifactId, u32)> {
        let executed = self.event(EXECUTED)?;
        let version = value(executed, "version").and_then(Value::as_u64)?;
        Some((text(executed, "artifactId")?.parse().ok()?, u32::try_from(version).ok()?))
    }

    fn finished(&self, finished: &Event) -> Option<News> {
        if text(finished, "status") != Some(status_of(RunStatus::Completed)) {
            return None;
        }
        let route = text(finished, "route")?;
        let number = |name: &str| value(finished, name).and_then(Value::as_u64);
        if [Route::Artifact, Route::Hybrid].iter().any(|learned| learned.as_str() == route) {
            let (artifact, version) = self.by()?;
            let (task, input) = self.asked()?.0.parts();
            let saved = number("savedMicroUsd").unwrap_or(0);
            let served = Served { run: self.id, at: finished.at, task, input, artifact, version, saved };
            return Some(News::Served(Box::new(served)));
        }
        if route != Route::Live.as_str() {
            return None;
        }
        let answer = Answer::deserialize(value(finished, "answer")?).ok()?;
        let (output, style) = said(&answer)?;
        let (asked, model, request) = self.asked()?;
        let compared = self.event(COMPARED).and_then(|event| {
            Some(Compared {
                artifact_id: text(event, "artifactId")?.parse().ok()?,
                version: u32::try_from(value(event, "version")?.as_u64()?).ok()?,
                said: value(event, "said")?.clone(),
                small: self.event(ASKED).and_then(|asked| text(asked, "small")).map(str::to_owned),
            })
        });
        let (loose, task) = match asked {
            Asked::Task(task) => (None, task),
            Asked::Loose(loose) => {
                let task = Task { key: loose.base, name: String::new(), input: loose.text.clone() };
                (Some(loose), task)
            }
        };
        let lesson = Lesson {
            run: self.id,
            at: finished.at,
            model: model.to_owned(),
            request: fingerprint::request(model, request),
            task,
            output,
            style,
            cost: number("costMicroUsd").unwrap_or(0).saturating_sub(self.beforehand("costMicroUsd")),
            latency: number("latencyMs").unwrap_or(0).saturating_sub(self.beforehand("tookMs")),
            side_effects: self.side_effects(),
            template: None,
            compared,
        };
        Some(match loose {
            Some(loose) => News::Loose(Box::new((loose, lesson))),
            None => News::Lesson(Box::new(lesson)),
        })
    }

    /// What of a run was for a small model that was asked before live was: live would have done without it.
    fn beforehand(&self, name: &str) -> u64 {
        self.event(ASKED).and_then(|asked| value(asked, name)?.as_u64()).unwrap_or(0)
    }

    /// Every call of an answer was judged with the level of its tool, whatever came of that.
    fn side_effects(&self) -> u8 {
        let judged = self.events.iter().filter(|event| event.r#type == "policy.decided");
        let calls = judged.filter(|event| text(event, "toolName").is_some());
        let levels = calls.map(|event| {
            let level = value(event, "facts").and_then(|facts| facts["level"].as_u64());
            level.and_then(|level| u8::try_from(level).ok()).unwrap_or(u8::from(SideEffectLevel::UNDECLARED))
        });
        levels.max().unwrap_or(0)
    }

    fn corrected(&self, feedback: &Event) -> Option<News> {
        let is_bad = value(feedback, "rating").and_then(Value::as_i64) == Some(-1);
        if !is_bad {
            return None;
        }
        let (task, input) = self.asked()?.0.parts();
        let (run, at) = (self.id, feedback.at);
        match (value(feedback, "correction").and_then(Value::as_str), self.by()) {
            (Some(_), by) => Some(News::Corrected { run, at, task, by }),
            (None, Some(by)) => Some(News::Disliked { run, at, input, by }),
            // What live said is not the learner's to judge.
            (None, None) => None,
        }
    }
}

fn ordered(r#type: &str, event: &Event) -> Option<Order> {
    let target = text(event, "target")?;
    match r#type {
        order::RETIRED => Some(Order::Retire(target.parse().ok()?)),
        order::SYNTHESIS => Some(Order::Synthesize(target.parse().ok()?)),
        order::COMPARATOR => {
            let comparator = serde_json::from_value(value(event, "comparator")?.clone()).ok()?;
            Some(Order::Compare(target.parse().ok()?, comparator))
        }
        order::PROMOTED => Some(Order::Promote(target.parse().ok()?)),
        order::ROLLED_BACK => Some(Order::RollBack(target.parse().ok()?)),
        order::QUARANTINED => Some(Order::Quarantine(target.parse().ok()?)),
        order::RELEASED => Some(Order::Release(target.parse().ok()?)),
        order::IMPORTED => Some(Order::Import(target.parse().ok()?)),
        order::SMALL_MODEL => Some(Order::Ask(text(event, "model").map(str::to_owned))),
        _ => None,
    }
}

fn value<'e>(event: &'e Event, name: &str) -> Option<&'e Value> {
    event.payload.get(name).and_then(Field::value).filter(|value| !value.is_null())
}

fn text<'e>(event: &'e Event, name: &str) -> Option<&'e str> {
    value(event, name).and_then(Value::as_str)
}

const fn status_of(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Completed => "completed",
        _ => "",
    }
}
