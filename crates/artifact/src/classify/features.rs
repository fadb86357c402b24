//! What a classifier sees of a text: hashes of word and letter n-grams, weighed by how rare they are, and what its words are about.

use serde::{Deserialize, Serialize};

use crate::meaning::{self, DIMENSIONS};
use crate::packed;
use crate::text::{stable_hash, words};

/// A text as it is kept to learn from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// Its distinct n-grams, sorted: words and pairs of neighbouring words first, then the letters inside of words.
    pub grams: Vec<u64>,
    /// What its words are about: as many numbers as a direction has, or none.
    pub meaning: Vec<f32>,
}

/// The hashes of letters have the highest bit, those of words do not: sorted, each kind is in one piece.
const LETTERS: u64 = 1 << 63;

/// Reads `text`.
#[must_use]
pub fn read(text: &str) -> Reading {
    let words = words(text);
    let mut found = Vec::with_capacity(words.len() * 16);
    let mut previous: Option<&str> = None;
    let mut pair = String::new();
    for word in &words {
        found.push(stable_hash(1, word.text.as_bytes()) & !LETTERS);
        if let Some(before) = previous {
            pair.clear();
            pair.extend([before, " ", &word.text]);
            found.push(stable_hash(2, pair.as_bytes()) & !LETTERS);
        }
        previous = Some(&word.text);
        pair.clear();
        pair.extend([" ", &word.text, " "]);
        let starts: Vec<usize> = pair.char_indices().map(|(at, _)| at).chain([pair.len()]).collect();
        for length in 2..=5 {
            for edge in starts.windows(length + 1) {
                found.push(stable_hash(3, &pair.as_bytes()[edge[0]..edge[length]]) | LETTERS);
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    Reading { grams: found, meaning: meaning::direction(&words).to_vec() }
}

/// A text as numbers: places in the vocabulary, ascending, with their weights, and its direction. Each part has length one, or
/// zero when nothing is known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Vector {
    /// Place and weight.
    pub entries: Vec<(u32, f32)>,
    /// What its words are about.
    pub meaning: Vec<f32>,
    /// The share of words and pairs of the text that the vocabulary does not know, by weight.
    pub unknown: f32,
}

/// The n-grams that are known, each with its place and how rare it is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Vocabulary {
    /// Sorted; the place of an n-gram is its index.
    #[serde(with = "packed::hashes")]
    known: Vec<u64>,
    /// How rare each is.
    #[serde(with = "packed::fractions")]
    rarities: Vec<f32>,
    /// The rarity of what was never seen, and of what was seen in two texts.
    rarest: f32,
    twice: f32,
}

/// No vocabulary is larger: it bounds the memory of every classifier.
pub const MOST_FEATURES: usize = 40_000;

impl Vocabulary {
    /// The vocabulary of `texts`: what occurs at least twice, the most frequent first if there is too much.
    pub fn of<'a>(texts: impl Iterator<Item = &'a Reading>) -> Self {
        let mut all: Vec<u64> = Vec::new();
        let mut count = 0_u32;
        for reading in texts {
            count += 1;
            all.extend(&reading.grams);
        }
        all.sort_unstable();
        let mut kept: Vec<(u64, u32)> = all
            .chunk_by(|a, b| a == b)
            .filter(|same| same.len() >= 2)
            .map(|same| (same[0], same.len() as u32))
            .collect();
        if kept.len() > MOST_FEATURES {
            kept.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
            kept.truncate(MOST_FEATURES);
            kept.sort_unstable();
        }
        let rarity = |seen: u32| (f64::from(1 + count) / f64::from(1 + seen)).ln() as f32 + 1.0;
        Self {
            known: kept.iter().map(|(hash, _)| *hash).collect(),
            rarities: kept.iter().map(|(_, seen)| rarity(*seen)).collect(),
            rarest: rarity(0),
            twice: rarity(2),
        }
    }

    /// How many n-grams are known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// How many of the places, from the first, are words and pairs; the rest are letters.
    #[must_use]
    pub fn words(&self) -> usize {
        self.known.partition_point(|hash| *hash < LETTERS)
    }

    /// The text as numbers.
    #[must_use]
    pub fn vector(&self, reading: &Reading) -> Vector {
        self.vector_of(reading, f32::MAX)
    }

    /// One of the texts that the vocabulary is made of, as numbers, as if it were none of them: what it shares with one
    /// other text only would then be unknown.
    #[must_use]
    pub fn vector_apart(&self, reading: &Reading) -> Vector {
        self.vector_of(reading, self.twice)
    }

    /// What is as rare as `unknown_from` counts as unknown.
    fn vector_of(&self, reading: &Reading, unknown_from: f32) -> Vector {
        let mut entries: Vec<(u32, f32)> = Vec::with_capacity(reading.grams.len());
        let (mut squares, mut words) = ([0.0_f32; 2], 0);
        let (mut known_words, mut unknown_words) = (0.0_f32, 0.0_f32);
        // Both are sorted, so each search begins where the last one ended.
        let mut from = 0;
        for hash in &reading.grams {
            let found = self.known[from..].binary_search(hash);
            let letters = *hash >= LETTERS;
            match found.map(|at| (from + at, self.rarities.get(from + at).copied().unwrap_or(self.rarest))) {
                Ok((place, rarity)) if rarity < unknown_from => {
                    squares[usize::from(letters)] += rarity * rarity;
                    entries.push((place as u32, rarity));
                    if !letters {
                        known_words += rarity;
                        words = entries.len();
                    }
                    from = place + 1;
                }
                missed => {
                    if !letters {
                        unknown_words += self.rarest;
                    }
                    from = missed.map_or_else(|at| from + at, |(place, _)| place + 1);
                }
            }
        }
        // Each kind has half of the length, so that neither outweighs the other in a long or a short text.
        let scale = squares.map(|sum| if sum > 0.0 { (0.5 / sum).sqrt() } else { 0.0 });
        for (at, (_, value)) in entries.iter_mut().enumerate() {
            *value *= scale[usize::from(at >= words)];
        }
        let all = known_words + unknown_words;
        Vector {
            entries,
            meaning: reading.meaning.iter().copied().take(DIMENSIONS).collect(),
            unknown: if all > 0.0 { unknown_words / all } else { 1.0 },
        }
    }
}
