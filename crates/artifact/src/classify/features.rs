//! What a classifier sees of a text: hashes of word and letter n-grams, weighed by how rare they are, and what it is about.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::meaning::{self, DIMENSIONS};
use crate::packed;
use crate::text::{StableHash, stable_hash, words};

/// A text as it is kept to learn from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// Its distinct n-grams, sorted: words and pairs of neighbouring words first, then the letters inside of words.
    #[serde(with = "packed::hashes")]
    pub grams: Vec<u64>,
    /// What its words are about: as many numbers as a direction has, or none.
    #[serde(with = "packed::fractions")]
    pub meaning: Vec<f32>,
}

/// The hashes of letters have the highest bit, those of words do not: sorted, each kind is in one piece.
const LETTERS: u64 = 1 << 63;

/// Letters that an n-gram inside a word has.
const LETTERS_OF_A_GRAM: RangeInclusive<usize> = 2..=5;

/// Reads `text`.
#[must_use]
pub fn read(text: &str) -> Reading {
    let words = words(text);
    let mut found = Vec::with_capacity(words.len() * 16);
    let mut known: HashSet<u64> = HashSet::with_capacity(words.len());
    let mut previous: Option<&str> = None;
    let mut edged = String::new();
    for word in &words {
        let hash = stable_hash(1, word.text.as_bytes());
        if let Some(before) = previous {
            let pair = StableHash::new(2).with(before.as_bytes()).with(b" ").with(word.text.as_bytes());
            found.push(pair.end() & !LETTERS);
        }
        previous = Some(&word.text);
        // A word that comes again has the same letters.
        if known.insert(hash) {
            found.push(hash & !LETTERS);
            edged.clear();
            edged.extend([" ", &word.text, " "]);
            letters(&edged, &mut found);
        }
    }
    found.sort_unstable();
    found.dedup();
    Reading { grams: found, meaning: meaning::direction(&words).to_vec() }
}

/// Adds the n-grams of letters of a word.
fn letters(word: &str, found: &mut Vec<u64>) {
    let mut rest = word;
    while !rest.is_empty() {
        let (mut hash, mut from) = (StableHash::new(3), 0);
        let ends = rest.char_indices().map(|(at, letter)| at + letter.len_utf8());
        for (length, end) in (1..=*LETTERS_OF_A_GRAM.end()).zip(ends) {
            hash = hash.with(&rest.as_bytes()[from..end]);
            from = end;
            if LETTERS_OF_A_GRAM.contains(&length) {
                found.push(hash.end() | LETTERS);
            }
        }
        rest = &rest[rest.chars().next().map_or(rest.len(), char::len_utf8)..];
    }
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
    /// The vocabulary of `texts`: what occurs at least twice, the most frequent first if that is more than `most`.
    pub fn of<'a>(texts: impl Iterator<Item = &'a Reading>, most: usize) -> Self {
        let most = most.min(MOST_FEATURES);
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
        if kept.len() > most {
            kept.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
            kept.truncate(most);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_its_words_their_pairs_and_the_letters_inside_of_words() {
        let reading = read("Añb añb c");
        let word = |seed, text: &str| stable_hash(seed, text.as_bytes()) & !LETTERS;
        let letters = |text: &str| stable_hash(3, text.as_bytes()) | LETTERS;
        let mut expected = vec![word(1, "añb"), word(1, "c"), word(2, "añb añb"), word(2, "añb c")];
        expected.extend([" a", "añ", "ñb", "b ", " añ", "añb", "ñb ", " añb", "añb ", " añb "].map(letters));
        expected.extend([" c", "c ", " c "].map(letters));
        expected.sort_unstable();
        assert_eq!(reading.grams, expected);
    }
}
