//! What is remembered of each try, for the ledger and for whoever asks why.

use super::fault::Fault;
use super::target::Target;
use std::sync::Arc;
use std::time::Duration;

/// One try of a call, or one target that was passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The upstream's name.
    pub upstream: Arc<str>,
    /// The model's name there.
    pub model: Arc<str>,
    /// Which of the upstream's keys, from 0. Nothing, when it has none or was not asked.
    pub key: Option<usize>,
    /// What came of it.
    pub outcome: Outcome,
    /// When it began, in milliseconds since the call began.
    pub started_ms: u64,
    /// How many milliseconds passed until its answer began, or failed to.
    pub took_ms: u64,
    /// Why it was a failure. Another try may have followed, and then this is why.
    pub fault: Option<Fault>,
}

/// What came of a try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// An answer with this status.
    Status(u16),
    /// No answer: the name of an [`UpstreamError`](super::UpstreamError).
    Error(&'static str),
    /// It was not made.
    Skipped(Skipped),
    /// It was on its way when its caller went away.
    Unfinished,
}

/// Why a target was passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Skipped {
    /// The upstream is being left alone after its failures.
    Open,
    /// The upstream has had its share of repetitions.
    Budget,
    /// The request cannot be put to this target, for this reason.
    Unfit(String),
    /// Its key is not to be had, for this reason.
    NoKey(String),
}

impl Attempt {
    pub(super) fn begun(target: &Target, key: usize, started: Duration) -> Self {
        let key = (target.upstream.keys.count() > 0).then_some(key);
        Self { key, ..Self::new(target, Outcome::Unfinished, started) }
    }

    pub(super) fn skipped(target: &Target, skipped: Skipped, started: Duration) -> Self {
        Self::new(target, Outcome::Skipped(skipped), started)
    }

    fn new(target: &Target, outcome: Outcome, started: Duration) -> Self {
        Self {
            upstream: Arc::clone(&target.upstream.name),
            model: Arc::clone(&target.model),
            key: None,
            outcome,
            started_ms: millis(started),
            took_ms: 0,
            fault: None,
        }
    }

    pub(super) fn ended(&mut self, outcome: Outcome, took: Duration) {
        self.outcome = outcome;
        self.took_ms = millis(took);
    }

    /// Whether the upstream was asked.
    #[must_use]
    pub fn was_sent(&self) -> bool {
        !matches!(self.outcome, Outcome::Skipped(_))
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Status(status) => write!(f, "status {status}"),
            Self::Error(name) => f.write_str(name),
            Self::Skipped(Skipped::Open) => f.write_str("skipped: open"),
            Self::Skipped(Skipped::Budget) => f.write_str("skipped: retry budget"),
            Self::Skipped(Skipped::Unfit(reason)) => write!(f, "skipped: {reason}"),
            Self::Skipped(Skipped::NoKey(reason)) => write!(f, "skipped: no key: {reason}"),
            Self::Unfinished => f.write_str("unfinished"),
        }
    }
}

impl std::fmt::Display for Attempt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}: {}", self.upstream, self.model, self.outcome)
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
