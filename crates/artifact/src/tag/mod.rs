//! A tagger: which words of a text belong to which field, and how sure that is, span by span.
//!
//! One linear score per tag and word, from left to right; the tag before is part of what is seen. A span is the words of one
//! field in a row. Start at [`Tagger::spans`]; `whole.rs` says whether the spans of a text are all of its answer, `weights.rs` keeps
//! the scores small.

mod features;
mod layout;
mod weights;
mod whole;

pub use features::{FEATURES, features};
pub use layout::Layout;
pub use weights::Weights;
pub use whole::{Reading, UNKNOWN, WHOLE_EVIDENCE, Whole, WholeEvidence, together_hash};

use serde::{Deserialize, Serialize};

use crate::classify::weigh;
use crate::text::{Word, stable_hash, words};

/// How many things are weighed into the trust in one span.
pub const EVIDENCE: usize = 12;

/// What is weighed into the trust in one span.
pub type Evidence = [f32; EVIDENCE];

/// A tagger as data. Tag 0 is no field; field `f` begins with tag `2f + 1` and goes on with `2f + 2`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tagger {
    /// The names of the fields.
    pub fields: Vec<String>,
    /// Weights by feature bucket, then tag.
    pub weights: Weights,
    /// Values that were seen: hash of field and value, sorted, with how often they were right and wrong.
    pub values: Vec<(u64, u32, u32)>,
    /// Per field, how much worse than its evidence it did, as a logarithm.
    pub standing: Vec<f32>,
    /// How the evidence is weighed; the constant comes last.
    pub trust: Vec<f32>,
    /// Below this trust a span is not told. `None`: none is.
    pub threshold: Option<f32>,
    /// What is known of whole answers, where spans are not told one by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<Whole>,
}

/// A tagger with more fields finds none.
pub const MOST_FIELDS: usize = 64;

/// Where [`Evidence`] has what is asked for again.
mod place {
    pub(super) const WEAKEST: usize = 3;
    pub(super) const RIGHT: usize = 6;
    pub(super) const WRONG: usize = 7;
    pub(super) const STANDING: usize = 9;
    pub(super) const TWICE: usize = 11;
}

/// Words that were found to be the value of a field.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// The field.
    pub field: u32,
    /// Where it begins and ends in the text, in bytes.
    pub start: usize,
    /// The end.
    pub end: usize,
    /// What speaks for it.
    pub evidence: Evidence,
    /// All of it weighed.
    pub trust: f32,
}

/// The hash a value of a field is known by.
#[must_use]
pub fn value_hash(field: u32, value: &str) -> u64 {
    stable_hash(u64::from(field) + 100, value.to_lowercase().as_bytes())
}

impl Tagger {
    /// How many tags there are.
    #[must_use]
    pub const fn tags(&self) -> usize {
        2 * self.fields.len() + 1
    }

    /// The scores of every tag for a word with these feature buckets.
    pub fn score(&self, buckets: &[u32], scores: &mut Vec<f32>) {
        let tags = self.tags();
        scores.clear();
        scores.resize(tags, 0.0);
        for bucket in buckets {
            self.weights.add(*bucket, scores);
        }
    }

    /// The fields that are found in `text`, sure or not.
    #[must_use]
    pub fn spans(&self, text: &str) -> Vec<Span> {
        let (words, tagged) = self.tagged(text);
        self.gathered(text, &words, &tagged)
    }

    /// The words of `text`, each with its tag and how far that is ahead of the next.
    fn tagged(&self, text: &str) -> (Vec<Word>, Vec<(usize, f32)>) {
        if self.fields.is_empty() || self.fields.len() > MOST_FIELDS {
            return (Vec::new(), Vec::new());
        }
        let words = words(text);
        let (mut scores, mut buckets) = (Vec::new(), Vec::new());
        let mut tagged: Vec<(usize, f32)> = Vec::with_capacity(words.len());
        let mut before = [0_usize; 2];
        for at in 0..words.len() {
            features(&words, text, at, before, &mut buckets);
            self.score(&buckets, &mut scores);
            let (tag, margin) = best(&scores, before[1]);
            tagged.push((tag, margin));
            before = [before[1], tag];
        }
        (words, tagged)
    }

    /// Words of one field in a row are one span.
    fn gathered(&self, text: &str, words: &[Word], tagged: &[(usize, f32)]) -> Vec<Span> {
        let mut spans = Vec::new();
        let mut at = 0;
        while at < tagged.len() {
            let tag = tagged[at].0;
            if tag == 0 {
                at += 1;
                continue;
            }
            let field = (tag - 1) / 2;
            let mut end = at + 1;
            while end < tagged.len() && tagged[end].0 == 2 * field + 2 {
                end += 1;
            }
            spans.push(self.span(field as u32, text, words, tagged, at, end));
            at = end;
        }
        let twice: Vec<u32> = spans.iter().map(|span| span.field).collect();
        for span in &mut spans {
            // A field found twice: one of the two is likely wrong.
            span.evidence[place::TWICE] =
                if twice.iter().filter(|field| **field == span.field).count() > 1 { 1.0 } else { 0.0 };
            span.trust = weigh(&self.trust, &span.evidence);
        }
        spans
    }

    fn span(
        &self,
        field: u32,
        text: &str,
        words: &[Word],
        tagged: &[(usize, f32)],
        from: usize,
        to: usize,
    ) -> Span {
        let margins = || tagged[from..to].iter().map(|(_, margin)| *margin);
        let inside = margins().fold(f32::MAX, f32::min);
        let after = tagged.get(to).map_or(4.0, |(_, margin)| *margin);
        let before = from.checked_sub(1).map_or(4.0, |at| tagged[at].1);
        let weakest = tagged.iter().map(|(_, margin)| *margin).fold(f32::MAX, f32::min);
        let (start, end) = (words[from].start, words[to - 1].end);
        let hash = value_hash(field, &text[start..end]);
        let (right, wrong) = self
            .values
            .binary_search_by_key(&hash, |(known, ..)| *known)
            .map_or((0, 0), |at| (self.values[at].1, self.values[at].2));
        let cap = |margin: f32| margin.clamp(0.0, 4.0);
        let evidence = [
            cap(inside),
            cap(after),
            cap(before),
            cap(inside.min(after).min(before)),
            cap(weakest),
            (to - from).min(8) as f32 / 4.0,
            (right.min(16) as f32 / 16.0).sqrt(),
            (wrong.min(16) as f32 / 16.0).sqrt(),
            if right > 0 { cap(inside.min(after).min(before)) } else { 0.0 },
            self.standing.get(field as usize).copied().unwrap_or(0.0),
            cap(margins().sum::<f32>() / (to - from) as f32),
            0.0,
        ];
        Span { field, start, end, evidence, trust: 0.0 }
    }

    /// Whether `span` is above the threshold.
    #[must_use]
    pub fn is_sure(&self, span: &Span) -> bool {
        self.threshold.is_some_and(|least| span.trust >= least)
    }
}

/// The best tag that may follow `before`, and how far it is ahead of the next.
#[must_use]
pub fn best(scores: &[f32], before: usize) -> (usize, f32) {
    let (mut first, mut second) = ((0, f32::MIN), f32::MIN);
    for (tag, score) in scores.iter().enumerate() {
        // A field goes on only where it began.
        let goes_on = tag > 0 && tag % 2 == 0;
        if goes_on && before != tag && before + 1 != tag {
            continue;
        }
        if *score > first.1 {
            second = first.1;
            first = (tag, *score);
        } else if *score > second {
            second = *score;
        }
    }
    (first.0, first.1 - second.max(first.1 - 100.0))
}
