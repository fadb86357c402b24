//! What makes the answers of one pattern: the only place, with `study.rs`, that calls the learners.
//!
//! A tutor first says what it thinks of a request, is then told what live said, and only then learns from it. Fed with the
//! same lessons in the same order it is the same tutor, so it can be kept now and then and brought up to date by its lessons.

mod attempt;

pub(crate) use attempt::Attempt;

use std::collections::VecDeque;

use artifact::program::Program;
use artifact::{Artifact, Guard, classify, tag};
use learning::classify::Learner;
use learning::comparator::Comparator;
use learning::pattern::TaskClass;
use learning::proof;
use learning::synthesis::{Compiler, Sample};
use learning::tag::Extractor;
use learning::threshold::Aim;
use schema::RunId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::attempt::{classified, compiled, tagged};
use crate::executable::Executable;
use crate::plan;

/// The learner of one pattern, and the lessons that an artifact is first tried on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tutor {
    engine: Engine,
    /// The newest lessons.
    bundle: VecDeque<(RunId, Sample)>,
    /// Bytes of the longest input.
    longest: usize,
    /// When two answers are the same.
    #[serde(default)]
    comparator: Comparator,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "engine", rename_all = "snake_case")]
enum Engine {
    /// Nothing is learned yet; the bundle waits.
    #[default]
    Waiting,
    Classify {
        learner: Box<Learner>,
    },
    Compile {
        compiler: Box<Compiler>,
        /// Whether it is plans that are compiled: the compiler sees them laid out flat.
        #[serde(default)]
        plans: bool,
    },
    /// What the compiler could not make, because it is said in free words: pieces of the input by field.
    Tag {
        extractor: Box<Extractor>,
    },
    /// From elsewhere: it does not change.
    Given {
        given: Box<Executable>,
    },
}

/// What a tutor thinks of a request, before it knows what live said.
#[derive(Debug, Default)]
pub struct Opinion {
    /// What it would say, if it is sure.
    pub said: Option<Value>,
    /// The chance with which it expects to differ from live; zero where it cannot tell.
    pub expected: f64,
    inner: Inner,
}

/// What its learner thinks of it.
#[derive(Debug, Default)]
enum Inner {
    #[default]
    Nothing,
    Class(classify::Opinion),
    Reading(tag::Reading),
}

/// What came of a lesson.
#[derive(Debug, Default)]
pub struct Learned {
    /// An attempt was made, with this outcome.
    pub attempt: Option<Attempt>,
    /// Whether there is a new version.
    pub version: bool,
    /// What the new version says of what is recorded, each judged by what had not learned it.
    pub replay: Option<proof::Attempt>,
}

/// Lessons that wait or are tried on; a program is compiled from more.
const MOST_WAITING: usize = 96;
/// A label that is longer is no label.
const LONGEST_LABEL: usize = 80;

impl Tutor {
    /// A tutor that only has what somebody else made.
    #[must_use]
    pub fn given(executable: Executable, comparator: Comparator) -> Self {
        Self { engine: Engine::Given { given: Box::new(executable) }, comparator, ..Self::default() }
    }

    /// From now on answers are the same by `comparator`. Says whether there is a new version: what is compiled is compiled again.
    pub fn compare_by(&mut self, comparator: &Comparator, class: TaskClass, aim: Aim) -> bool {
        self.comparator = comparator.clone();
        matches!(self.engine, Engine::Compile { .. })
            && self.begin(class, aim).is_some_and(|attempt| attempt.answers)
    }

    /// Whether nothing is being learned.
    #[must_use]
    pub const fn is_waiting(&self) -> bool {
        matches!(self.engine, Engine::Waiting)
    }

