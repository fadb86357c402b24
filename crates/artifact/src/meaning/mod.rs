//! What words are about: a small table of directions, so that texts with other words can still be near.
//!
//! `table.bin` has a row for each piece of a word in `pieces.txt`: pieces that begin a word first, then, after an empty line,
//! those that go on with one, each part sorted. A row is a scale (`f32`, little-endian) and [`DIMENSIONS`] numbers from -7 to 7, two to
//! a byte, the lower half first, with 8 added to each.
//! `NOTICE.md` says where they come from. Nothing here is learned from anybody's requests.
//!
//! - The direction of a text depends on its words only, and is the same on every machine: additions in one order, no library.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::text::Word;

/// How many numbers a direction has.
pub const DIMENSIONS: usize = 128;

/// The direction of a text: length one, or zero when none of its words is known.
pub type Direction = [f32; DIMENSIONS];

static PIECES: &str = include_str!("pieces.txt");
static TABLE: &[u8] = include_bytes!("table.bin");

const ROW: usize = 4 + DIMENSIONS / 2;
/// A longer word is no word; the bound keeps the search for pieces short.
const LONGEST: usize = 48;

/// The row of each piece: most words are one, which is found at once.
struct Pieces {
    begin: HashMap<&'static str, u32>,
    go_on: HashMap<&'static str, u32>,
}

static INDEX: LazyLock<Pieces> = LazyLock::new(|| {
    let (begin, go_on) = PIECES.split_once("\n\n").unwrap_or((PIECES, ""));
    let begin: HashMap<_, _> = begin.lines().zip(0..).collect();
    let go_on = go_on.lines().zip(begin.len() as u32..).collect();
    Pieces { begin, go_on }
});

/// The direction of a text with these words.
#[must_use]
pub fn direction(words: &[Word]) -> Direction {
    let mut sum = [0.0; DIMENSIONS];
    for word in words {
        // The table was made for words without the apostrophe.
        for part in word.text.split('\'') {
            add(part, &mut sum);
        }
    }
    normalised(sum)
}

/// The direction of one word.
#[must_use]
pub fn of_word(word: &str) -> Direction {
    let mut sum = [0.0; DIMENSIONS];
    add(word, &mut sum);
    normalised(sum)
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

/// Adds the rows of the longest pieces that `word` is made of; a word that cannot be made of pieces adds nothing.
fn add(word: &str, sum: &mut Direction) {
    if word.is_empty() || word.len() > LONGEST {
        return;
    }
    let mut rows = [0_usize; LONGEST];
    let (mut found, mut rest) = (0, word);
    while !rest.is_empty() {
        let pieces = if found == 0 { &INDEX.begin } else { &INDEX.go_on };
        let longest = (1..=rest.len())
            .rev()
            .filter(|end| rest.is_char_boundary(*end))
            .find_map(|end| Some((end, *pieces.get(&rest[..end])?)));
        let Some((end, row)) = longest else { return };
        rows[found] = row as usize;
        found += 1;
        rest = &rest[end..];
    }
    for row in &rows[..found] {
        let Some((scale, values)) = TABLE.get(row * ROW..(row + 1) * ROW).and_then(<[u8]>::split_first_chunk)
        else {
            continue;
        };
        let scale = f32::from_le_bytes(*scale);
        for (pair, halves) in sum.chunks_exact_mut(2).zip(values) {
            pair[0] += (f32::from(halves & 15) - 8.0) * scale;
            pair[1] += (f32::from(halves >> 4) - 8.0) * scale;
        }
    }
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
    fn every_piece_has_a_row_of_its_own() {
        let all = INDEX.begin.len() + INDEX.go_on.len();
        assert_eq!(TABLE.len(), all * ROW);
        assert_eq!(PIECES.lines().filter(|piece| !piece.is_empty()).count(), all);
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
    fn what_has_no_known_word_has_no_direction() {
        assert_eq!(direction(&words("中文")), [0.0; DIMENSIONS]);
        assert_eq!(direction(&[]), [0.0; DIMENSIONS]);
    }
}
