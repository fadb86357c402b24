//! An averaged perceptron with a margin, over the feature buckets of the tagger.

use artifact::tag::{FEATURES, Tagger, best, features};
use artifact::text::Word;
use serde::{Deserialize, Serialize};

/// Weights, and how much they owe to the average.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Perceptron {
    weights: Vec<f32>,
    owed: Vec<f32>,
    steps: f32,
    tags: usize,
}

impl Perceptron {
    /// Makes room for `tags` tags.
    pub(crate) fn widen(&mut self, tags: usize) {
        if tags <= self.tags {
            return;
        }
        for table in [&mut self.weights, &mut self.owed] {
            let mut wider = vec![0.0; FEATURES * tags];
            if self.tags > 0 {
                for (to, from) in wider.chunks_exact_mut(tags).zip(table.chunks_exact(self.tags)) {
                    to[..self.tags].copy_from_slice(from);
                }
            }
            *table = wider;
        }
        self.tags = tags;
    }

    /// Learns the tags `gold` of `words` in `text`.
    pub(crate) fn learn(&mut self, text: &str, words: &[Word], gold: &[usize]) {
        let tags = self.tags;
        let (mut buckets, mut scores) = (Vec::new(), vec![0.0_f32; tags]);
        let mut before = [0, 0];
        for (at, gold) in gold.iter().enumerate() {
            features(words, text, at, before, &mut buckets);
            scores.fill(0.0);
            for bucket in &buckets {
                let row = *bucket as usize * tags;
                for (score, weight) in scores.iter_mut().zip(&self.weights[row..row + tags]) {
                    *score += weight;
                }
            }
            let (said, _) = best(&scores, before[1]);
            let own = scores[*gold];
            let rival =
                scores.iter().enumerate().filter(|(tag, _)| tag != gold).max_by(|a, b| a.1.total_cmp(b.1));
            if let Some((rival, score)) = rival
                && own < score + MARGIN
            {
                for bucket in &buckets {
                    let row = *bucket as usize * tags;
                    for (tag, change) in [(*gold, RATE), (rival, -RATE)] {
                        self.weights[row + tag] += change;
                        self.owed[row + tag] += change * self.steps;
                    }
                }
            }
            self.steps += 1.0;
            before = [before[1], said];
        }
    }

    /// The averaged weights into `tagger`.
    pub(crate) fn average(&self, tagger: &mut Tagger) {
        let steps = self.steps.max(1.0);
        tagger.weights =
            self.weights.iter().zip(&self.owed).map(|(weight, owed)| weight - owed / steps).collect();
    }
}

/// How far ahead the right tag has to be, and by how much a mistake changes each weight.
const MARGIN: f32 = 1.0;
const RATE: f32 = 0.05;
