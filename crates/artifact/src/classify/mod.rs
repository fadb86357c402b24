//! A linear classifier over n-grams and meanings that knows when to abstain.
//!
//! Two different learners look at a text: linear scores (`linear.rs`) and the nearest samples (`support.rs`). What they
//! say, how sure they are and how strange the text is ([`Evidence`]) is weighed into one number, the trust; below the
//! threshold the classifier abstains. Start at [`Classifier::judge`].
//!
//! - No logarithm and no exponential is taken here: rarity and weights are data, so every machine gives the same answer.

mod features;
mod linear;
mod support;

pub use features::{MOST_FEATURES, Reading, Vector, Vocabulary, read};
pub use linear::{Linear, rows_of, touched};
pub use support::{Nearness, Support};

use serde::{Deserialize, Serialize};

/// How many things are weighed into the trust in one opinion.
pub const EVIDENCE: usize = 18;

/// What is weighed into the trust in one opinion, in a fixed order.
pub type Evidence = [f32; EVIDENCE];

/// A classifier as data.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Classifier {
    /// The answers, as they are given.
    pub labels: Vec<String>,
    /// Per answer: how familiar it is, and how much more often than its evidence says it was wrong, as a logarithm.
    pub standing: Vec<(f32, f32)>,
    /// Pairs of answer and runner-up that did worse (or better) than their evidence, sorted.
    pub rivals: Vec<((u32, u32), f32)>,
    /// The n-grams that are known.
    pub vocabulary: Vocabulary,
    /// The first learner.
    // By another name than when meanings were another model's: weights for those would answer, and wrongly.
    #[serde(rename = "scores")]
    pub linear: Linear,
    /// The second learner, and what open-set rejection goes by.
    pub support: Support,
    /// How the evidence is weighed; the constant comes last.
    pub trust: Vec<f32>,
    /// Below this trust there is no answer. `None`: there is never one.
    pub threshold: Option<f32>,
}

/// What a classifier thinks of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Opinion {
    /// The index of the answer.
    pub label: u32,
    /// The runner-up.
    pub rival: u32,
    /// What speaks for it.
    pub evidence: Evidence,
    /// All of it weighed.
    pub trust: f32,
}

impl Opinion {
    /// How strange the text is, from usual (0) to wholly strange (1): the share of its words that are not known.
    #[must_use]
    pub const fn strangeness(&self) -> f32 {
        self.evidence[UNKNOWN]
    }
}

/// Where [`Evidence`] has the share of words that are not known.
const UNKNOWN: usize = 9;

impl Classifier {
    /// What the classifier thinks of `text`, sure or not. `None` when it knows fewer than two answers.
    #[must_use]
    pub fn judge(&self, text: &str) -> Option<Opinion> {
        if self.labels.len() < 2 {
            return None;
        }
        self.judge_vector(&self.vocabulary.vector(&read(text)))
    }

    /// [`judge`](Self::judge) for a text that was already read.
    #[must_use]
    pub fn judge_vector(&self, vector: &Vector) -> Option<Opinion> {
        self.judge_with(&self.linear, vector, None)
    }

    /// [`judge`](Self::judge) by other scores than its own, and as if the sample at `except` had never been seen.
    #[must_use]
    pub fn judge_with(&self, linear: &Linear, vector: &Vector, except: Option<usize>) -> Option<Opinion> {
        let mut scores = Vec::new();
        linear.score(vector, &mut scores);
        if scores.len() < 2 || vector.entries.is_empty() {
            return None;
        }
        let [first, second, third] = best(&scores);
        let near = self.support.nearness(vector, first.0, except);
        let (familiar, excess) = self.standing.get(first.0 as usize).copied().unwrap_or((0.0, 0.0));
        let pair = (first.0, second.0);
        let rivalry =
            self.rivals.binary_search_by_key(&pair, |(pair, _)| *pair).map_or(0.0, |at| self.rivals[at].1);
        let score = first.1.clamp(-4.0, 4.0);
        let margin = (first.1 - second.1).min(4.0);
        let size = (vector.entries.len() as f32 / 256.0).sqrt().min(2.0);
        let words = self.vocabulary.words();
        let ([_, letters, meaning], backing) =
            linear.parts(vector, words, first.0 as usize, second.0 as usize);
        let evidence = with_standing(
            [
                score,
                margin,
                (first.1 - third.1).min(4.0),
                letters,
                meaning,
                backing,
                near.same,
                near.other,
                near.vote,
                vector.unknown,
                familiar,
                size,
                margin * (near.same - near.other),
                score * near.vote,
            ],
            excess,
            rivalry,
        );
        let trust = weigh(&self.trust, &evidence);
        Some(Opinion { label: first.0, rival: second.0, evidence, trust })
    }

    /// The answer to `text`, or `None` outside what was proven.
    #[must_use]
    pub fn answer(&self, text: &str) -> Option<&str> {
        let opinion = self.judge(text)?;
        self.is_sure(&opinion).then(|| self.labels.get(opinion.label as usize).map(String::as_str)).flatten()
    }

    /// Whether `opinion` is above the threshold.
    #[must_use]
    pub fn is_sure(&self, opinion: &Opinion) -> bool {
        self.threshold.is_some_and(|least| opinion.trust >= least)
    }
}

/// The three highest scores with their labels, the highest first; what is missing is as low as can be.
fn best(scores: &[f32]) -> [(u32, f32); 3] {
    let mut best = [(0, f32::MIN); 3];
    for (label, score) in scores.iter().enumerate() {
        if *score > best[2].1 {
            best[2] = (label as u32, *score);
            best.sort_by(|a, b| b.1.total_cmp(&a.1));
        }
    }
    best
}

/// The evidence of one opinion, completed by how its answer and its pair did lately.
#[must_use]
pub fn with_standing(own: [f32; EVIDENCE - 4], excess: f32, rivalry: f32) -> Evidence {
    let mut evidence = [0.0; EVIDENCE];
    evidence[..EVIDENCE - 4].copy_from_slice(&own);
    evidence[EVIDENCE - 4..].copy_from_slice(&[excess, own[1] * excess, rivalry, own[1] * rivalry]);
    evidence
}

/// The evidence weighed; the constant comes last. Missing weights count nothing.
#[must_use]
pub fn weigh(weights: &[f32], evidence: &[f32]) -> f32 {
    let constant = weights.get(evidence.len()).copied().unwrap_or(0.0);
    evidence.iter().zip(weights).map(|(value, weight)| value * weight).sum::<f32>() + constant
}
