//! What the words around a number say about it.

use super::reader::{Reader, is_word_byte};

/// Whether one of `words` stands in the `window` bytes before `position`, as a whole word in any ASCII case. A word with a `*`
/// at its end stands for all that begin so.
pub(super) fn said_before(reader: &Reader<'_>, position: usize, window: usize, words: &[&str]) -> bool {
    says(reader.behind(position, window), words)
}

/// Whether one of `words` stands in `text`, as [`said_before`] reads them.
pub(super) fn says(text: &[u8], words: &[&str]) -> bool {
    // Almost no word in the text begins as one of those does.
    let begin =
        words.iter().filter_map(|word| word.bytes().next()).fold(0_u64, |set, byte| set | first(byte));
    let mut before = b' ';
    for (at, byte) in text.iter().enumerate() {
        let begins = is_word_byte(*byte) && !continues(before, *byte);
        before = *byte;
        if begins && begin & first(*byte) != 0 && words.iter().any(|word| stands(&text[at..], word)) {
            return true;
        }
    }
    false
}

/// A bit for the first byte of a word, the same for both cases of a letter.
fn first(byte: u8) -> u64 {
    1 << (byte & 0x1F) << (byte >> 2 & 0x20)
}

/// Whether a byte goes on with the word of the byte before it. `mobilePhone` and `phone_number` are two words each.
fn continues(before: u8, byte: u8) -> bool {
    is_word_byte(before) && before != b'_' && !(before.is_ascii_lowercase() && byte.is_ascii_uppercase())
}

fn stands(text: &[u8], word: &str) -> bool {
    let (stem, open) = word.strip_suffix('*').map_or((word, false), |stem| (stem, true));
    let Some(start) = text.get(..stem.len()) else { return false };
    if !start.eq_ignore_ascii_case(stem.as_bytes()) {
        return false;
    }
    let last = start.last().copied().unwrap_or(b' ');
    open || text
        .get(stem.len())
        .is_none_or(|next| !is_word_byte(*next) || !continues(last, *next) || *next == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole_unless_a_stem_is_asked_for() {
        assert!(says(b"my Phone: ", &["phone"]));
        assert!(says(b"mobilePhone=", &["phone"]));
        assert!(says(b"phone_number: ", &["phone"]));
        assert!(says(b"phone_number: ", &["number"]));
        assert!(!says(b"phonetics", &["phone"]));
        assert!(says(b"phonetics", &["phone*"]));
        assert!(!says(b"megaphone ", &["phone*"]));
    }
}