    /// What it would call what it makes.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self.engine {
            Engine::Waiting => "none",
            Engine::Classify { .. } => "classifier",
            Engine::Compile { plans: true, .. } => "plan",
            Engine::Compile { plans: false, .. } => "program",
            Engine::Tag { .. } => "tagger",
            Engine::Given { .. } => "imported",
        }
    }

    /// How what it makes is to be proven: only a classifier says of what is recorded what it had not learned.
    #[must_use]
    pub const fn means(&self) -> proof::Means {
        match self.engine {
            Engine::Classify { .. } => proof::Means::Replay,
            _ => proof::Means::Shadow,
        }
    }

    /// Whether what knows no answer yet may know some after more of the same.
    #[must_use]
    pub const fn may_become_sure(&self) -> bool {
        matches!(self.engine, Engine::Classify { .. } | Engine::Tag { .. })
    }

    /// Begins to learn, from the lessons that wait: what repeats is classified, what is made of its input is compiled.
    pub fn begin(&mut self, class: TaskClass, aim: Aim) -> Option<Attempt> {
        let is_label = |(_, sample): &(RunId, Sample)| match &sample.output {
            Value::String(text) => text.len() <= LONGEST_LABEL,
            _ => false,
        };
        let labels =
            self.bundle.iter().filter(|lesson| is_label(lesson)).count() * 10 >= self.bundle.len() * 9;
        self.engine = if class == TaskClass::Classification || labels {
            Engine::Classify { learner: Box::default() }
        } else {
            let is_plan = |(_, sample): &&(RunId, Sample)| plan::calls(&sample.output).is_some();
            let plans = self.bundle.iter().filter(is_plan).count() * 2 > self.bundle.len();
            Engine::Compile { compiler: Box::new(Compiler::new(self.comparator.clone())), plans }
        };
        let mut attempt = None;
        for (_, sample) in self.bundle.clone() {
            let opinion = self.meet(&sample.input);
            attempt = self.teach(sample, &opinion, aim).attempt.or(attempt);
        }
        attempt
    }

    /// Stops learning; what is learned next begins anew.
    pub fn stop(&mut self) {
        self.engine = Engine::Waiting;
    }

    /// What it thinks of `input`. Every request is told, whoever answered it.
    pub fn meet(&mut self, input: &str) -> Opinion {
        match &mut self.engine {
            Engine::Waiting => Opinion::default(),
            Engine::Classify { learner } => {
                let inner = learner.meet(input);
                let sure = inner.as_ref().filter(|opinion| learner.classifier().is_sure(opinion));
                let label = sure.and_then(|opinion| learner.classifier().labels.get(opinion.label as usize));
                let expected = sure.map_or(0.0, |opinion| learner.choice().expects(opinion.trust));
                let said = label.map(|label| value_of(label));
                Opinion { said, expected, inner: inner.map_or(Inner::Nothing, Inner::Class) }
            }
            Engine::Tag { extractor } => {
                let reading = extractor.meet(input);
                let said = extractor.answer(input, &reading);
                let expected = said.as_ref().map_or(0.0, |_| extractor.choice().expects(reading.trust));
                Opinion { said, expected, inner: Inner::Reading(reading) }
            }
            Engine::Compile { compiler, plans } => {
                let answer = compiler.artifact().and_then(|artifact| answer_of(artifact, input));
                let said = if *plans { answer.as_ref().and_then(plan::unflat) } else { answer };
                Opinion { said, ..Opinion::default() }
            }
            Engine::Given { given } => Opinion { said: given.says(input).ok(), ..Opinion::default() },
        }
    }

    /// Learns that live answered `output` to `input`, of which it had `opinion`.
    pub fn learn(&mut self, run: RunId, input: &str, output: &Value, opinion: &Opinion, aim: Aim) -> Learned {
        let sample = Sample { input: input.to_owned(), output: output.clone() };
        self.longest = self.longest.max(input.len());
        self.bundle.push_back((run, sample.clone()));
        if self.bundle.len() > MOST_WAITING {
            self.bundle.pop_front();
        }
        self.teach(sample, opinion, aim)
    }

    fn teach(&mut self, sample: Sample, opinion: &Opinion, aim: Aim) -> Learned {
        match &mut self.engine {
            Engine::Waiting | Engine::Given { .. } => Learned::default(),
            Engine::Classify { learner } => {
                let label = sample.output.to_string();
                let inner = if let Inner::Class(opinion) = &opinion.inner { Some(opinion) } else { None };
                let version = learner.learn(&sample.input, &label, inner, aim);
                let attempt = version.then(|| classified(learner));
                Learned { attempt, version, replay: learner.replay().filter(|_| version) }
            }
            Engine::Tag { extractor } => {
                let Inner::Reading(reading) = &opinion.inner else { return Learned::default() };
                let told = (sample.input.as_str(), &sample.output);
                let version = extractor.learn(told, reading, &self.comparator, aim);
                Learned { attempt: version.then(|| tagged(extractor)), version, replay: None }
            }
            Engine::Compile { compiler, plans } => {
                let known = opinion
                    .said
                    .as_ref()
                    .is_some_and(|said| compiler.comparator().agree(said, &sample.output));
                let sample = if *plans {
                    // What calls nothing, among what calls, is nothing to compile from; that it differs, the shadow sees.
                    let Some(output) = plan::flat(&sample.output) else { return Learned::default() };
                    Sample { output, ..sample }
                } else {
                    sample
                };
                let before = compiler.attempts().last().cloned();
                let version = compiler.learn(sample, known);
                let attempt = compiler.attempts().last().filter(|last| Some(*last) != before.as_ref());
                let Some(attempt) = attempt else { return Learned { version, ..Learned::default() } };
                let whole = !*plans || compiler.artifact().is_none_or(|made| plan::planning(made).is_some());
                let attempt = compiled(attempt, whole);
                // A program that leaves fields to somebody else never answers by itself. What once answered goes on.
                let is_first = compiler.version() <= 1;
                if !*plans && is_first && compiler.artifact().is_none_or(leaves_fields) {
                    let samples = compiler.samples().cloned().collect();
                    return self.tag_instead(samples, attempt, version, aim);
                }
                Learned { attempt: Some(attempt), version, replay: None }
            }
        }
    }

    /// Has a tagger learn what could not be compiled, if its answers are made of pieces of their inputs. `attempt` is what came of
    /// compiling, and whether it made a `version`.
    fn tag_instead(&mut self, samples: Vec<Sample>, attempt: Attempt, version: bool, aim: Aim) -> Learned {
        let mut attempt = attempt;
        let extractor = match Extractor::for_answers_like(&samples, &self.comparator) {
            Ok(extractor) => extractor,
            Err(lines) => {
                attempt.report.extend(lines.into_iter().map(|line| format!("no tagger: {line}")));
                return Learned { attempt: Some(attempt), version, replay: None };
            }
        };
        self.engine = Engine::Tag { extractor: Box::new(extractor) };
        let why =
            if attempt.answers { "not every field has a deterministic program" } else { &attempt.reason };
        attempt.report.push(format!("{why}: a tagger learns it"));
        let mut last =
            Attempt { answers: false, reason: "a tagger has begun to learn it".to_owned(), ..attempt };
        for sample in samples {
            let opinion = self.meet(&sample.input);
            if let Some(made) = self.teach(sample, &opinion, aim).attempt {
                let report = last.report.into_iter().chain(made.report).collect();
                last = Attempt { report, ..made };
            }
        }
        Learned { attempt: Some(last), version: true, replay: None }
    }

    /// The artifact in force.
    #[must_use]
    pub fn artifact(&self) -> Option<Artifact> {
        match &self.engine {
            Engine::Waiting => None,
            Engine::Classify { learner } => {
                let guard = Guard { longest: self.longest * 2, most_unknown: 1.0, ..Guard::default() };
                let classifier = Box::new(learner.classifier().clone());
                Some(Artifact { guard, program: Program::Classify { classifier } })
            }
            Engine::Tag { extractor } => {
                let guard = Guard { longest: self.longest * 2, most_unknown: 1.0, ..Guard::default() };
                Some(Artifact { guard, program: extractor.program() })
            }
            Engine::Compile { compiler, plans: true } => compiler.artifact().and_then(plan::planning),
            Engine::Compile { compiler, plans: false } => compiler.artifact().cloned(),
            Engine::Given { given } => Some(given.artifact.clone()),
        }
    }

    /// What was made elsewhere, as it is.
    #[must_use]
    pub fn given_executable(&self) -> Option<&Executable> {
        if let Engine::Given { given } = &self.engine { Some(given) } else { None }
    }

    /// Tries the version in force on the lessons that are kept: how many it answers, and how many of those as live did.
    pub fn replay(&mut self) -> (usize, usize) {
        let Some(artifact) = self.artifact() else { return (0, 0) };
        let (mut answered, mut right) = (0, 0);
        for (_, sample) in &self.bundle {
            if let Some(said) = answer_of(&artifact, &sample.input) {
                answered += 1;
                right += usize::from(self.comparator.agree(&said, &sample.output));
            }
        }
        (answered, right)
    }

    /// The runs of the lessons that are kept, oldest first.
    pub fn bundle(&self) -> impl Iterator<Item = RunId> {
        self.bundle.iter().map(|(run, _)| *run)
    }
}

fn answer_of(artifact: &Artifact, input: &str) -> Option<Value> {
    match artifact.answer(&artifact::program::Input::new(input)) {
        artifact::program::Outcome::Answer(value) => Some(value),
        _ => None,
    }
}

fn value_of(label: &str) -> Value {
    serde_json::from_str(label).unwrap_or_else(|_| Value::from(label))
}

/// Whether a program says only a part of each answer.
fn leaves_fields(made: &Artifact) -> bool {
    matches!(&made.program, Program::Fields { delegated, .. } if !delegated.is_empty())
}
