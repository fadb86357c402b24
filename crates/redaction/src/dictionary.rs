//! The words and phrases of a tenant: whole, in any case, whatever whitespace stands between the words.

use std::sync::Arc;

use crate::detector::{Class, View};
use crate::finding::{Candidate, Rule};
use crate::scan::Seen;

/// How much whitespace may stand between two words of a phrase.
const WIDEST_GAP: usize = 16;

/// One entry of a dictionary.
pub(crate) struct Phrase {
    words: Vec<String>,
    class: Class,
    rule: Arc<str>,
}

impl Phrase {
    /// An entry, unless there is nothing in it.
    pub(crate) fn new(text: &str, class: Class, rule: &Arc<str>) -> Option<Self> {
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        (!words.is_empty()).then(|| Self { words, class, rule: Arc::clone(rule) })
    }

    /// The ways it can begin: what calls for a look. ASCII letters stand for both cases.
    pub(crate) fn beginnings(&self) -> Vec<Vec<u8>> {
        let lower = &self.words[0][..self.words[0].floor_char_boundary(12)];
        let mut beginnings = vec![lower.as_bytes().to_vec()];
        if !lower.is_ascii() {
            beginnings.push(lower.to_uppercase().into_bytes());
            let mut letters = lower.chars();
            let title: String =
                letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
            beginnings.push(title.into_bytes());
        }
        beginnings.retain(|beginning| beginning.len() <= crate::words::MAX_WORD);
        beginnings.sort();
        beginnings.dedup();
        beginnings
    }

    pub(crate) fn look(&self, view: View<'_>) -> Seen {
        if last_character(&view.text[..view.at]).is_some_and(char::is_alphanumeric) {
            return Seen::Nothing;
        }
        // The text may end within a character, in which case more follows or the look has gone as far as it may.
        let rest = &view.text[view.at..];
        let rest = std::str::from_utf8(rest).unwrap_or_else(|error| valid_part(rest, error.valid_up_to()));
        let mut left = rest;
        for (index, word) in self.words.iter().enumerate() {
            if index > 0 {
                let gap = left.len() - left.trim_start().len();
                if gap == left.len() && gap <= WIDEST_GAP {
                    return Seen::Wait;
                }
                if gap == 0 || gap > WIDEST_GAP {
                    return Seen::Nothing;
                }
                left = &left[gap..];
            }
            match after(left, word) {
                After::Rest(rest) => left = rest,
                After::TooShort => return Seen::Wait,
                After::Other => return Seen::Nothing,
            }
        }
        match left.chars().next() {
            Some(next) if next.is_alphanumeric() => Seen::Nothing,
            None if !view.ended => Seen::Wait,
            _ => Seen::Found(vec![Candidate {
                range: view.at..view.at + rest.len() - left.len(),
                class: self.class,
                rule: Rule::Named(Arc::clone(&self.rule)),
                encoding: None,
            }]),
        }
    }
}

enum After<'t> {
    Rest(&'t str),
    TooShort,
    Other,
}

/// What follows `word`, which is in lower case, at the beginning of `text`.
fn after<'t>(text: &'t str, word: &str) -> After<'t> {
    let mut expected = word.chars();
    for (index, character) in text.char_indices() {
        let mut folded = character.to_lowercase();
        if expected.as_str().is_empty() {
            return After::Rest(&text[index..]);
        }
        if !folded.all(|letter| expected.next() == Some(letter)) {
            return After::Other;
        }
    }
    if expected.as_str().is_empty() { After::Rest("") } else { After::TooShort }
}

fn last_character(bytes: &[u8]) -> Option<char> {
    let start = bytes.len().saturating_sub(4);
    (start..bytes.len()).find_map(|from| std::str::from_utf8(&bytes[from..]).ok()?.chars().next_back())
}

fn valid_part(bytes: &[u8], end: usize) -> &str {
    std::str::from_utf8(&bytes[..end]).unwrap_or_default()
}
