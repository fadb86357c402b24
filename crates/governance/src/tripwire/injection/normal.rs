//! One spelling of many: small letters, single spaces, no characters that cannot be seen, look-alikes put right.

use std::ops::Range;

/// A text in one spelling, and where each byte of it came from.
pub(super) struct Normal {
    /// The text.
    pub text: String,
    origins: Vec<u32>,
    length: usize,
}

impl Normal {
    /// Reads `text`. What lies beyond four gibibytes is not read.
    pub(super) fn of(text: &str) -> Self {
        let mut normal = Self {
            text: String::with_capacity(text.len()),
            origins: Vec::with_capacity(text.len()),
            length: text.len(),
        };
        let mut word = 0;
        let mut at = 0;
        while let Some(byte) = text.as_bytes().get(at) {
            let Ok(origin) = u32::try_from(at) else { break };
            // Nearly all text is made of these.
            if byte.is_ascii_graphic() && !is_gap(char::from(*byte)) {
                normal.text.push(char::from(byte.to_ascii_lowercase()));
                normal.origins.push(origin);
                at += 1;
                continue;
            }
            let Some(letter) = text[at..].chars().next() else { break };
            at += letter.len_utf8();
            if is_unseen(letter) {
                continue;
            }
            if is_gap(letter) {
                normal.end_word(word);
                normal.space(letter, origin);
                word = normal.text.len();
                continue;
            }
            for letter in wide(letter).to_lowercase() {
                normal.push(letter, origin);
            }
        }
        normal.end_word(word);
        normal
    }

    /// One space for many. Lines stay apart: some signs stand only at the beginning of one.
    fn space(&mut self, letter: char, origin: u32) {
        let space = if letter == '\n' { '\n' } else { ' ' };
        if !self.text.ends_with(['\n', ' ']) {
            self.push(space, origin);
        } else if space == '\n' && self.text.ends_with(' ') {
            self.text.pop();
            self.text.push('\n');
        }
    }

    fn push(&mut self, letter: char, origin: u32) {
        self.text.push(letter);
        self.origins.resize(self.text.len(), origin);
    }

    /// Puts right the letters of another alphabet in a word that has Latin ones, too.
    fn end_word(&mut self, start: usize) {
        let word = &self.text[start..];
        let latin = word.bytes().any(|byte| byte.is_ascii_lowercase());
        if !latin || word.is_ascii() || !word.chars().any(|letter| look_alike(letter) != letter) {
            return;
        }
        let fixed: Vec<(char, u32)> =
            word.char_indices().map(|(at, letter)| (look_alike(letter), self.origins[start + at])).collect();
        self.text.truncate(start);
        self.origins.truncate(start);
        for (letter, origin) in fixed {
            self.push(letter, origin);
        }
    }

    /// Where a part of it stands in the text it was made from.
    pub(super) fn origin(&self, range: Range<usize>) -> Range<usize> {
        let place = |at: usize| self.origins.get(at).map_or(self.length, |origin| *origin as usize);
        place(range.start)..place(range.end).max(place(range.start))
    }
}

/// Whether the character stands between words: spaces, and the marks by which text is made bold.
fn is_gap(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, '_' | '*' | '`' | '~')
}

/// Whether the character takes no place on paper.
pub(super) fn is_unseen(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e01ef}')
}

/// The plain form of a wide letter.
fn wide(letter: char) -> char {
    match letter {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(letter) - 0xfee0).unwrap_or(letter),
        _ => letter,
    }
}

/// The Latin letter that a Cyrillic or Greek one looks like.
fn look_alike(letter: char) -> char {
    match letter {
        'а' | 'α' => 'a',
        'е' | 'ё' => 'e',
        'о' | 'ο' => 'o',
        'р' | 'ρ' => 'p',
        'с' => 'c',
        'х' => 'x',
        'у' => 'y',
        'і' | 'ι' => 'i',
        'ѕ' => 's',
        'ј' => 'j',
        'ν' => 'v',
        'ԁ' => 'd',
        'ɡ' => 'g',
        other => other,
    }
}
