//! An averaged perceptron with a margin, over the feature buckets of the tagger. Only buckets that were ever wrong have a row.

use artifact::packed;
use artifact::tag::{FEATURES, Weights, best, features};
use artifact::text::Word;
use serde::{Deserialize, Serialize};

/// Weights, and how much they owe to the average.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Kept", into = "Kept")]
pub(crate) struct Perceptron {
    kept: Kept,
    /// For each bucket its row, counted from one; zero where it has none.
    places: Vec<u32>,
}

/// As it is written.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Kept {
    /// The bucket of each row.
    #[serde(with = "packed::whole")]
    buckets: Vec<u32>,
    #[serde(with = "packed::fractions")]
    weights: Vec<f32>,
    #[serde(with = "packed::fractions")]
    owed: Vec<f32>,
    steps: f32,
    tags: usize,
}

impl Perceptron {
    /// Makes room for `tags` tags.
    pub(crate) fn widen(&mut self, tags: usize) {
        let Kept { buckets, weights, owed, tags: before, .. } = &mut self.kept;
        if tags <= *before {
            return;
        }
        for table in [weights, owed] {
            let mut wider = vec![0.0; buckets.len() * tags];
            for (to, from) in wider.chunks_exact_mut(tags).zip(table.chunks_exact((*before).max(1))) {
                to[..*before].copy_from_slice(from);
            }
            *table = wider;
        }
        *before = tags;
    }

    /// Learns the tags `gold` of `words` in `text`.
    pub(crate) fn learn(&mut self, text: &str, words: &[Word], gold: &[usize]) {
        let tags = self.kept.tags;
        let (mut buckets, mut scores) = (Vec::new(), vec![0.0_f32; tags]);
        let mut before = [0, 0];
        for (at, gold) in gold.iter().enumerate() {
            features(words, text, at, before, &mut buckets);
            scores.fill(0.0);
            for bucket in &buckets {
                let Some(row) = self.row(*bucket) else { continue };
                for (score, weight) in scores.iter_mut().zip(&self.kept.weights[row..row + tags]) {
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
                    let row = self.row_for(*bucket);
                    for (tag, change) in [(*gold, RATE), (rival, -RATE)] {
                        self.kept.weights[row + tag] += change;
                        self.kept.owed[row + tag] += change * self.kept.steps;
                    }
                }
            }
            self.kept.steps += 1.0;
            before = [before[1], said];
        }
    }

    /// The averaged weights.
    pub(crate) fn average(&self) -> Weights {
        let Kept { buckets, weights, owed, steps, tags } = &self.kept;
        let steps = steps.max(1.0);
        let averaged: Vec<f32> =
            weights.iter().zip(owed).map(|(weight, owed)| weight - owed / steps).collect();
        Weights::of(buckets.iter().copied().zip(averaged.chunks_exact((*tags).max(1))))
    }

    /// Where the row of `bucket` begins, if it has one.
    fn row(&self, bucket: u32) -> Option<usize> {
        let row = self.places.get(bucket as usize)?.checked_sub(1)?;
        Some(row as usize * self.kept.tags)
    }

    /// Where the row of `bucket` begins; it has one from now on.
    fn row_for(&mut self, bucket: u32) -> usize {
        if let Some(row) = self.row(bucket) {
            return row;
        }
        self.places.resize(FEATURES, 0);
        self.kept.buckets.push(bucket);
        self.places[bucket as usize] = self.kept.buckets.len() as u32;
        let row = self.kept.weights.len();
        for table in [&mut self.kept.weights, &mut self.kept.owed] {
            table.resize(row + self.kept.tags, 0.0);
        }
        row
    }
}

impl From<Kept> for Perceptron {
    fn from(kept: Kept) -> Self {
        let mut places = vec![0; if kept.buckets.is_empty() { 0 } else { FEATURES }];
        for (row, bucket) in (1..).zip(&kept.buckets) {
            if let Some(place) = places.get_mut(*bucket as usize) {
                *place = row;
            }
        }
        Self { kept, places }
    }
}

impl From<Perceptron> for Kept {
    fn from(perceptron: Perceptron) -> Self {
        perceptron.kept
    }
}

/// How far ahead the right tag has to be, and by how much a mistake changes each weight.
const MARGIN: f32 = 1.0;
const RATE: f32 = 0.05;
