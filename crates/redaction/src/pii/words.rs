//! Words with a capital letter, as names and streets are written.

use super::reader::{Looked, Reader, is_of_word};

/// The longest word that is read.
const LONGEST: usize = 40;

/// A word and what it looks like.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word {
    pub start: usize,
    pub end: usize,
    /// Its first letter is a capital, or of an alphabet without any.
    pub capital: bool,
}

/// The word at `start`, hyphens and apostrophes inside it included. None where there is no letter.
pub(super) fn word_at(reader: &Reader<'_>, start: usize) -> Looked<Option<Word>> {
    let Some((first, length)) = reader.letter(start)? else { return Ok(None) };
    if !first.is_alphabetic() {
        return Ok(None);
    }
    let mut end = start + length;
    while let Some((letter, length)) = reader.letter(end)? {
        let inside = matches!(letter, '-' | '\'' | '’')
            && reader.letter(end + length)?.is_some_and(|(next, _)| next.is_alphabetic());
        if end - start > LONGEST || !(is_of_word(letter) || inside) {
            break;
        }
        end += length;
    }
    Ok((end - start <= LONGEST).then_some(Word { start, end, capital: !first.is_lowercase() }))
}

/// Whether the word is one of those that stand in lower case inside names.
pub(super) fn is_particle(word: &[u8]) -> bool {
    const PARTICLES: &[&str] = &[
        "al", "am", "an", "av", "bin", "d", "da", "das", "de", "dei", "del", "della", "delle", "dels", "den",
        "der", "des", "di", "do", "dos", "du", "e", "el", "i", "l", "la", "las", "le", "les", "los", "of",
        "the", "van", "von", "y", "zu", "zum", "zur",
    ];
    PARTICLES.iter().any(|particle| particle.as_bytes() == word)
        || word.starts_with("d'".as_bytes())
        || word.starts_with("l'".as_bytes())
}

/// Whether the word is one of `words`, in any ASCII case.
pub(super) fn is_one_of(word: &[u8], words: &[&str]) -> bool {
    words.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(word))
}
