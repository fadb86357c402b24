//! Words of a text, as every learned form sees them: lower case, letters and digits, each with its place.

/// A word of a text: its lower-case form and the bytes it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Lower case.
    pub text: String,
    /// Where it begins, in bytes.
    pub start: usize,
    /// Where it ends, in bytes.
    pub end: usize,
}

/// How many words of a text are looked at; what comes after is not part of any decision, and a guard says so.
pub const MOST_WORDS: usize = 512;

/// The words of `text`: runs of letters and digits, with the apostrophe inside a word; at most [`MOST_WORDS`].
#[must_use]
pub fn words(text: &str) -> Vec<Word> {
    let mut found = Vec::new();
    let mut letters = text.char_indices().peekable();
    while let Some(&(start, letter)) = letters.peek() {
        if !letter.is_alphanumeric() {
            letters.next();
            continue;
        }
        if found.len() == MOST_WORDS {
            break;
        }
        let mut word = String::new();
        let mut end = start;
        while let Some(&(at, letter)) = letters.peek() {
            let apostrophe = matches!(letter, '\'' | '’')
                && text[at + letter.len_utf8()..].starts_with(char::is_alphanumeric);
            if letter.is_alphanumeric() {
                word.extend(letter.to_lowercase());
            } else if apostrophe {
                word.push('\'');
            } else {
                break;
            }
            end = at + letter.len_utf8();
            letters.next();
        }
        found.push(Word { text: word, start, end });
    }
    found
}

/// A hash that is the same on every machine and in every version: FNV-1a, finished by a mixer.
#[must_use]
pub fn stable_hash(seed: u64, bytes: &[u8]) -> u64 {
    StableHash::new(seed).with(bytes).end()
}

/// [`stable_hash`], piece by piece: whoever hashes texts with one beginning reads it once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StableHash(u64);

impl StableHash {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(0xcbf2_9ce4_8422_2325 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    pub(crate) fn with(self, bytes: &[u8]) -> Self {
        let add = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Self(bytes.iter().fold(self.0, add))
    }

    pub(crate) const fn end(self) -> u64 {
        mix(self.0)
    }
}

/// Spreads the bits of a number over all of it.
#[must_use]
pub const fn mix(mut hash: u64) -> u64 {
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_lower_case_and_know_their_place() {
        let found = words("I can't top-up 20€!");
        let texts: Vec<&str> = found.iter().map(|word| word.text.as_str()).collect();
        assert_eq!(texts, ["i", "can't", "top", "up", "20"]);
        assert_eq!((found[1].start, found[1].end), (2, 7));
    }

    #[test]
    fn a_long_text_is_looked_at_as_far_as_the_bound() {
        assert_eq!(words(&"a ".repeat(2 * MOST_WORDS)).len(), MOST_WORDS);
    }
}
