//! A value behind a word that says what it is: `passport number: X1234567`, `ZIP 3520`, `"ssn": "…"`.
//!
//! What may stand between the two is a short list, so that a word without a value is let go at the next word.

use std::ops::Range;

use super::reader::{Looked, Reader};

/// What may stand between a label and its value.
const BETWEEN: &[&str] = &[
    "a",
    "am",
    "card",
    "cartão",
    "code",
    "conduire",
    "conducir",
    "de",
    "di",
    "do",
    "es",
    "est",
    "file",
    "guida",
    "id",
    "identification",
    "identifikationsnummer",
    "in",
    "is",
    "ist",
    "lautet",
    "my",
    "n",
    "no",
    "nr",
    "num",
    "number",
    "numero",
    "nummer",
    "número",
    "numéro",
    "of",
    "postal",
    "security",
    "sécurité",
    "sociale",
    "the",
    "to",
    "é",
    "è",
];
/// How many such words there may be.
const WORDS: usize = 5;
/// How many characters a value has at most, without what groups them.
pub(super) const LONGEST: usize = 20;

/// A value: where it stands, and its letters and digits alone.
pub(super) struct Value {
    pub range: Range<usize>,
    characters: [u8; LONGEST],
    length: usize,
}

impl Value {
    /// Its letters and digits, in upper case.
    pub(super) fn characters(&self) -> &[u8] {
        &self.characters[..self.length]
    }

    /// Its digits as values, if it has nothing else.
    pub(super) fn digits<'b>(&self, into: &'b mut [u8; LONGEST]) -> Option<&'b [u8]> {
        for (digit, character) in into.iter_mut().zip(self.characters()) {
            *digit = character.checked_sub(b'0').filter(|digit| *digit < 10)?;
        }
        Some(&into[..self.length])
    }
}

/// Whether a label's word ends at `position`: `ssn` in `ssn_number` and `ssnNumber`, but not in `ssnake`.
pub(super) fn word_ends(reader: &Reader<'_>, position: usize) -> Looked<bool> {
    let Some(next) = reader.byte(position)? else { return Ok(true) };
    Ok(!(next.is_ascii_alphanumeric() || next >= 0x80) || begins_hump(reader, position, next))
}

/// Whether a capital behind a small letter begins a new word.
fn begins_hump(reader: &Reader<'_>, position: usize, next: u8) -> bool {
    next.is_ascii_uppercase() && reader.read(position - 1..position).iter().all(u8::is_ascii_lowercase)
}

/// The value of the label that ends at `position`.
pub(super) fn value_after(reader: &Reader<'_>, mut position: usize) -> Looked<Option<Value>> {
    for _ in 0..=WORDS {
        let gap = reader.run(position, |byte| b" \t\n_:=#\"'\\.,()-".contains(&byte))?;
        let hump = gap == position && reader.byte(gap)?.is_some_and(|next| begins_hump(reader, gap, next));
        if (gap == position && !hump) || gap > position + 10 {
            return Ok(None);
        }
        let end = reader.word(gap)?;
        let word = reader.read(gap..end);
        if word.iter().any(u8::is_ascii_digit) || is_series(reader, word, end)? {
            return value_at(reader, gap);
        }
        let between = std::str::from_utf8(word)
            .is_ok_and(|word| BETWEEN.iter().any(|known| known.eq_ignore_ascii_case(word)));
        // `n°` and `nº` have a sign behind the letter.
        let sign = if reader.letter(end)?.is_some_and(|(letter, _)| letter == '°') { 2 } else { 0 };
        if !between {
            return Ok(None);
        }
        position = end + sign;
    }
    Ok(None)
}

/// Whether the word is the letters of a number that goes on behind a space: `AB 12 34 56 C`.
fn is_series(reader: &Reader<'_>, word: &[u8], end: usize) -> Looked<bool> {
    Ok((1..=3).contains(&word.len())
        && word.iter().all(u8::is_ascii_uppercase)
        && reader.byte(end)? == Some(b' ')
        && reader.byte(end + 1)?.is_some_and(|byte| byte.is_ascii_digit()))
}

/// The value at `start`: letters and digits in groups.
fn value_at(reader: &Reader<'_>, start: usize) -> Looked<Option<Value>> {
    let mut value = Value { range: start..start, characters: [0; LONGEST], length: 0 };
    let mut position = start;
    loop {
        let end = reader.run(position, |byte| byte.is_ascii_alphanumeric())?;
        for byte in reader.read(position..end) {
            let Some(place) = value.characters.get_mut(value.length) else { return Ok(None) };
            *place = byte.to_ascii_uppercase();
            value.length += 1;
        }
        value.range.end = end;
        let joined = match reader.byte(end)? {
            Some(b'-' | b'.' | b'/') => {
                reader.byte(end + 1)?.is_some_and(|byte| byte.is_ascii_alphanumeric())
            }
            Some(b' ') => belongs(reader, end + 1)?,
            Some(byte) if byte == b'_' || byte == b'@' || byte >= 0x80 => return Ok(None),
            _ => false,
        };
        if !joined {
            return Ok(Some(value));
        }
        position = end + 1;
    }
}

/// Whether the group behind a space belongs to the value: digits, or one or two capitals that stand alone.
fn belongs(reader: &Reader<'_>, position: usize) -> Looked<bool> {
    let end = reader.run(position, |byte| byte.is_ascii_alphanumeric())?;
    let group = reader.read(position..end);
    let digits = group.iter().filter(|byte| byte.is_ascii_digit()).count();
    let capitals = group.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    Ok(capitals && ((digits > 0 && group.len() <= 6) || (1..=2).contains(&group.len())))
}
