//! Everything that is looked for, made once and shared by all streams.

use std::fmt;
use std::sync::Arc;

use crate::builder::Builder;
use crate::canary::Canaries;
use crate::custom::Pattern;
use crate::detector::{Detector, Digits, Sight, View};
use crate::dictionary::Phrase;
use crate::encoded::{self, DEEPEST};
use crate::finding::Finding;
use crate::known::Spelling;
use crate::scan::{Scan, Seen};
use crate::secret::{self, PREFIXES};
use crate::stream::Stream;
use crate::words::Words;

/// What is looked for. Immutable; streams share it.
pub struct Detectors {
    pub(crate) words: Words<Job>,
    pub(crate) known: Vec<Spelling>,
    pub(crate) phrases: Vec<Phrase>,
    pub(crate) patterns: Vec<Pattern>,
    pub(crate) canaries: Option<Canaries>,
    pub(crate) detectors: Vec<Detector>,
    pub(crate) digits: Vec<(Job, MayBe)>,
    /// Who looks at a byte, for each of them.
    pub(crate) bytes: Box<[Vec<Job>; 256]>,
    /// Whether runs of token characters are looked at.
    pub(crate) secrets: bool,
}

/// Whether a look at a number is worth it.
pub(crate) type MayBe = fn(Digits) -> bool;

/// Who looks at a place.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Job {
    /// A detector, by its index.
    Detector(u16),
    /// Whoever looks at runs of token characters.
    Run { length: u16 },
    /// Whoever undoes percent signs and escapes.
    Escaped,
    /// Tokens with a known beginning, by its number.
    Prefix(u16),
    /// Values that are called a password.
    Password,
    /// A value that is known to be secret, by the number of its spelling.
    Known(u32),
    /// An entry of a dictionary, by its number.
    Phrase(u32),
}

/// What is looked for can itself be secret.
impl fmt::Debug for Detectors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Detectors").finish_non_exhaustive()
    }
}

impl Detectors {
    /// Begins a set; it looks for all that is built in until told otherwise.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// What is in `text`.
    pub fn find(&self, text: &str) -> Vec<Finding> {
        let mut found = Vec::new();
        let mut scan = Scan::new(self, 0);
        scan.push(self, text, &mut found);
        scan.finish(self, &mut found);
        found
    }

    /// A scan of text that comes in pieces.
    pub fn stream(self: &Arc<Self>) -> Stream {
        Stream::new(Arc::clone(self))
    }

    pub(crate) fn look(&self, job: Job, view: View<'_>, depth: u8) -> Seen {
        match job {
            Job::Detector(index) => (self.detectors[usize::from(index)].look)(view).into(),
            Job::Run { length } => self.look_at_run(view, usize::from(length), depth),
            Job::Escaped => encoded::look_at_word(self, view, depth),
            Job::Prefix(number) => secret::look_at_prefix(&PREFIXES[usize::from(number)], view).into(),
            Job::Password => secret::look_at_password(view).into(),
            Job::Known(number) => self.known[number as usize].look(view),
            Job::Phrase(number) => self.phrases[number as usize].look(view),
        }
    }

    /// What is in a run of token characters, and what it is by itself.
    fn look_at_run(&self, view: View<'_>, length: usize, depth: u8) -> Seen {
        if secret::reads_plainly(&view.text[view.at..view.at + length]) {
            return Seen::Nothing;
        }
        let (inside, readable) = if depth < DEEPEST {
            encoded::look_at_run(self, view, length, depth)
        } else {
            (Vec::new(), false)
        };
        if !inside.is_empty() {
            return Seen::Found(inside);
        }
        if !self.secrets {
            return Seen::Nothing;
        }
        match secret::look_at_run(view, length) {
            // What can be read and holds no secret is none, unless it is called one.
            Sight::Found { rule, .. } if readable && !rule.starts_with("named") => Seen::Nothing,
            sight => sight.into(),
        }
    }
}
