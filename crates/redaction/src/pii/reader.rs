//! Reads a view so that the laws of a detector hold by construction.
//!
//! A detector that reads only through [`Reader`] depends on at most [`BEHIND`] bytes before its trigger and [`REACH`] after it,
//! and what it says of a text it says of every longer one: a byte that is not there yet is [`More`], never a guess.

use std::ops::Range;

use crate::detector::{Class, Sight, View};

/// How many bytes before the trigger can matter.
pub(super) const BEHIND: usize = 256;
/// How many bytes from the trigger on can matter.
pub(super) const REACH: usize = 384;

/// More text is needed.
#[derive(Debug)]
pub(super) struct More;

/// What was read, or that more is needed.
pub(super) type Looked<T> = Result<T, More>;

/// Where something stands, what it is and by which rule.
pub(super) type Match = (Range<usize>, Class, &'static str);

/// The text around a trigger.
pub(super) struct Reader<'t> {
    view: View<'t>,
}

impl<'t> Reader<'t> {
    pub(super) fn new(view: View<'t>) -> Self {
        Self { view }
    }

    /// Where the trigger stands.
    pub(super) fn at(&self) -> usize {
        self.view.at
    }

    /// The byte at `position`; none where the text ends or the reach does.
    #[inline]
    pub(super) fn byte(&self, position: usize) -> Looked<Option<u8>> {
        if position >= self.view.at + REACH {
            return Ok(None);
        }
        match self.view.text.get(position) {
            Some(byte) => Ok(Some(*byte)),
            None if self.view.ended => Ok(None),
            None => Err(More),
        }
    }

    /// The byte before `position`, which is not after the trigger; none at the beginning or too far behind.
    #[inline]
    pub(super) fn before(&self, position: usize) -> Option<u8> {
        let position = position.checked_sub(1)?;
        if position + BEHIND < self.view.at { None } else { self.view.text.get(position).copied() }
    }

    /// At most `window` bytes before `position`.
    pub(super) fn behind(&self, position: usize, window: usize) -> &'t [u8] {
        let first = position.saturating_sub(window).max(self.view.at.saturating_sub(BEHIND));
        self.view.text.get(first..position).unwrap_or_default()
    }

    /// Bytes that have been read already.
    pub(super) fn read(&self, range: Range<usize>) -> &'t [u8] {
        self.view.text.get(range).unwrap_or_default()
    }

    /// The character at `position` and its length. Bytes that are no UTF-8 are characters of one byte.
    pub(super) fn letter(&self, position: usize) -> Looked<Option<(char, usize)>> {
        let Some(first) = self.byte(position)? else { return Ok(None) };
        let length = match first {
            0..=0x7f => return Ok(Some((char::from(first), 1))),
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            _ => return Ok(Some((char::REPLACEMENT_CHARACTER, 1))),
        };
        for next in 1..length {
            if self.byte(position + next)?.is_none_or(|byte| byte & 0xc0 != 0x80) {
                return Ok(Some((char::REPLACEMENT_CHARACTER, 1)));
            }
        }
        let read = std::str::from_utf8(self.read(position..position + length)).ok();
        let letter = read.and_then(|text| text.chars().next());
        Ok(Some(letter.map_or((char::REPLACEMENT_CHARACTER, 1), |letter| (letter, length))))
    }

    /// Where the run of bytes from `position` on ends that `is_part` accepts.
    #[inline]
    pub(super) fn run(&self, mut position: usize, is_part: impl Fn(u8) -> bool) -> Looked<usize> {
        while self.byte(position)?.is_some_and(&is_part) {
            position += 1;
        }
        Ok(position)
    }

    /// Where the word from `position` on ends: letters of any alphabet, marks and digits.
    pub(super) fn word(&self, mut position: usize) -> Looked<usize> {
        while let Some((letter, length)) = self.letter(position)? {
            if !is_of_word(letter) {
                break;
            }
            position += length;
        }
        Ok(position)
    }

    /// Where `words` ends if it stands at `position`, in any ASCII case.
    pub(super) fn literal(&self, position: usize, words: &str) -> Looked<Option<usize>> {
        for (offset, expected) in words.bytes().enumerate() {
            if !self.byte(position + offset)?.is_some_and(|byte| byte.eq_ignore_ascii_case(&expected)) {
                return Ok(None);
            }
        }
        Ok(Some(position + words.len()))
    }

    /// Whether nothing that continues a word or number stands at `position`.
    pub(super) fn ends(&self, position: usize) -> Looked<bool> {
        Ok(!self.byte(position)?.is_some_and(is_word_byte))
    }
}

/// Whether the byte belongs to a word; those outside ASCII do.
#[inline]
pub(super) fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Whether the character belongs to a word of a name.
pub(super) fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '\u{300}'..='\u{36f}')
}

/// What was found, as the scanner wants to hear it.
pub(super) fn sight(looked: Looked<Option<Match>>) -> Sight {
    match looked {
        Ok(Some((range, class, rule))) => Sight::Found { range, class, rule },
        Ok(None) => Sight::Nothing,
        Err(More) => Sight::Wait,
    }
}
