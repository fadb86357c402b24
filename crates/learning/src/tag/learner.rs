//! The learner of one tagger: spans first, what live found after, a new version when enough is new.

use std::collections::{BTreeMap, VecDeque};

use artifact::classify::weigh;
use artifact::tag::{Evidence, MOST_FIELDS, Reading, Span, Tagger, Whole, value_hash};
use artifact::text::words;
use serde::{Deserialize, Serialize};

use super::perceptron::Perceptron;
use crate::classify::{logistic, shuffle};
use crate::threshold::{Aim, Choice, Compared, Steering, choose};

/// A field that live found: its name and its place in the text, in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gold {
    /// The field.
    pub field: String,
    /// Where it begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// The learner's state, and the version in force.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TagLearner {
    samples: Vec<(String, Vec<Gold>)>,
    oldest: usize,
    fields: Vec<String>,
    perceptron: Perceptron,
    #[serde(with = "counts")]
    values: BTreeMap<u64, (u32, u32)>,
    seen: VecDeque<(Evidence, u32, bool)>,
    recent: VecDeque<Evidence>,
    fresh: usize,
    /// How many samples there ever were.
    learned: usize,
    version: u32,
    tagger: Tagger,
    choice: Choice,
    steering: Steering,
}

const MOST_SAMPLES: usize = 8192;
const MOST_SEEN: usize = 6144;
const MOST_RECENT: usize = 2048;
const MOST_VALUES: usize = 1 << 16;
/// A version is made when one in so many of all that was ever learned is new; every sample is then learned again.
const GROWTH: usize = 8;
const FEWEST_FRESH: usize = 40;
const PASSES: u64 = 2;
/// The part of the promise that serving uses: unlike a classifier's, this trust is fitted on the very fields that it is judged by, and
/// says less of what is to come.
const ROOM: f64 = 0.8;

impl TagLearner {
    /// What the version in force finds in `text`.
    pub fn meet(&mut self, text: &str) -> Vec<Span> {
        let spans = self.tagger.spans(text);
        self.met(&spans);
        spans
    }

    /// [`meet`](Self::meet), as a whole.
    pub(super) fn read(&mut self, text: &str) -> Reading {
        let reading = self.tagger.read(text);
        self.met(&reading.spans);
        reading
    }

    fn met(&mut self, spans: &[Span]) {
        for span in spans {
            self.recent.push_back(span.evidence);
            if self.recent.len() > MOST_RECENT {
                self.recent.pop_front();
            }
        }
    }

    /// Whether live found what `span` says.
    #[must_use]
    pub fn agrees(&self, span: &Span, gold: &[Gold]) -> bool {
        let name = self.tagger.fields.get(span.field as usize);
        gold.iter().any(|gold| Some(&gold.field) == name && gold.start == span.start && gold.end == span.end)
    }

    /// A span of the version in force was compared with what live found.
    pub fn compared(&mut self, text: &str, span: &Span, agreed: bool) {
        if self.tagger.is_sure(span) {
            self.steering.compared(&self.choice, agreed);
        }
        self.seen.push_back((span.evidence, span.field, agreed));
        if self.seen.len() > MOST_SEEN {
            self.seen.pop_front();
        }
        if !agreed && let Some(value) = text.get(span.start..span.end) {
            self.count(value_hash(span.field, value), (0, 1));
        }
    }

    /// Learns what live found in `text`.
    pub fn learn(&mut self, text: &str, gold: &[Gold], aim: Aim) -> bool {
        for one in gold {
            if !self.fields.contains(&one.field) && self.fields.len() < MOST_FIELDS {
                self.fields.push(one.field.clone());
            }
            let field = self.fields.iter().position(|field| *field == one.field);
            if let (Some(field), Some(value)) = (field, text.get(one.start..one.end)) {
                self.count(value_hash(field as u32, value), (1, 0));
            }
        }
        self.perceptron.widen(2 * self.fields.len() + 1);
        self.practise(text, gold);
        let sample = (text.to_owned(), gold.to_vec());
        if self.samples.len() < MOST_SAMPLES {
            self.samples.push(sample);
        } else {
            self.samples[self.oldest] = sample;
            self.oldest = (self.oldest + 1) % MOST_SAMPLES;
        }
        self.fresh += 1;
        self.learned += 1;
        let due = self.fresh >= FEWEST_FRESH.max(self.learned / GROWTH) && !self.fields.is_empty();
        if due {
            self.make_version(aim);
        }
        due
    }

