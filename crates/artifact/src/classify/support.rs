//! The samples a classifier was made of: how near a text is to what has been seen, and whose neighbour it is.

use serde::{Deserialize, Serialize};

use super::features::Vector;

/// Samples as vectors with their labels, and where each n-gram occurs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Samples", into = "Samples")]
pub struct Support {
    samples: Samples,
    /// By place in the vocabulary: sample and weight. Derived from the samples.
    postings: Vec<Vec<(u32, f32)>>,
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
        Self { samples: Samples(samples), postings }
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

    /// How near `vector` is to the samples of `label` and to all others.
    #[must_use]
    pub fn nearness(&self, vector: &Vector, label: u32) -> Nearness {
        let mut sums = vec![0.0_f32; self.len()];
        for (place, value) in &vector.entries {
            for (sample, weight) in self.postings.get(*place as usize).into_iter().flatten() {
                sums[*sample as usize] += value * weight;
            }
        }
        let mut near = Nearness::default();
        let mut five = [(0.0_f32, u32::MAX); 5];
        for (sum, (_, of)) in sums.iter().zip(&self.samples.0) {
            if *sum <= five[4].0 && *of != label {
                continue;
            }
            let best = if *of == label { &mut near.same } else { &mut near.other };
            *best = best.max(*sum);
            if *sum > five[4].0 {
                five[4] = (*sum, *of);
                five.sort_by(|a, b| b.0.total_cmp(&a.0));
            }
        }
        let all: f32 = five.iter().map(|(sum, _)| sum).sum();
        let own: f32 = five.iter().filter(|(_, of)| *of == label).map(|(sum, _)| sum).sum();
        near.vote = if all > 0.0 { own / all } else { 0.0 };
        near
    }
}
