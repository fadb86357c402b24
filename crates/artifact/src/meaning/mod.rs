//! What a text is about: a small model of directions, so that texts with other words can still be near.
//!
//! Each piece of a word (`pieces.rs`) has a row in a table; what its neighbours make of it, and what all of them are together, is
//! told by small layers (`layers.rs`). `NOTICE.md` says where they come from. Nothing here is learned from anybody's requests.
//!
//! - The direction of a text depends on its words and their order only, and is the same on every machine: whole numbers, and
//!   additions in one order; no library.

mod layers;
mod pieces;

use crate::text::Word;

/// How many numbers a direction has.
pub const DIMENSIONS: usize = 128;

/// The direction of a text: length one, or zero when none of its words is known.
pub type Direction = [f32; DIMENSIONS];

/// Pieces of a text that are looked at: what comes after says little more of what the text is about.
const MOST_PIECES: usize = 256;

/// The direction of a text with these words.
#[must_use]
pub fn direction(words: &[Word]) -> Direction {
    let rows = pieces::pieces(words, MOST_PIECES);
    if rows.is_empty() {
        return [0.0; DIMENSIONS];
    }
    layers::together(rows.into_iter().map(pieces::row).collect())
}

/// How much two directions, or the same part of both, have in common: the cosine of their angle if both have length one.
#[must_use]
pub fn nearness(left: &[f32], right: &[f32]) -> f32 {
    // Eight sums side by side: the compiler makes few instructions of them, and the order stays fixed.
    let mut sums = [0.0_f32; 8];
    for (left, right) in left.chunks_exact(8).zip(right.chunks_exact(8)) {
        for (sum, (left, right)) in sums.iter_mut().zip(left.iter().zip(right)) {
            *sum += left * right;
        }
    }
    sums.iter().sum()
}

/// The sum of products in whole steps. No sum here is too large: the longest is of 384 products of a number in 16 bits and one in 8.
pub(crate) fn products<R: Copy + Into<i16>>(left: &[i16], right: &[R]) -> i32 {
    // Sixteen sums side by side: the compiler makes of them the one instruction that multiplies and adds pairs.
    let mut sums = [0_i32; 16];
    for (left, right) in left.as_chunks::<16>().0.iter().zip(right.as_chunks::<16>().0) {
        for (sum, (left, right)) in sums.iter_mut().zip(left.iter().zip(right)) {
            *sum += i32::from(*left) * i32::from((*right).into());
        }
    }
    sums.iter().sum()
}

fn normalised(mut sum: Direction) -> Direction {
    let length = nearness(&sum, &sum).sqrt();
    if length > 0.0 {
        sum.iter_mut().for_each(|value| *value /= length);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::words;

    fn near(left: &str, right: &str) -> f32 {
        nearness(&direction(&words(left)), &direction(&words(right)))
    }

    #[test]
    fn other_words_for_the_same_thing_are_nearer_than_another_thing() {
        assert!(
            near("reset my password", "i forgot my login") > near("reset my password", "weather in paris")
        );
        assert!(
            near("the card was stolen", "somebody took my card")
                > near("the card was stolen", "a table for two")
        );
    }

    #[test]
    fn the_order_of_words_says_something() {
        assert!(near("the man bit the dog", "the dog bit the man") < 0.999);
    }

    #[test]
    fn every_machine_says_the_same_to_the_last_bit() {
        let told = direction(&words("I am still waiting on my card?"));
        assert_eq!(told[..4], [-0.24826097, 0.40211248, 0.1058953, 0.047350954]);
    }

    #[test]
    fn what_has_no_known_word_has_no_direction() {
        assert_eq!(direction(&words("中文")), [0.0; DIMENSIONS]);
        assert_eq!(direction(&[]), [0.0; DIMENSIONS]);
    }
}
