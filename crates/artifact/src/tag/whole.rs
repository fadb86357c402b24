//! Whether what a tagger finds in a text is all that there is, and nothing else: an answer is given whole or not at all.
//!
//! That every span is sure says nothing of the ones that were not found. What speaks of those is weighed here: words that
//! nearly belonged to a field, words that were never met outside of one, fields that were never found together.

use serde::{Deserialize, Serialize};

use super::{Span, Tagger, place};
use crate::classify::weigh;
use crate::packed;
use crate::text::{MOST_WORDS, Word, stable_hash};
use crate::word_hash;

/// How many things are weighed into the trust in a whole answer.
pub const WHOLE_EVIDENCE: usize = 12;

/// What is weighed into the trust in a whole answer.
pub type WholeEvidence = [f32; WHOLE_EVIDENCE];

/// Where [`WholeEvidence`] has the share of words that are in no field and not known.
pub const UNKNOWN: usize = 4;

/// What is known of whole answers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Whole {
    /// Hashes of the words that were met outside of every field, sorted.
    #[serde(with = "packed::hashes")]
    pub known: Vec<u64>,
    /// The largest share of words that may be in no field and not be known.
    pub most_unknown: f32,
    /// Hashes of the fields that were found together, sorted, with how often they were.
    pub together: Vec<(u64, u32)>,
    /// How the evidence is weighed; the constant comes last.
    pub trust: Vec<f32>,
    /// Below this trust there is no answer. `None`: there is never one.
    pub threshold: Option<f32>,
}

/// What a tagger makes of a text as a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The fields that it finds, sure or not.
    pub spans: Vec<Span>,
    /// What speaks for these and no others.
    pub evidence: WholeEvidence,
    /// All of it weighed.
    pub trust: f32,
    /// Whether live has found just these fields before, in texts with as many words that belong to none and are not known; and all of
    /// the text was looked at.
    pub is_familiar: bool,
}

/// The hash that fields found together are known by, however often each and in whatever order.
#[must_use]
pub fn together_hash(fields: impl Iterator<Item = u32>) -> u64 {
    let mut fields: Vec<u32> = fields.collect();
    fields.sort_unstable();
    fields.dedup();
    fields.iter().fold(7, |hash, field| stable_hash(hash, &field.to_le_bytes()))
}

impl Tagger {
    /// What it finds in `text`, and whether that is all.
    #[must_use]
    pub fn read(&self, text: &str) -> Reading {
        let (words, tagged) = self.tagged(text);
        let spans = self.gathered(text, &words, &tagged);
        let none = Whole::default();
        let whole = self.whole.as_ref().unwrap_or(&none);
        let hash = together_hash(spans.iter().map(|span| span.field));
        let times = whole.together.binary_search_by_key(&hash, |(known, _)| *known);
        let times = times.map_or(0, |at| whole.together[at].1);
        let evidence = whole.evidence(&words, &tagged, &spans, times);
        Reading {
            trust: weigh(&whole.trust, &evidence),
            is_familiar: times > 0 && evidence[UNKNOWN] <= whole.most_unknown && words.len() < MOST_WORDS,
            spans,
            evidence,
        }
    }

    /// Whether the whole of `reading` is an answer: every span is sure, and nothing suggests that one is missing.
    #[must_use]
    pub fn is_whole(&self, reading: &Reading) -> bool {
        let least = self.whole.as_ref().and_then(|whole| whole.threshold);
        !reading.spans.is_empty()
            && reading.is_familiar
            && reading.spans.iter().all(|span| self.is_sure(span))
            && least.is_some_and(|least| reading.trust >= least)
    }
}

impl Whole {
    fn evidence(&self, words: &[Word], tagged: &[(usize, f32)], spans: &[Span], times: u32) -> WholeEvidence {
        let cap = |margin: f32| margin.clamp(0.0, 4.0);
        let least = |margins: &mut dyn Iterator<Item = f32>| cap(margins.fold(4.0, f32::min));
        let of_spans = |at: usize| spans.iter().map(move |span| span.evidence[at]);
        let outside = || words.iter().zip(tagged).filter(|(_, (tag, _))| *tag == 0);
        let strangers =
            outside().filter(|(word, _)| self.known.binary_search(&word_hash(&word.text)).is_err()).count();
        let count = words.len().max(1) as f32;
        let seen_before = of_spans(place::RIGHT).filter(|right| *right > 0.0).count();
        [
            least(&mut of_spans(place::WEAKEST)),
            least(&mut tagged.iter().map(|(_, margin)| *margin)),
            least(&mut outside().map(|(_, (_, margin))| *margin)),
            cap(tagged.iter().map(|(_, margin)| margin.min(4.0)).sum::<f32>() / count),
            strangers as f32 / count,
            strangers.min(4) as f32 / 4.0,
            (times.min(64) as f32 / 64.0).sqrt(),
            spans.len().min(8) as f32 / 4.0,
            of_spans(place::WRONG).fold(0.0, f32::max),
            seen_before as f32 / spans.len().max(1) as f32,
            of_spans(place::STANDING).fold(0.0, f32::max),
            of_spans(place::TWICE).fold(0.0, f32::max),
        ]
    }
}
