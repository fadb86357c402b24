//! The weights of a tagger: a row for each feature bucket that was learned, in steps of its own size.
//!
//! Few of all buckets are ever met by one kind of work, so what has no row weighs nothing and takes no room, in memory or in a file.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::FEATURES;
use crate::packed;

/// Weights by feature bucket, then by tag.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Weights {
    rows: Rows,
    /// For each bucket its row, counted from one; zero where it has none.
    places: Vec<u32>,
}

/// As it is written.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Rows {
    /// The buckets that have a row, in order.
    #[serde(with = "packed::whole")]
    known: Vec<u32>,
    /// The size of a step, row by row.
    #[serde(with = "packed::fractions")]
    steps: Vec<f32>,
    /// By row, then by tag, in steps.
    #[serde(with = "packed::middling")]
    weights: Vec<i16>,
}

impl Weights {
    /// The nearest to these rows, each with its bucket. Of two rows of one bucket the first counts; what weighs nothing is left out.
    #[must_use]
    pub fn of<'a>(rows: impl Iterator<Item = (u32, &'a [f32])>) -> Self {
        let mut sorted: Vec<(u32, &[f32])> = rows
            .filter(|(bucket, row)| is_bucket(*bucket) && row.iter().any(|weight| *weight != 0.0))
            .collect();
        sorted.sort_by_key(|(bucket, _)| *bucket);
        sorted.dedup_by_key(|(bucket, _)| *bucket);
        let mut rows = Rows::default();
        for (bucket, row) in sorted {
            let step = row.iter().fold(0.0_f32, |most, weight| most.max(weight.abs())) / f32::from(i16::MAX);
            rows.known.push(bucket);
            rows.steps.push(step);
            rows.weights.extend(row.iter().map(|weight| (weight / step).round() as i16));
        }
        Self::placed(rows)
    }

    /// Adds the weights of `bucket` to `scores`, of which there is one for each tag.
    pub(super) fn add(&self, bucket: u32, scores: &mut [f32]) {
        let Some(row) = self.places.get(bucket as usize).and_then(|place| place.checked_sub(1)) else {
            return;
        };
        let row = row as usize;
        let from = row * scores.len();
        let (Some(step), Some(weights)) =
            (self.rows.steps.get(row), self.rows.weights.get(from..from + scores.len()))
        else {
            return;
        };
        for (score, weight) in scores.iter_mut().zip(weights) {
            *score += step * f32::from(*weight);
        }
    }

    fn placed(rows: Rows) -> Self {
        let mut places = Vec::new();
        if !rows.known.is_empty() {
            places.resize(FEATURES, 0);
        }
        for (row, bucket) in (1..).zip(&rows.known) {
            if let Some(place) = places.get_mut(*bucket as usize) {
                *place = row;
            }
        }
        Self { rows, places }
    }
}

const fn is_bucket(bucket: u32) -> bool {
    (bucket as usize) < FEATURES
}

impl Serialize for Weights {
    fn serialize<S: Serializer>(&self, into: S) -> Result<S::Ok, S::Error> {
        self.rows.serialize(into)
    }
}

impl<'de> Deserialize<'de> for Weights {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let rows = Rows::deserialize(from)?;
        let in_order = rows.known.is_sorted_by(|one, next| one < next);
        if !in_order || !rows.known.iter().all(|bucket| is_bucket(*bucket)) {
            return Err(serde::de::Error::custom(
                "the rows of a tagger are not in order, or are none of its buckets",
            ));
        }
        Ok(Self::placed(rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_nearly_as_they_were_and_survive_being_written() {
        let rows = [(9, [0.5_f32, -1.0, 0.0]), (3, [0.25, 0.0, 0.125]), (4, [0.0; 3])];
        let made = Weights::of(rows.iter().map(|(bucket, row)| (*bucket, row.as_slice())));
        let read: Weights = serde_json::from_str(&serde_json::to_string(&made).unwrap()).unwrap();
        assert_eq!(made, read);
        for (bucket, row) in rows {
            let mut scores = [0.0; 3];
            read.add(bucket, &mut scores);
            assert!(
                scores.iter().zip(row).all(|(score, weight)| (score - weight).abs() < 0.0001),
                "{scores:?}"
            );
        }
    }

    #[test]
    fn rows_that_are_out_of_order_or_nowhere_are_refused() {
        let with = |known: Vec<u32>| {
            let rows = Rows { steps: vec![1.0; known.len()], known, weights: Vec::new() };
            serde_json::from_str::<Weights>(&serde_json::to_string(&rows).unwrap())
        };
        assert!(with(vec![1, 2]).is_ok());
        assert!(
            with(vec![2, 1]).is_err() && with(vec![1, 1]).is_err() && with(vec![FEATURES as u32]).is_err()
        );
    }
}
