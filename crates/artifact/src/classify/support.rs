//! The samples a classifier was made of, by what they are about: how near a text is to them, and whose neighbour it is.
//!
//! A text that is far from everything is a stranger. Directions are kept in whole steps: a byte for each number, and every machine
//! finds the same neighbours.

use serde::{Deserialize, Serialize};

use super::features::Vector;
use crate::meaning::{DIMENSIONS, products};
use crate::packed;

/// What each sample is about, and its label.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Support {
    #[serde(with = "packed::whole")]
    labels: Vec<u32>,
    /// [`DIMENSIONS`] numbers for each sample; zero where nothing is known.
    #[serde(with = "packed::small")]
    directions: Vec<i8>,
}

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

/// The steps of a number from zero to one.
const STEPS: f32 = 127.0;

impl Support {
    /// The support of these samples.
    #[must_use]
    pub fn new(samples: &[(Vector, u32)]) -> Self {
        Self {
            labels: samples.iter().map(|(_, label)| *label).collect(),
            directions: samples.iter().flat_map(|(vector, _)| direction(vector)).collect(),
        }
    }

    /// How many samples.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// How near `vector` is to the samples of `label` and to all others; the sample at `except` is left out.
    #[must_use]
    pub fn nearness(&self, vector: &Vector, label: u32, except: Option<usize>) -> Nearness {
        let own = direction(vector).map(i16::from);
        let (mut same, mut other) = (0, 0);
        let mut five = [(0, u32::MAX); 5];
        let directions = self.directions.as_chunks::<DIMENSIONS>().0;
        for (at, (direction, of)) in directions.iter().zip(&self.labels).enumerate() {
            let near = products(&own, direction);
            let best = if *of == label { &mut same } else { &mut other };
            if near <= *best && near <= five[4].0 || Some(at) == except {
                continue;
            }
            *best = near.max(*best);
            if near > five[4].0 {
                five[4] = (near, *of);
                five.sort_by_key(|(near, _)| -near);
            }
        }
        let all: i32 = five.iter().map(|(near, _)| near).sum();
        let mine: i32 = five.iter().filter(|(_, of)| *of == label).map(|(near, _)| near).sum();
        let share = |near: i32| near as f32 / (STEPS * STEPS);
        Nearness {
            same: share(same),
            other: share(other),
            vote: if all > 0 { mine as f32 / all as f32 } else { 0.0 },
        }
    }
}

/// What a text is about, with length one, in steps; zero where nothing is known.
fn direction(vector: &Vector) -> [i8; DIMENSIONS] {
    let Some(main) = vector.meaning.first_chunk::<DIMENSIONS>() else { return [0; DIMENSIONS] };
    let length = crate::meaning::nearness(main, main).sqrt();
    if length > 0.0 { main.map(|value| (value / length * STEPS).round() as i8) } else { [0; DIMENSIONS] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::{Vocabulary, read};

    fn sample(text: &str, label: u32) -> (Vector, u32) {
        (Vocabulary::default().vector(&read(text)), label)
    }

    #[test]
    fn the_nearest_is_found_and_may_be_left_out() {
        let support = Support::new(&[sample("the card was stolen", 0), sample("weather in paris", 1)]);
        let (asked, _) = sample("the card was stolen", 0);
        let near = support.nearness(&asked, 0, None);
        assert!(near.same > 0.97 && near.other < near.same, "{near:?}");
        let left = support.nearness(&asked, 0, Some(0));
        assert_eq!((left.same, left.other), (0.0, near.other));
    }

    #[test]
    fn what_says_nothing_is_near_to_nothing() {
        let support = Support::new(&[sample("the card was stolen", 0)]);
        assert_eq!(support.nearness(&Vector::default(), 0, None), Nearness::default());
    }
}
