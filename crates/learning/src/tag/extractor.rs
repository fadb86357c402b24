//! The learner of whole answers that are made of pieces of their text: a tagger, and when all of what it finds is all there is.
//!
//! Each reading is recorded as it was before live's answer was known. It is compared as a whole, with the answer that live gave, also
//! where that answer cannot be aligned and nothing is learned from it: what a tagger cannot learn it must not be sure of.

use std::collections::{BTreeMap, VecDeque};

use artifact::classify::weigh;
use artifact::normal::Read;
use artifact::program::Program;
use artifact::tag::{Layout, Reading, UNKNOWN, Whole, WholeEvidence, together_hash};
use artifact::text::words;
use artifact::word_hash;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::align::{align, layout};
use super::{Gold, TagLearner};
use crate::classify::logistic;
use crate::comparator::Comparator;
use crate::synthesis::Sample;
use crate::threshold::{Aim, Choice, Compared, Steering, choose};

/// The learner's state, and the version in force.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Extractor {
    learner: TagLearner,
    /// What becomes of the pieces.
    layout: Layout,
    /// What was thought of whole texts, whether it was right, and for how many requests each stands.
    seen: VecDeque<(WholeEvidence, bool, f32)>,
    recent: VecDeque<WholeEvidence>,
    /// Whole answers since the last one that was compared.
    unheard: f32,
    choice: Choice,
    steering: Steering,
    aligned: u64,
    /// Why answers could not be aligned, and how often.
    unaligned: BTreeMap<String, u64>,
}

const MOST_SEEN: usize = 3072;
const MOST_RECENT: usize = 1024;
const MOST_REASONS: usize = 32;
/// No comparison stands for more requests.
const MOST_STOOD_FOR: f32 = 4.0;
/// The part of the promise that serving uses: this trust is fitted on the very answers that it is judged by.
const ROOM: f64 = 0.8;
/// An answer that is itself as likely to differ as one in twenty is not given, however right all others are: where nearly everything is
/// right, the few that are strange do not show in the mean.
const LEAST_TRUST: f32 = 3.0;
/// What is right of the newest comparisons says how strange a text may be.
const NEWEST: usize = 512;
/// The share of answers that have to be made of pieces of their text for a tagger to be tried.
const LEAST_ALIGNED: f64 = 0.6;

impl Extractor {
    /// One for answers like these, oldest first, which it has not learned yet; or why a tagger would be of no use, line by line.
    ///
    /// # Errors
    /// Too few of the answers are made of pieces of their inputs.
    pub fn for_answers_like(samples: &[Sample], comparator: &Comparator) -> Result<Self, Vec<String>> {
        let mut tried = Self { layout: layout(samples), ..Self::default() };
        let mut pieces = 0;
        for Sample { input, output } in samples {
            pieces += tried.aligned(input, output, comparator).map_or(0, |gold| gold.len());
        }
        if pieces == 0 || (tried.aligned as f64) < LEAST_ALIGNED * samples.len() as f64 {
            return Err(tried.alignment());
        }
        Ok(Self { layout: tried.layout, ..Self::default() })
    }

    /// What the version in force makes of `text`. Every request is told, so that it knows what is common.
    pub fn meet(&mut self, text: &str) -> Reading {
        let reading = self.learner.read(text);
        if reading.spans.is_empty() {
            return reading;
        }
        if self.learner.tagger().is_whole(&reading) {
            self.unheard += 1.0;
        }
        self.recent.push_back(reading.evidence);
        if self.recent.len() > MOST_RECENT {
            self.recent.pop_front();
        }
        reading
    }

    /// The answer that `reading` of `text` makes, if it is sure of all of it.
    #[must_use]
    pub fn answer(&self, text: &str, reading: &Reading) -> Option<Value> {
        self.put_together(text, reading).filter(|_| self.learner.tagger().is_whole(reading))
    }

    /// Learns that live answered `live` to `text`, of which the version in force had made `reading`. Says whether there is a new version.
    pub fn learn(
        &mut self,
        (text, live): (&str, &Value),
        reading: &Reading,
        comparator: &Comparator,
        aim: Aim,
    ) -> bool {
        if !reading.spans.is_empty() {
            let said = self.put_together(text, reading);
            self.compared(reading, said.is_some_and(|said| comparator.agree(&said, live)));
        }
        let Some(gold) = self.aligned(text, live, comparator) else { return false };
        for span in &reading.spans {
            let agreed = self.learner.agrees(span, &gold);
            self.learner.compared(text, span, agreed);
        }
        let is_new = self.learner.learn(text, &gold, aim);
        if is_new {
            self.make_version(aim);
        }
        is_new
    }

    /// The version in force.
    #[must_use]
    pub fn program(&self) -> Program {
        Program::Tag { tagger: Box::new(self.learner.tagger().clone()), layout: self.layout.clone() }
    }

