//! Words in pieces: what a word is made of, longest piece first, and the row that each piece has in the table.
//!
//! `pieces.txt` has the pieces that begin a word first, then, after an empty line, those that go on with one, each part sorted.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::DIMENSIONS;
use crate::text::Word;

static PIECES: &str = include_str!("pieces.txt");
/// A row for each piece: a scale (`f32`, little-endian) and [`DIMENSIONS`] numbers from -7 to 7, two to a byte, the lower half
/// first, with 8 added to each.
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

/// The rows of the pieces of `words`, at most `most`; a word that cannot be made of pieces has none.
pub(super) fn pieces(words: &[Word], most: usize) -> Vec<usize> {
    let mut rows = Vec::with_capacity(words.len().min(most) + 8);
    for word in words {
        // The table was made for words without the apostrophe.
        word.text.split('\'').for_each(|part| add(part, &mut rows));
        if rows.len() >= most {
            rows.truncate(most);
            break;
        }
    }
    rows
}

/// Adds the rows of the longest pieces that `word` is made of.
fn add(word: &str, rows: &mut Vec<usize>) {
    if word.len() > LONGEST {
        return;
    }
    let (before, mut rest) = (rows.len(), word);
    while !rest.is_empty() {
        let pieces = if rows.len() == before { &INDEX.begin } else { &INDEX.go_on };
        let longest = (1..=rest.len())
            .rev()
            .filter(|end| rest.is_char_boundary(*end))
            .find_map(|end| Some((end, *pieces.get(&rest[..end])?)));
        let Some((end, row)) = longest else {
            rows.truncate(before);
            return;
        };
        rows.push(row as usize);
        rest = &rest[end..];
    }
}

/// What a piece is about by itself.
pub(super) fn row(row: usize) -> [f32; DIMENSIONS] {
    let mut numbers = [0.0; DIMENSIONS];
    let whole = TABLE.get(row * ROW..(row + 1) * ROW).and_then(<[u8]>::split_first_chunk);
    let Some((scale, values)) = whole else { return numbers };
    let scale = f32::from_le_bytes(*scale);
    for (pair, halves) in numbers.chunks_exact_mut(2).zip(values) {
        pair[0] = (f32::from(halves & 15) - 8.0) * scale;
        pair[1] = (f32::from(halves >> 4) - 8.0) * scale;
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::words;

    #[test]
    fn every_piece_has_a_row_of_its_own() {
        let all = INDEX.begin.len() + INDEX.go_on.len();
        assert_eq!(TABLE.len(), all * ROW);
        assert_eq!(PIECES.lines().filter(|piece| !piece.is_empty()).count(), all);
    }

    #[test]
    fn a_word_that_cannot_be_made_of_pieces_has_none() {
        assert!(pieces(&words("中文"), 9).is_empty());
        assert_eq!(pieces(&words("the 中文 card"), 9), pieces(&words("the card"), 9));
        assert_eq!(pieces(&words("one two three four"), 2).len(), 2);
    }
}
