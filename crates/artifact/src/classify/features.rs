//! What a classifier sees of a text: hashes of word and letter n-grams, weighed by how rare they are.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::text::{stable_hash, words};

/// The kinds of n-grams, each weighed for itself so that a long text's letters do not drown its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Block {
    /// Words and pairs of neighbouring words.
    Words,
    /// Two to five letters inside a word and its edges.
    Letters,
}

/// The distinct n-grams of `text`, sorted by hash.
#[must_use]
pub fn grams(text: &str) -> Vec<(u64, Block)> {
    let words = words(text);
    let mut found = Vec::with_capacity(words.len() * 16);
    let mut previous: Option<&str> = None;
    let mut pair = String::new();
    for word in &words {
        found.push((stable_hash(1, word.text.as_bytes()), Block::Words));
        if let Some(before) = previous {
            pair.clear();
            pair.extend([before, " ", &word.text]);
            found.push((stable_hash(2, pair.as_bytes()), Block::Words));
        }
        previous = Some(&word.text);
        pair.clear();
        pair.extend([" ", &word.text, " "]);
        let starts: Vec<usize> = pair.char_indices().map(|(at, _)| at).chain([pair.len()]).collect();
        for length in 2..=5 {
            for edge in starts.windows(length + 1) {
                found.push((stable_hash(3, &pair.as_bytes()[edge[0]..edge[length]]), Block::Letters));
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// A text as numbers: places in the vocabulary, ascending, with their weights. Its length is one, or zero when nothing is known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Vector {
    /// Place and weight.
    pub entries: Vec<(u32, f32)>,
    /// The share of words and pairs of the text that the vocabulary does not know, by weight.
    pub unknown: f32,
}

impl Vector {
    /// The cosine of the angle between two texts.
    #[must_use]
    pub fn dot(&self, other: &Self) -> f32 {
        let (mut left, mut right) = (self.entries.as_slice(), other.entries.as_slice());
        let mut sum = 0.0;
        while let ([(a, x), ..], [(b, y), ..]) = (left, right) {
            match a.cmp(b) {
                std::cmp::Ordering::Less => left = &left[1..],
                std::cmp::Ordering::Greater => right = &right[1..],
                std::cmp::Ordering::Equal => {
                    sum += x * y;
                    left = &left[1..];
                    right = &right[1..];
                }
            }
        }
        sum
    }
}

/// The n-grams that are known, each with its place and how rare it is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Vocabulary {
    /// Sorted by hash: hash, place (the index), rarity.
    known: Vec<(u64, f32)>,
    /// The rarity of what was never seen.
    rarest: f32,
}

/// No vocabulary is larger: it bounds the memory of every classifier.
pub const MOST_FEATURES: usize = 40_000;

impl Vocabulary {
    /// The vocabulary of `texts`, given as their n-grams: what occurs at least twice, the most frequent first if there is too much.
    pub fn of<'a>(texts: impl Iterator<Item = &'a [(u64, Block)]>) -> Self {
        let mut frequency: BTreeMap<u64, u32> = BTreeMap::new();
        let mut count = 0_u32;
        for grams in texts {
            count += 1;
            for (hash, _) in grams {
                *frequency.entry(*hash).or_default() += 1;
            }
        }
        let mut kept: Vec<(u64, u32)> = frequency.into_iter().filter(|(_, seen)| *seen >= 2).collect();
        if kept.len() > MOST_FEATURES {
            kept.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
            kept.truncate(MOST_FEATURES);
            kept.sort_unstable();
        }
        let rarity = |seen: u32| (f64::from(1 + count) / f64::from(1 + seen)).ln() as f32 + 1.0;
        Self { known: kept.into_iter().map(|(hash, seen)| (hash, rarity(seen))).collect(), rarest: rarity(0) }
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

    /// The text with these n-grams as numbers.
    #[must_use]
    pub fn vector(&self, grams: &[(u64, Block)]) -> Vector {
        let mut entries = Vec::with_capacity(grams.len());
        let mut squares = [0.0_f32; 2];
        let (mut known_words, mut unknown_words) = (0.0_f32, 0.0_f32);
        for (hash, block) in grams {
            let found = self.known.binary_search_by_key(hash, |(known, _)| *known).ok();
            if *block == Block::Words {
                match found {
                    Some(place) => known_words += self.known[place].1,
                    None => unknown_words += self.rarest,
                }
            }
            if let Some(place) = found {
                let rarity = self.known[place].1;
                squares[*block as usize] += rarity * rarity;
                entries.push((place as u32, rarity, *block));
            }
        }
        // Each block has half of the length, so that neither outweighs the other in a long or a short text.
        let scale = squares.map(|sum| if sum > 0.0 { (0.5 / sum).sqrt() } else { 0.0 });
        entries.sort_unstable_by_key(|(place, ..)| *place);
        let all = known_words + unknown_words;
        Vector {
            entries: entries
                .into_iter()
                .map(|(place, rarity, block)| (place, rarity * scale[block as usize]))
                .collect(),
            unknown: if all > 0.0 { unknown_words / all } else { 1.0 },
        }
    }
}