    /// How many versions there were.
    #[must_use]
    pub const fn version(&self) -> u32 {
        self.learner.version()
    }

    /// The fields that it looks for.
    #[must_use]
    pub fn fields(&self) -> &[String] {
        &self.learner.tagger().fields
    }

    /// Why the version in force stops answering where it does.
    #[must_use]
    pub const fn choice(&self) -> &Choice {
        &self.choice
    }

    /// How many samples it has.
    #[must_use]
    pub fn sample_count(&self) -> usize {
        self.learner.samples().len()
    }

    /// How many answers were made of pieces of their inputs, and why the others were not, line by line.
    #[must_use]
    pub fn alignment(&self) -> Vec<String> {
        let all = self.aligned + self.unaligned.values().sum::<u64>();
        let mut lines = vec![format!("{} of {all} answers are made of pieces of their inputs", self.aligned)];
        let reads = self.layout.reads.iter();
        lines.extend(reads.map(|(field, read)| format!("{field}: read as {}", word(*read))));
        let otherwise = self.layout.otherwise.iter();
        lines.extend(otherwise.map(|(field, value)| format!("{field}: {value} where nothing is found")));
        lines.extend(self.unaligned.iter().map(|(why, times)| format!("{why}, {times} times")));
        lines
    }

    fn aligned(&mut self, text: &str, live: &Value, comparator: &Comparator) -> Option<Vec<Gold>> {
        match align(text, live, &self.layout, comparator) {
            Ok(gold) => {
                self.aligned += 1;
                Some(gold)
            }
            Err(why) => {
                let why = why.to_string();
                if self.unaligned.len() < MOST_REASONS || self.unaligned.contains_key(&why) {
                    *self.unaligned.entry(why).or_default() += 1;
                }
                None
            }
        }
    }

    fn put_together(&self, text: &str, reading: &Reading) -> Option<Value> {
        let fields = self.fields();
        let pieces = reading.spans.iter().filter_map(|span| {
            Some((fields.get(span.field as usize)?.as_str(), text.get(span.start..span.end)?))
        });
        self.layout.object(pieces).map(Value::Object)
    }

    fn compared(&mut self, reading: &Reading, agreed: bool) {
        let mut stands_for = 1.0;
        if self.learner.tagger().is_whole(reading) {
            self.steering.compared(&self.choice, agreed);
            stands_for = std::mem::take(&mut self.unheard).clamp(1.0, MOST_STOOD_FOR);
        }
        self.seen.push_back((reading.evidence, agreed, stands_for));
        if self.seen.len() > MOST_SEEN {
            self.seen.pop_front();
        }
    }

    fn make_version(&mut self, aim: Aim) {
        let rows = self.seen.make_contiguous();
        let before =
            self.learner.tagger().whole.as_ref().map(|whole| whole.trust.clone()).unwrap_or_default();
        let trust = logistic::fit(rows, &before);
        let compared = Compared::weighed(rows, &trust);
        let recent = self.recent.iter().map(|evidence| weigh(&trust, evidence)).collect();
        self.choice = choose(&compared, recent, aim.within(ROOM), self.steering.inflation());
        self.choice.threshold = self.choice.threshold.map(|least| least.max(LEAST_TRUST));
        let right = rows.iter().rev().take(NEWEST).filter(|(_, agreed, _)| *agreed);
        let strangest = right.map(|(evidence, ..)| evidence[UNKNOWN]).fold(0.0, f32::max);
        let most_unknown = strangest * 1.25 + 0.02;
        let (known, together) = self.met_before();
        let threshold = self.choice.threshold;
        self.learner.know_whole(Whole { known, most_unknown, together, trust, threshold });
    }

    /// The words that were outside of every field, and the fields that were found together.
    fn met_before(&self) -> (Vec<u64>, Vec<(u64, u32)>) {
        let (mut known, mut together) = (Vec::new(), BTreeMap::<u64, u32>::new());
        for (text, gold) in self.learner.samples() {
            let is_inside = |at: usize| gold.iter().any(|one| one.start <= at && at < one.end);
            known.extend(
                words(text).iter().filter(|word| !is_inside(word.start)).map(|word| word_hash(&word.text)),
            );
            let place = |one: &Gold| self.fields().iter().position(|field| *field == one.field);
            let fields = gold.iter().filter_map(place).map(|field| field as u32);
            *together.entry(together_hash(fields)).or_default() += 1;
        }
        known.sort_unstable();
        known.dedup();
        (known, together.into_iter().collect())
    }
}

const fn word(read: Read) -> &'static str {
    match read {
        Read::Text => "it is",
        Read::Lower => "lower case",
        Read::Upper => "upper case",
        Read::Number => "a number",
        Read::Amount => "an amount",
        Read::Currency => "a currency",
        Read::Date => "a date",
    }
}
