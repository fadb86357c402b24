//! What a scan reports, and how reports that overlap become one.
//!
//! Findings are in order and disjoint. Two that overlap become one that covers both and carries the class and rule of the more serious
//! one: nothing that any rule objects to is left standing. A finding is at most [`MAX_MATCH`] bytes long, so that a chain of overlaps
//! cannot be held back for ever.

use std::cmp::Reverse;
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

use crate::detector::{Class, LOOK_AHEAD, LOOK_BEHIND};

/// How long one finding can be.
pub const MAX_MATCH: usize = LOOK_BEHIND + LOOK_AHEAD;

/// Something that was found in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Where, in bytes from the beginning of the stream, on character boundaries.
    pub range: Range<usize>,
    /// What it is.
    pub class: Class,
    /// The name of the rule, or of the tenant's pattern or dictionary.
    pub rule: Rule,
    /// How it was written, when not plainly; the range is then the whole encoded run.
    pub encoding: Option<Encoding>,
}

impl Finding {
    /// All of a text, as a secret.
    pub(crate) fn whole(text: &str) -> Self {
        Self { range: 0..text.len(), class: Class::Secret, rule: Rule::BuiltIn("unread"), encoding: None }
    }
}

/// The name of what found something.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Rule {
    /// A rule that is built in.
    BuiltIn(&'static str),
    /// A pattern or dictionary of a tenant.
    Named(Arc<str>),
}

impl Deref for Rule {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::BuiltIn(name) => name,
            Self::Named(name) => name,
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

/// How something was written that was found in another form than its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Base64, in either alphabet.
    Base64,
    /// Hexadecimal.
    Hex,
    /// Percent signs, as in addresses.
    Url,
    /// Escapes of JSON and of programming languages.
    Escaped,
    /// With characters between its own: spaces, dashes, dots, or some that cannot be seen.
    Spaced,
    /// Back to front.
    Reversed,
    /// Each letter thirteen places on.
    Rot13,
}

/// A report that may still be joined with others.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) range: Range<usize>,
    pub(crate) class: Class,
    pub(crate) rule: Rule,
    pub(crate) encoding: Option<Encoding>,
}

impl Candidate {
    /// Takes in `other`, which overlaps.
    fn join(&mut self, other: Self) {
        let range = self.range.start.min(other.range.start)..self.range.end.max(other.range.end);
        let serious = |candidate: &Self| (candidate.class.rank(), candidate.range.len());
        if serious(&other) > serious(self) {
            *self = other;
        }
        self.range = range;
    }
}

/// Reports on their way to becoming findings, by where they begin.
#[derive(Debug, Default)]
pub(crate) struct Candidates(Vec<Candidate>);

impl Candidates {
    pub(crate) fn add(&mut self, candidate: Candidate) {
        // Among those that begin at the same place the longest comes first, and then the order cannot depend on when they were told.
        fn key(candidate: &Candidate) -> (usize, Reverse<usize>, Reverse<u8>, Class, &str, Option<u8>) {
            let Candidate { range, class, rule, encoding } = candidate;
            let encoding = encoding.map(|encoding| encoding as u8);
            (range.start, Reverse(range.end), Reverse(class.rank()), *class, rule, encoding)
        }
        let place = self.0.partition_point(|held| key(held) <= key(&candidate));
        self.0.insert(place, candidate);
    }

    /// Where the first one begins.
    pub(crate) fn begin(&self) -> Option<usize> {
        self.0.first().map(|candidate| candidate.range.start)
    }

    /// Reports what is complete, given that no candidate will come that begins before `low`.
    pub(crate) fn settle(&mut self, low: usize, found: &mut Vec<Finding>) {
        while let Some((first, rest)) = self.0.split_first() {
            let mut joined = first.clone();
            let mut taken = 1;
            for next in rest {
                let end = joined.range.end.max(next.range.end);
                if next.range.start >= joined.range.end || end - joined.range.start > MAX_MATCH {
                    break;
                }
                joined.join(next.clone());
                taken += 1;
            }
            if joined.range.end > low {
                return;
            }
            self.0.drain(..taken);
            // What would have made it too long goes on behind it.
            let end = joined.range.end;
            let cut: Vec<Candidate> = self.0.extract_if(.., |next| next.range.start < end).collect();
            for mut next in cut {
                next.range.start = end;
                if !next.range.is_empty() {
                    self.add(next);
                }
            }
            found.push(Finding {
                range: joined.range,
                class: joined.class,
                rule: joined.rule,
                encoding: joined.encoding,
            });
        }
    }
}
