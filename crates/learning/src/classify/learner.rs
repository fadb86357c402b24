//! The learner of one classifier: opinions first, live answers after, a new version when enough is new.
//!
//! Each opinion is recorded as it was before the live answer to the same request was learned, so trust and threshold rest
//! on what the learner did not know. A version is made when the samples have grown by a fixed share: the work per sample
//! stays the same however many there are.

use std::collections::VecDeque;

use artifact::classify::{Classifier, Evidence, Opinion, Reading, Support, Vocabulary, read, weigh};
use serde::{Deserialize, Serialize};

use super::crossed::{Crossed, Fitted};
use super::trust::{self, Seen};
use crate::proof::Attempt;
use crate::threshold::{Aim, Choice, Compared, Steering, choose};

/// The learner's state: everything it needs to go on, and the version in force.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Learner {
    samples: Vec<Sample>,
    /// N-grams of all samples together.
    grams: usize,
    /// Where the next sample goes once there are too many.
    oldest: usize,
    labels: Vec<String>,
    counts: Vec<u32>,
    crossed: Crossed,
    seen: VecDeque<Seen>,
    recent: VecDeque<Evidence>,
    fresh: usize,
    version: u32,
    classifier: Classifier,
    choice: Choice,
    steering: Steering,
    replay: Option<Attempt>,
}

/// What was learned from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Sample {
    reading: Reading,
    label: u32,
    /// Whether it is here only because the version that was serving was not sure of it.
    #[serde(default)]
    was_unsure: bool,
}

