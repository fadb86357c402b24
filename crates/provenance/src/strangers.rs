//! Everything untrusted that was read, so that a value is found in it at once.
//!
//! Texts are kept as the hashes of their words. A short value is looked for from end to end, which is a few microseconds for
//! what a model can read; of a long one every run of four words would have to be, so a filter of such runs is asked first. A
//! collision finds a value where it is not, and so asks a person once too often; it can never make a stranger's value the
//! user's.

use std::collections::HashMap;

use crate::finding::Source;
use crate::kind::identities;
use crate::words::numbers;

/// Longer values are found by a run of so many of their words.
const RUN: usize = 4;

/// The untrusted texts of a conversation.
#[derive(Debug, Default)]
pub(crate) struct Strangers {
    /// Each with the place in `words` where it ends.
    sources: Vec<(Source, usize)>,
    /// Whose texts were read, whether or not their words are known.
    names: Vec<String>,
    words: Vec<u64>,
    filter: Filter,
    identities: HashMap<String, usize>,
    numbers: Vec<(f64, usize)>,
}

impl Strangers {
    /// Takes note of `text` from `source`. The first source of a word keeps it.
    pub(crate) fn hear(&mut self, source: Source, text: &str) {
        if !self.names.contains(&source.name) {
            self.names.push(source.name.clone());
        }
        let begin = self.words.len();
        each_word(text, |word| self.words.push(word));
        self.filter.add(&self.words, begin);
        // No run goes on into the next text.
        self.words.push(0);
        let at = self.sources.len();
        self.sources.push((source, self.words.len()));
        for identity in identities(text) {
            self.identities.entry(identity.value).or_insert(at);
        }
        self.numbers.extend(numbers(text).map(|number| (number, at)));
    }

    /// Whose texts were read, in order.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Where `text` was copied from: all of it, if it is short, or a run of words in it.
    pub(crate) fn said(&self, text: &str) -> Option<&Source> {
        let mut wanted = Vec::new();
        each_word(text, |word| wanted.push(word));
        if wanted.len() < RUN {
            return self.find(&wanted);
        }
        let likely = wanted.windows(RUN).filter(|run| self.filter.has(run));
        likely.filter_map(|run| self.find(run)).next()
    }

    fn find(&self, run: &[u64]) -> Option<&Source> {
        let first = run.first()?;
        let places = self.words.iter().enumerate().filter(|(_, word)| *word == first);
        let at = places.map(|(at, _)| at).find(|at| self.words[*at..].starts_with(run))?;
        let source = self.sources.partition_point(|(_, end)| *end <= at);
        self.sources.get(source).map(|(source, _)| source)
    }

    /// Where an identity was read.
    pub(crate) fn said_identity(&self, value: &str) -> Option<&Source> {
        self.identities.get(value).and_then(|at| self.sources.get(*at)).map(|(source, _)| source)
    }

    /// Where a number was read.
    pub(crate) fn said_number(&self, number: f64) -> Option<&Source> {
        let heard = self.numbers.iter().find(|(heard, _)| heard.to_bits() == number.to_bits());
        heard.and_then(|(_, at)| self.sources.get(*at)).map(|(source, _)| source)
    }
}

/// Calls `each` with the hash of every word of `text`, whatever its case; never 0.
fn each_word(text: &str, mut each: impl FnMut(u64)) {
    const START: u64 = 0xcbf2_9ce4_8422_2325;
    let mut word = START;
    let add =
        |word: &mut u64, letter: char| *word = (*word ^ u64::from(letter)).wrapping_mul(0x0100_0000_01b3);
    for letter in text.chars() {
        if letter.is_ascii_alphanumeric() {
            add(&mut word, letter.to_ascii_lowercase());
        } else if !letter.is_ascii() && letter.is_alphanumeric() {
            letter.to_lowercase().for_each(|letter| add(&mut word, letter));
        } else if word != START {
            each(word | 1);
            word = START;
        }
    }
    if word != START {
        each(word | 1);
    }
}

/// Which runs may be somewhere; what it denies is nowhere.
#[derive(Debug, Default)]
struct Filter {
    bits: Vec<u64>,
}

impl Filter {
    /// Takes in the runs of `words` that end behind `begin`, with sixteen bits for each.
    fn add(&mut self, words: &[u64], mut begin: usize) {
        if self.bits.len() * 4 < words.len() {
            self.bits = vec![0; (words.len() / 2).next_power_of_two().max(64)];
            begin = 0;
        }
        for run in words.get(begin..).into_iter().flat_map(|words| words.windows(RUN)) {
            let (at, bit) = self.place(run);
            self.bits[at] |= bit;
        }
    }

    fn has(&self, run: &[u64]) -> bool {
        let (at, bit) = self.place(run);
        self.bits.get(at).is_some_and(|bits| bits & bit != 0)
    }

    fn place(&self, run: &[u64]) -> (usize, u64) {
        let folded = run.iter().fold(0u64, |hash, word| hash.rotate_left(17) ^ word);
        let hash = (folded ^ (folded >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // The number of cells is a power of two.
        let mask = self.bits.len().saturating_sub(1);
        (usize::try_from(hash >> 20).unwrap_or_default() & mask, 1 << (hash >> 58))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(text: &str) -> Strangers {
        let mut strangers = Strangers::default();
        strangers.hear(Source { name: "mail".into(), path: "body".into() }, text);
        strangers
    }

    #[test]
    fn a_short_value_is_found_whole_and_a_long_one_by_a_run_of_it() {
        let strangers = heard("Please meet me at the old mill by the river, Thursday.");
        assert!(strangers.said("Old Mill").is_some());
        assert!(strangers.said("mill old").is_none());
        assert!(strangers.said("Hi Bob, we meet me at the station").is_some());
        assert!(strangers.said("we meet at the station").is_none());
        assert!(strangers.said("").is_none());
    }

    #[test]
    fn every_run_of_a_long_text_is_found_and_its_source_is_named() {
        let mut strangers = Strangers::default();
        let text = |page: usize| (0..300).map(|word| format!("w{page}x{word}")).collect::<Vec<_>>().join(" ");
        for page in 0..20 {
            strangers.hear(Source { name: format!("page {page}"), path: String::new() }, &text(page));
        }
        for page in 0..20 {
            let words = text(page);
            for run in words.split(' ').collect::<Vec<_>>().windows(5) {
                assert_eq!(strangers.said(&run.join(" ")).unwrap().name, format!("page {page}"));
            }
        }
        assert!(strangers.said("w0x298 w0x299 w1x0 w1x1").is_none());
    }

    #[test]
    fn identities_and_numbers_are_found_in_every_spelling() {
        let strangers = heard("Pay 1,100.00 to GB29NWBK60161331926819, see https://www.example.org/.");
        assert!(strangers.said_number(1100.0).is_some());
        assert!(strangers.said_identity("gb29nwbk60161331926819").is_some());
        assert!(strangers.said_identity("example.org").is_some());
    }
}
