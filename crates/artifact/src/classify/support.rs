//! The samples a classifier was made of: how near a text is to what has been seen, and whose neighbour it is.
//!
//! Near by its words, and near by what they are about: a text that is far from everything in both is a stranger.

use serde::{Deserialize, Serialize};

use super::features::Vector;

/// Samples as vectors with their labels, and where each n-gram occurs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Samples", into = "Samples")]
pub struct Support {
    samples: Samples,
    /// By place in the vocabulary: sample and weight. Derived from the samples.
    postings: Vec<Vec<(u32, f32)>>,
    /// What each sample is about, one after the other; zero where nothing is known. Derived from the samples.
    meanings: Vec<[f32; MAIN]>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Samples(Vec<(Vector, u32)>);

/// How near a text is to the samples.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Nearness {
    /// The nearest sample of the label that was asked for.
    pub same: f32,
    /// The nearest sample of any other label.
    pub other: f32,
    /// How much of the nearest five, by nearness, has the label.
    pub vote: f32,
}

/// An n-gram in more than one of so many samples says little about nearness, and would cost most of the time.
const COMMON: usize = 12;

/// How many numbers of a meaning neighbours are found by: the first ones say most, and every sample is looked at.
const MAIN: usize = 64;

impl From<Samples> for Support {
    fn from(samples: Samples) -> Self {
        Self::new(samples.0)
    }
}
impl From<Support> for Samples {
    fn from(support: Support) -> Self {
        support.samples
    }
}

impl Support {
    /// The support of these samples.
    #[must_use]
    pub fn new(samples: Vec<(Vector, u32)>) -> Self {
        let places = samples
            .iter()
            .flat_map(|(vector, _)| &vector.entries)
            .map(|(place, _)| *place as usize + 1)
            .max();
        let mut postings: Vec<Vec<(u32, f32)>> =
            vec![Vec::new(); places.unwrap_or(0).min(super::features::MOST_FEATURES)];
        for (index, (vector, _)) in samples.iter().enumerate() {
            for (place, value) in &vector.entries {
                if let Some(list) = postings.get_mut(*place as usize) {
                    list.push((index as u32, *value));
                }
            }
        }
        let most = (samples.len() / COMMON).max(16);
        for list in &mut postings {
            if list.len() > most {
                *list = Vec::new();
            }
        }
        let meanings = samples.iter().map(|(vector, _)| meaning(vector)).collect();
        Self { samples: Samples(samples), postings, meanings }
    }

    /// How many samples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.samples.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How near `vector` is to the samples of `label` and to all others: by its words, and by what they are about.
    #[must_use]
    pub fn nearness(&self, vector: &Vector, label: u32) -> (Nearness, Nearness) {
        let mut sums = vec![0.0_f32; self.len()];
        for (place, value) in &vector.entries {
            for (sample, weight) in self.postings.get(*place as usize).into_iter().flatten() {
                sums[*sample as usize] += value * weight;
            }
        }
        let by_words = self.neighbours(sums.iter().copied(), label);
        let own = meaning(vector);
        let by_meaning =
            self.neighbours(self.meanings.iter().map(|other| crate::meaning::nearness(&own, other)), label);
        (by_words, by_meaning)
    }

    fn neighbours(&self, nearness: impl Iterator<Item = f32>, label: u32) -> Nearness {
        let mut near = Nearness::default();
        let mut five = [(0.0_f32, u32::MAX); 5];
        for (sum, (_, of)) in nearness.zip(&self.samples.0) {
            let best = if *of == label { &mut near.same } else { &mut near.other };
            *best = best.max(sum);
            if sum > five[4].0 {
                five[4] = (sum, *of);
                five.sort_by(|a, b| b.0.total_cmp(&a.0));
            }
        }
        let all: f32 = five.iter().map(|(sum, _)| sum).sum();
        let own: f32 = five.iter().filter(|(_, of)| *of == label).map(|(sum, _)| sum).sum();
        near.vote = if all > 0.0 { own / all } else { 0.0 };
        near
    }
}

/// The main part of what a text is about, with length one; zero where nothing is known.
fn meaning(vector: &Vector) -> [f32; MAIN] {
    let Some(main) = vector.meaning.first_chunk::<MAIN>() else { return [0.0; MAIN] };
    let length = crate::meaning::nearness(main, main).sqrt();
    if length > 0.0 { main.map(|value| value / length) } else { [0.0; MAIN] }
}
