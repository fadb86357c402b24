//! What makes the answers of one pattern: the only place, with `study.rs`, that calls the learners.
//!
//! A tutor first says what it thinks of a request, is then told what live said, and only then learns from it. Fed with the
//! same lessons in the same order it is the same tutor, so it can be kept now and then and brought up to date by its lessons.

mod attempt;

pub(crate) use attempt::Attempt;

use std::collections::VecDeque;

use artifact::program::{Input, Open, Outcome, Program};
use artifact::{Artifact, Guard, classify, tag};
use learning::classify::Learner;
use learning::comparator::Comparator;
use learning::pattern::TaskClass;
use learning::proof;
use learning::synthesis::{Compiler, Sample, agrees_in_part};
use learning::tag::Extractor;
use learning::threshold::Aim;
use schema::RunId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

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
    /// What it would say, if it leaves fields open.
    pub part: Option<Map<String, Value>>,
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
/// After so many lessons with one answer it is a constant, and not the first of several.
const CONSTANT: usize = 64;

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

    /// About how many bytes its learner takes in memory; little but for what remembers everything it was taught.
    #[must_use]
    pub fn bytes(&self) -> usize {
        if let Engine::Classify { learner } = &self.engine { learner.bytes() } else { 0 }
    }

    /// Whether nothing is being learned.
    #[must_use]
    pub const fn is_waiting(&self) -> bool {
        matches!(self.engine, Engine::Waiting)
    }

    /// What it would call what it makes.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match &self.engine {
            Engine::Waiting => "none",
            Engine::Classify { .. } => "classifier",
            Engine::Compile { plans: true, .. } => "plan",
            Engine::Compile { plans: false, compiler } if compiler.artifact().is_some_and(leaves_fields) => {
                "hybrid"
            }
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
        let labels = self.bundle.iter().filter(|(_, sample)| is_label(&sample.output)).count() * 10
            >= self.bundle.len() * 9;
        self.engine = if class == TaskClass::Classification || labels {
            Engine::Classify { learner: Box::default() }
        } else {
            let is_plan = |(_, sample): &&(RunId, Sample)| plan::calls(&sample.output).is_some();
            let plans = self.bundle.iter().filter(is_plan).count() * 2 > self.bundle.len();
            Engine::Compile { compiler: Box::new(Compiler::new(self.comparator.clone())), plans }
        };
        self.teach_again(self.bundle.iter().map(|(_, sample)| sample.clone()).collect(), aim)
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
                Opinion { said, part: None, expected, inner: inner.map_or(Inner::Nothing, Inner::Class) }
            }
            Engine::Tag { extractor } => {
                let reading = extractor.meet(input);
                let said = extractor.answer(input, &reading);
                let expected = said.as_ref().map_or(0.0, |_| extractor.choice().expects(reading.trust));
                Opinion { said, part: None, expected, inner: Inner::Reading(reading) }
            }
            Engine::Compile { compiler, plans } => {
                let (answer, part) = compiler.artifact().map_or((None, None), |made| says(made, input));
                let said = if *plans { answer.as_ref().and_then(plan::unflat) } else { answer };
                Opinion { said, part: part.filter(|_| !*plans), ..Opinion::default() }
            }
            Engine::Given { given } => {
                let (said, part) = says(&given.artifact, input);
                Opinion { said, part, ..Opinion::default() }
            }
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
                if learner.answers() == 1 && learner.taught() >= CONSTANT {
                    return self.compile_instead(aim);
                }
                let attempt = version.then(|| classified(learner));
                Learned { attempt, version, replay: learner.replay().filter(|_| version) }
            }
            Engine::Tag { extractor } => {
                let Inner::Reading(reading) = &opinion.inner else { return Learned::default() };
                let told = (sample.input.as_str(), &sample.output);
                let version = extractor.learn(told, reading, &self.comparator, aim);
                Learned { attempt: version.then(|| tagged(extractor)), version, replay: None }
            }
            Engine::Compile { compiler, .. } if contradicts(compiler, &sample) => {
                let known = compiler.samples().cloned().collect();
                self.classify_instead(sample, known, aim)
            }
            Engine::Compile { compiler, plans } => {
                let (comparator, open) =
                    (compiler.comparator(), compiler.artifact().map(|made| made.program.open()));
                let known = match (&opinion.said, &opinion.part) {
                    (Some(said), _) => comparator.agree(said, &sample.output),
                    (None, Some(part)) => {
                        agrees_in_part(part, open.unwrap_or_default(), &sample.output, comparator)
                    }
                    (None, None) => false,
                };
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
                // A program that leaves fields open does not answer by itself; what finds them all is better. What once answered
                // goes on.
                let is_first = compiler.version() <= 1;
                if !*plans && is_first && compiler.artifact().is_none_or(leaves_fields) {
                    let samples = compiler.samples().cloned().collect();
                    return self.tag_instead(samples, attempt, version, aim);
                }
                Learned { attempt: Some(attempt), version, replay: None }
            }
        }
    }

    /// Has the compiler make a constant of what has had one answer so far.
    fn compile_instead(&mut self, aim: Aim) -> Learned {
        let compiler = Box::new(Compiler::new(self.comparator.clone()));
        self.engine = Engine::Compile { compiler, plans: false };
        let samples = self.bundle.iter().map(|(_, sample)| sample.clone()).collect();
        let attempt = self.teach_again(samples, aim);
        Learned { version: attempt.as_ref().is_some_and(|made| made.answers), attempt, replay: None }
    }

    /// Has a classifier learn what was a constant, until `sample` was answered otherwise. It comes first, so that there are two answers from
    /// the beginning.
    fn classify_instead(&mut self, sample: Sample, known: Vec<Sample>, aim: Aim) -> Learned {
        self.engine = Engine::Classify { learner: Box::default() };
        let samples = std::iter::once(sample).chain(known).collect();
        Learned { attempt: self.teach_again(samples, aim), version: true, replay: None }
    }

    /// Teaches samples to an engine that has just begun, and says what it tried last.
    fn teach_again(&mut self, samples: Vec<Sample>, aim: Aim) -> Option<Attempt> {
        let mut last = None;
        for sample in samples {
            let opinion = self.meet(&sample.input);
            last = self.teach(sample, &opinion, aim).attempt.or(last);
        }
        last
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
            let agreed = match says(&artifact, &sample.input) {
                (Some(said), _) => self.comparator.agree(&said, &sample.output),
                (None, Some(part)) => {
                    agrees_in_part(&part, artifact.program.open(), &sample.output, &self.comparator)
                }
                (None, None) => continue,
            };
            answered += 1;
            right += usize::from(agreed);
        }
        (answered, right)
    }

    /// The names of the fields that the version in force leaves open.
    #[must_use]
    pub fn open(&self) -> Vec<String> {
        self.open_fields().iter().map(|open| open.name.clone()).collect()
    }

    /// Whether somebody else could tell all of them.
    #[must_use]
    pub fn can_be_completed(&self) -> bool {
        self.open_fields().iter().all(Open::can_be_told)
    }

    fn open_fields(&self) -> &[Open] {
        match &self.engine {
            Engine::Compile { compiler, plans: false } => {
                compiler.artifact().map(|made| made.program.open()).unwrap_or_default()
            }
            Engine::Given { given } => given.open(),
            Engine::Compile { plans: true, .. }
            | Engine::Waiting
            | Engine::Classify { .. }
            | Engine::Tag { .. } => &[],
        }
    }

    /// The runs of the lessons that are kept, oldest first.
    pub fn bundle(&self) -> impl Iterator<Item = RunId> {
        self.bundle.iter().map(|(run, _)| *run)
    }
}

/// What a program says: all of an answer, or a part in which fields are open.
fn says(made: &Artifact, input: &str) -> (Option<Value>, Option<Map<String, Value>>) {
    match made.answer(&Input::new(input)) {
        Outcome::Answer(value) => (Some(value), None),
        Outcome::Partial(part, _) if !made.program.open().is_empty() => (None, Some(part)),
        Outcome::Partial(..) | Outcome::Abstain(_) => (None, None),
    }
}

/// Whether an answer may be one of a few that come again and again.
fn is_label(answer: &Value) -> bool {
    answer.as_str().is_some_and(|text| text.len() <= LONGEST_LABEL)
}

/// Whether what was always answered with one label is now answered with another.
fn contradicts(compiler: &Compiler, sample: &Sample) -> bool {
    match compiler.artifact().map(|made| &made.program) {
        Some(Program::Constant { value }) => {
            is_label(value) && is_label(&sample.output) && !compiler.comparator().agree(value, &sample.output)
        }
        _ => false,
    }
}

fn value_of(label: &str) -> Value {
    serde_json::from_str(label).unwrap_or_else(|_| Value::from(label))
}

/// Whether a program says only a part of each answer.
fn leaves_fields(made: &Artifact) -> bool {
    !made.program.open().is_empty()
}
