//! The learner of one classifier: opinions first, live answers after, a new version when enough is new.
//!
//! Each opinion is recorded as it was before the live answer to the same request was learned, so trust and threshold rest
//! on what the learner did not know. A version is made when the samples have grown by a fixed share: the work per sample
//! stays the same however many there are.

use std::collections::{BTreeMap, VecDeque};

use artifact::classify::{Classifier, Evidence, Opinion, Reading, Support, Vocabulary, read, weigh};
use serde::{Deserialize, Serialize};

use super::dual::Dual;
use super::trust::{self, Seen};
use crate::threshold::{Aim, Choice, Compared, Steering, choose};

/// The learner's state: everything it needs to go on, and the version in force.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Learner {
    samples: Vec<(Reading, u32)>,
    /// Where the next sample goes once there are too many.
    oldest: usize,
    labels: Vec<String>,
    counts: Vec<u32>,
    dual: Dual,
    seen: VecDeque<Seen>,
    recent: VecDeque<Evidence>,
    fresh: usize,
    version: u32,
    classifier: Classifier,
    choice: Choice,
    steering: Steering,
}

/// Samples that are kept to learn from, the newest; comparisons that trust is learned from; requests that say how common a trust is.
const MOST_SAMPLES: usize = 8192;
const MOST_SEEN: usize = 12_288;
const MOST_RECENT: usize = 1024;
/// A version is made when one in so many of all that was ever learned is new, and at least this many are.
const GROWTH: usize = 25;
const FEWEST_FRESH: usize = 25;
const PASSES: usize = 6;
/// A classifier with more answers than this is no classifier.
pub const MOST_LABELS: usize = 512;

impl Learner {
    /// What the version in force thinks of `text`. Every request is told, so that the learner knows what is common.
    pub fn meet(&mut self, text: &str) -> Option<Opinion> {
        let opinion = self.classifier.judge(text)?;
        self.recent.push_back(opinion.evidence);
        if self.recent.len() > MOST_RECENT {
            self.recent.pop_front();
        }
        Some(opinion)
    }

    /// Learns that live answered `label` to `text`, of which the version in force had `opinion`. Versions are for `aim`.
    /// Says whether there is a new version.
    pub fn learn(&mut self, text: &str, label: &str, opinion: Option<&Opinion>, aim: Aim) -> bool {
        if let Some(opinion) = opinion {
            let agreed = self.classifier.labels.get(opinion.label as usize).is_some_and(|said| said == label);
            if self.classifier.is_sure(opinion) {
                self.steering.compared(&self.choice, agreed);
            }
            self.seen.push_back(Seen {
                evidence: opinion.evidence,
                label: opinion.label,
                rival: opinion.rival,
                agreed,
            });
            if self.seen.len() > MOST_SEEN {
                self.seen.pop_front();
            }
        }
        let Some(index) = self.index_of(label) else { return false };
        self.counts[index] += 1;
        let sample = (read(text), index as u32);
        if self.samples.len() < MOST_SAMPLES {
            self.samples.push(sample);
        } else {
            self.dual.forget(self.oldest);
            self.samples[self.oldest] = sample;
            self.oldest = (self.oldest + 1) % MOST_SAMPLES;
        }
        self.fresh += 1;
        let learned: usize = self.counts.iter().map(|count| *count as usize).sum();
        let due = self.fresh >= FEWEST_FRESH.max(learned / GROWTH) && self.labels.len() >= 2;
        if due {
            self.make_version(aim);
        }
        due
    }

    /// The version in force.
    #[must_use]
    pub const fn classifier(&self) -> &Classifier {
        &self.classifier
    }

    /// How many versions there were.
    #[must_use]
    pub const fn version(&self) -> u32 {
        self.version
    }

    /// Why the version in force stops answering where it does.
    #[must_use]
    pub const fn choice(&self) -> &Choice {
        &self.choice
    }

    fn index_of(&mut self, label: &str) -> Option<usize> {
        if let Some(index) = self.labels.iter().position(|known| known == label) {
            return Some(index);
        }
        if self.labels.len() == MOST_LABELS {
            return None;
        }
        self.labels.push(label.to_owned());
        self.counts.push(0);
        Some(self.labels.len() - 1)
    }

    fn make_version(&mut self, aim: Aim) {
        self.fresh = 0;
        self.version += 1;
        let vocabulary = Vocabulary::of(self.samples.iter().map(|(reading, _)| reading));
        let vectors: Vec<_> =
            self.samples.iter().map(|(reading, label)| (vocabulary.vector(reading), *label)).collect();
        let linear = self.dual.fit(&vectors, vocabulary.len(), self.labels.len(), PASSES);
        let trust = trust::learn(self.seen.make_contiguous(), &self.classifier.trust);
        let compared: Vec<Compared> = self
            .seen
            .iter()
            .zip(&trust.in_seen)
            .map(|(seen, trust)| Compared { trust: *trust, agreed: seen.agreed, counts: 1.0 })
            .collect();
        let recent = self.recent.iter().map(|evidence| weigh(&trust.weights, evidence)).collect();
        self.choice = choose(&compared, recent, aim, self.steering.inflation());
        let familiar = |count: &u32| f64::from(1 + count).ln() as f32 / 5.0;
        let by_label: &BTreeMap<u32, f32> = &trust.by_label;
        self.classifier = Classifier {
            labels: self.labels.clone(),
            standing: self
                .counts
                .iter()
                .zip(0..)
                .map(|(count, at)| (familiar(count), by_label.get(&at).copied().unwrap_or(0.0)))
                .collect(),
            rivals: trust.by_pair.into_iter().collect(),
            vocabulary,
            linear,
            support: Support::new(vectors),
            trust: trust.weights,
            threshold: self.choice.threshold,
        };
    }
}