/// Samples that are kept to learn from, the newest; comparisons that trust is learned from; requests that say how common a trust is.
const MOST_SAMPLES: usize = 8192;
/// N-grams of all samples together, about: of long texts fewer are kept.
const MOST_GRAMS: usize = 2 << 20;
/// Weights of a version, for all answers together: where there are many answers, fewer n-grams are known.
const MOST_WEIGHTS: usize = 4 << 20;
const MOST_SEEN: usize = 3072;
const MOST_RECENT: usize = 1024;
/// A version is made when one in so many of all that was ever learned is new, and at least this many are.
const GROWTH: usize = 20;
const FEWEST_FRESH: usize = 25;
const PASSES: usize = 3;
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
        let is_sure = opinion.is_some_and(|opinion| self.classifier.is_sure(opinion));
        if let Some(opinion) = opinion {
            let agreed = self.classifier.labels.get(opinion.label as usize).is_some_and(|said| said == label);
            if is_sure {
                self.steering.compared(&self.choice, agreed);
            }
            self.seen.push_back(Seen {
                evidence: opinion.evidence,
                label: opinion.label,
                rival: opinion.rival,
                agreed,
                // It was as it is told here, whoever else doubts it later.
                was_unsure: false,
            });
            if self.seen.len() > MOST_SEEN {
                self.seen.pop_front();
            }
        }
        let Some(index) = self.index_of(label) else { return false };
        self.counts[index] += 1;
        let was_unsure = matches!(aim, Aim::Serve(_)) && !is_sure;
        self.keep(Sample { reading: read(text), label: index as u32, was_unsure });
        self.fresh += 1;
        let due = self.fresh >= FEWEST_FRESH.max(self.taught() / GROWTH) && self.labels.len() >= 2;
        if due {
            self.make_version(aim);
        }
        due
    }

    /// Keeps a sample, in the place of the oldest where there are as many as there may be.
    fn keep(&mut self, sample: Sample) {
        let is_full = self.samples.len() >= MOST_SAMPLES || self.grams >= MOST_GRAMS;
        self.grams += sample.reading.grams.len();
        if !is_full {
            self.samples.push(sample);
            return;
        }
        let newest = self.oldest;
        self.put(newest, sample);
        self.oldest = (newest + 1) % self.samples.len();
        // A long text may take the room of several short ones: theirs is empty until it is their turn.
        let mut next = self.oldest;
        while self.grams > MOST_GRAMS && next != newest {
            let emptied = Sample { reading: Reading::default(), ..self.samples[next] };
            self.put(next, emptied);
            next = (next + 1) % self.samples.len();
        }
    }

    fn put(&mut self, index: usize, sample: Sample) {
        self.crossed.forget(index);
        let before = std::mem::replace(&mut self.samples[index], sample);
        self.grams -= before.reading.grams.len();
    }

    /// About how many bytes it takes in memory.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.grams * size_of::<u64>() + self.classifier.linear.bytes()
    }

    /// How many answers are known.
    #[must_use]
    pub const fn answers(&self) -> usize {
        self.labels.len()
    }

    /// How many live answers it was told.
    #[must_use]
    pub fn taught(&self) -> usize {
        self.counts.iter().map(|count| *count as usize).sum()
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

    /// What the version in force says of everything that was learned, each judged without itself; only while something is to
    /// be proven, and only if everything was learned.
    #[must_use]
    pub const fn replay(&self) -> Option<Attempt> {
        self.replay
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
        let most = MOST_WEIGHTS / self.labels.len().max(1);
        let vocabulary = Vocabulary::of(self.samples.iter().map(|sample| &sample.reading), most);
        let vectors: Vec<_> =
            self.samples.iter().map(|one| (vocabulary.vector(&one.reading), one.label)).collect();
        let fitted = self.crossed.fit(&vectors, (vocabulary.len(), self.labels.len()), PASSES);
        let familiar = |count: &u32| f64::from(1 + count).ln() as f32 / 5.0;
        self.classifier = Classifier {
            labels: self.labels.clone(),
            standing: self.counts.iter().map(|count| (familiar(count), 0.0)).collect(),
            rivals: Vec::new(),
            support: Support::new(&vectors),
            vocabulary,
            linear: fitted.all.clone(),
            trust: std::mem::take(&mut self.classifier.trust),
            threshold: None,
        };
        let rows = self.judged_apart(&fitted);
        let trust = trust::learn(&rows, self.seen.make_contiguous(), &self.classifier.trust);
        // What former versions said of the same requests is no second look at them: only what this one says counts. And what is
        // known because it was doubted says nothing of what is served: that was not.
        let compared: Vec<Compared> = rows
            .iter()
            .zip(&trust.in_seen)
            .map(|(seen, trust)| Compared {
                trust: *trust,
                agreed: seen.agreed,
                counts: if seen.was_unsure { 0.0 } else { 1.0 },
            })
            .collect();
        let recent = self.recent.iter().map(|evidence| weigh(&trust.weights, evidence)).collect();
        self.choice = choose(&compared, recent, aim, self.steering.inflation());
        // Answers for which there was no more room are no samples: what is recorded does not show how often they are missed.
        let is_complete = self.labels.len() < MOST_LABELS;
        self.replay = match (aim, self.choice.threshold) {
            (Aim::Prove(most), Some(least)) if is_complete => {
                let sure = compared.iter().filter(|one| one.trust >= least);
                Some(Attempt::replay(sure.map(|one| (one.agreed, self.choice.expects(one.trust))), most))
            }
            _ => None,
        };
        for (at, standing) in (0..).zip(&mut self.classifier.standing) {
            standing.1 = trust.by_label.get(&at).copied().unwrap_or(0.0);
        }
        self.classifier.rivals = trust.by_pair.into_iter().collect();
        self.classifier.trust = trust.weights;
        self.classifier.threshold = self.choice.threshold;
    }

    /// What is thought of every sample by what was learned without it.
    fn judged_apart(&self, fitted: &Fitted) -> Vec<Seen> {
        let judged = self.samples.iter().enumerate().filter_map(|(index, sample)| {
            let vector = self.classifier.vocabulary.vector_apart(&sample.reading);
            let opinion = self.classifier.judge_with(fitted.without(index), &vector, Some(index))?;
            let agreed = opinion.label == sample.label;
            Some(Seen {
                evidence: opinion.evidence,
                label: opinion.label,
                rival: opinion.rival,
                agreed,
                was_unsure: sample.was_unsure,
            })
        });
        judged.collect()
    }
}

#[cfg(test)]
mod tests {
    use artifact::text::mix;

    use super::*;

    #[test]
    fn of_long_texts_fewer_are_kept_and_the_newest() {
        let mut learner = Learner::default();
        let text = |number: u64, words: u64| -> String {
            let words = (0..words).map(|word| format!("{:x} ", mix(number * words + word)));
            words.collect()
        };
        for number in 0..256 {
            learner.learn(&text(number, 4), "same", None, Aim::Prove(0.01));
        }
        for number in 0..300 {
            learner.learn(&text(number, 400), "same", None, Aim::Prove(0.01));
        }
        let lengths = || learner.samples.iter().map(|one| one.reading.grams.len());
        let grams = lengths().sum::<usize>();
        assert_eq!(grams, learner.grams);
        assert!(learner.samples[learner.oldest].reading.grams.is_empty(), "what comes next has room");
        assert!(learner.samples.len() < 556 && learner.oldest > 0, "some made room for newer ones");
        assert!(grams <= MOST_GRAMS, "{grams}");
    }
}