    /// The version in force.
    #[must_use]
    pub const fn tagger(&self) -> &Tagger {
        &self.tagger
    }

    /// How many versions there were.
    #[must_use]
    pub const fn version(&self) -> u32 {
        self.version
    }

    /// What it learns from.
    pub(super) fn samples(&self) -> &[(String, Vec<Gold>)] {
        &self.samples
    }

    /// What is known of whole answers now.
    pub(super) fn know_whole(&mut self, whole: Whole) {
        self.tagger.whole = Some(whole);
    }

    /// Why the version in force stops where it does.
    #[must_use]
    pub const fn choice(&self) -> &Choice {
        &self.choice
    }

    fn count(&mut self, hash: u64, add: (u32, u32)) {
        if self.values.len() < MOST_VALUES || self.values.contains_key(&hash) {
            let counts = self.values.entry(hash).or_default();
            *counts = (counts.0 + add.0, counts.1 + add.1);
        }
    }

    fn practise(&mut self, text: &str, gold: &[Gold]) {
        let words = words(text);
        let mut tags = vec![0; words.len()];
        for one in gold {
            let Some(field) = self.fields.iter().position(|field| *field == one.field) else { continue };
            let mut begun = false;
            for (word, tag) in words.iter().zip(&mut tags) {
                if word.start >= one.start && word.end <= one.end {
                    *tag = 2 * field + if begun { 2 } else { 1 };
                    begun = true;
                }
            }
        }
        self.perceptron.learn(text, &words, &tags);
    }

    fn make_version(&mut self, aim: Aim) {
        self.fresh = 0;
        self.version += 1;
        for pass in 0..PASSES {
            let mut order: Vec<usize> = (0..self.samples.len()).collect();
            shuffle(&mut order, u64::from(self.version) * PASSES + pass);
            for index in order {
                let (text, gold) = self.samples[index].clone();
                self.practise(&text, &gold);
            }
        }
        let mut standing = vec![(1.0_f64, 1.0_f64); self.fields.len()];
        let all =
            self.seen.iter().filter(|(.., agreed)| !agreed).count() as f64 / self.seen.len().max(1) as f64;
        for (_, field, agreed) in &self.seen {
            if let Some(one) = standing.get_mut(*field as usize) {
                one.0 += if *agreed { 0.0 } else { 1.0 };
                one.1 += all;
            }
        }
        let standing: Vec<f32> =
            standing.into_iter().map(|(seen, expected)| (seen / expected).ln() as f32).collect();
        let rows: Vec<(Evidence, bool, f32)> = self
            .seen
            .iter()
            .map(|(evidence, field, agreed)| {
                let mut evidence = *evidence;
                evidence[9] = standing.get(*field as usize).copied().unwrap_or(0.0);
                (evidence, *agreed, 1.0)
            })
            .collect();
        let trust = logistic::fit(&rows, &self.tagger.trust);
        let compared = Compared::weighed(&rows, &trust);
        let recent = self.recent.iter().map(|evidence| weigh(&trust, evidence)).collect();
        self.choice = choose(&compared, recent, aim.within(ROOM), self.steering.inflation());
        self.tagger.fields.clone_from(&self.fields);
        self.tagger.weights = self.perceptron.average();
        self.tagger.values =
            self.values.iter().map(|(hash, (right, wrong))| (*hash, *right, *wrong)).collect();
        self.tagger.standing = standing;
        self.tagger.trust = trust;
        self.tagger.threshold = self.choice.threshold;
    }
}

/// Counts by hash, as a list: a form that tells itself apart by a tag cannot read numbers that are names.
mod counts {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(
        of: &BTreeMap<u64, (u32, u32)>,
        into: S,
    ) -> Result<S::Ok, S::Error> {
        into.collect_seq(of)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<BTreeMap<u64, (u32, u32)>, D::Error> {
        Ok(Vec::deserialize(from)?.into_iter().collect())
    }
}
