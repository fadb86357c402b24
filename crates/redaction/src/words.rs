//! The words that make detectors look.
//!
//! Almost no place in a text begins such a word, and a look at four bytes says so: their hash is looked up in a small table. Only where it
//! is there, the automaton of all words walks on from that place.

use aho_corasick::automaton::{Automaton as _, StateID};
use aho_corasick::dfa::DFA;
use aho_corasick::{Anchored, BuildError, MatchKind, StartKind};

use crate::masks::{self, Answers, BLOCK, between};

/// The longest word that is looked for: how far back a word that is just complete can begin.
pub(crate) const MAX_WORD: usize = 64;

/// What has to stand around a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edges {
    /// Any case; not touched by letters and digits, save where a capital begins a new word.
    Word,
    /// Any case; not touched by a letter or digit before it.
    Beginning,
    /// This case; not touched by a letter or digit before it.
    Prefix,
    /// Any case; anywhere. Whoever is called compares.
    Anywhere,
}

/// One word and whom it concerns. It may be the beginning of a secret, and so has no `Debug`.
pub(crate) struct Word<J> {
    pub(crate) text: Vec<u8>,
    pub(crate) edges: Edges,
    pub(crate) job: J,
}

/// How many bytes are read to ask the table, and how many bits it has.
const SEEN: usize = 4;
const BITS: usize = 1 << 16;

/// More first bytes than these are not looked for one by one.
const MANY: usize = 12;

/// All words, as a table of how they begin and an automaton.
pub(crate) struct Words<J> {
    beginnings: Box<[u64; BITS / 64]>,
    /// Of those, the beginnings of words that can stand anywhere.
    anywhere: Box<[u64; BITS / 64]>,
    /// The first bytes of words that can begin where no letter or digit does, in lower case; nothing if there are too many of them to look
    /// for one by one.
    firsts: Option<Vec<u8>>,
    automaton: DFA,
    words: Vec<Word<J>>,
    start: StateID,
}

impl<J: Copy> Words<J> {
    pub(crate) fn new(words: Vec<Word<J>>) -> Result<Self, BuildError> {
        let automaton = DFA::builder()
            .match_kind(MatchKind::Standard)
            .ascii_case_insensitive(true)
            .start_kind(StartKind::Anchored)
            .prefilter(false)
            .build(words.iter().map(|word| &word.text))?;
        // Only an automaton that was built for other searches has no anchored start.
        let start = automaton.start_state(Anchored::Yes).unwrap_or_default();
        let mut beginnings = Box::new([0; BITS / 64]);
        let mut anywhere = Box::new([0; BITS / 64]);
        for word in &words {
            mark(&mut beginnings, &word.text);
            if word.edges == Edges::Anywhere {
                mark(&mut anywhere, &word.text);
            }
        }
        let alone = |word: &&Word<J>| {
            word.edges == Edges::Anywhere || !word.text.first().is_some_and(u8::is_ascii_alphanumeric)
        };
        let mut firsts: Vec<u8> =
            words.iter().filter(alone).filter_map(|word| Some(word.text.first()? | 0x20)).collect();
        firsts.sort_unstable();
        firsts.dedup();
        let firsts = (firsts.len() <= MANY).then_some(firsts);
        Ok(Self { beginnings, anywhere, firsts, automaton, words, start })
    }

    /// The word with this number.
    pub(crate) fn word(&self, number: u32) -> &Word<J> {
        &self.words[number as usize]
    }

    /// Tells of each word that begins at `from` or later: where, and its number. Gives the first place that is not decided.
    pub(crate) fn hear(
        &self,
        text: &[u8],
        from: usize,
        ended: bool,
        mut heard: impl FnMut(usize, u32),
    ) -> usize {
        let mut at = from;
        while let Some(window) = text[at..].first_chunk::<{ BLOCK + SEEN }>() {
            let Some(block) = window.first_chunk() else { break };
            for place in masks::places(self.places(text, at, block)) {
                let Some(first) = window[place..].first_chunk() else { break };
                if is_marked(&self.beginnings, *first)
                    && !self.listen(text, at + place, *first, &mut heard)
                    && !ended
                {
                    return at + place;
                }
            }
            at += BLOCK;
        }
        while let Some(first) = text[at..].first_chunk() {
            if is_marked(&self.beginnings, *first) && !self.listen(text, at, *first, &mut heard) && !ended {
                return at;
            }
            at += 1;
        }
        if ended {
            for at in at..text.len() {
                self.walk(text, at, &mut heard);
            }
            return text.len();
        }
        // A word of two letters is told before the one behind it begins: what was let go with the space cannot be asked for again.
        if text.len() - at == SEEN - 1 && self.walk(text, at, &mut heard) {
            at += 1;
        }
        at
    }

    /// The places in a block at which a word can begin.
    fn places(&self, text: &[u8], at: usize, block: &[u8; BLOCK]) -> u64 {
        let Some(firsts) = &self.firsts else { return u64::MAX };
        let before = |back: usize, is: fn(u8) -> bool| at >= back && is(text[at - back]);
        let is_backslash: fn(u8) -> bool = |byte| byte == b'\\';
        let upper = Answers::of(block, |byte| between(byte, b'A', b'Z'));
        let alphanumeric =
            Answers::of(block, |byte| between(byte | 0x20, b'a', b'z') | between(byte, b'0', b'9'));
        let backslash = Answers::of(block, is_backslash);
        // A capital behind a small letter begins a word; one behind a digit is looked at for nothing.
        let humps = upper & !upper.before(false);
        let begun = alphanumeric & !alphanumeric.before(before(1, |byte| byte.is_ascii_alphanumeric()));
        let escaped = backslash.before(before(1, is_backslash)).before(before(2, is_backslash));
        (begun | humps | escaped | Answers::of_any(block, firsts)).in_order()
    }

    /// Walks on from a place at which a word seems to begin. Says whether the text was long enough to tell.
    fn listen(&self, text: &[u8], at: usize, first: [u8; SEEN], heard: &mut impl FnMut(usize, u32)) -> bool {
        !(may_begin(text, at) || is_marked(&self.anywhere, first)) || self.walk(text, at, heard)
    }

    /// Walks through the words that begin at a place. Says whether the text was long enough to tell.
    fn walk(&self, text: &[u8], at: usize, heard: &mut impl FnMut(usize, u32)) -> bool {
        let mut state = self.start;
        for (index, &byte) in text[at..].iter().enumerate() {
            state = self.automaton.next_state(Anchored::Yes, state, byte);
            if self.automaton.is_dead(state) {
                return true;
            }
            if self.automaton.is_match(state) {
                for nth in 0..self.automaton.match_len(state) {
                    let pattern = self.automaton.match_pattern(state, nth);
                    if self.automaton.pattern_len(pattern) == index + 1 {
                        heard(at, pattern.as_u32());
                    }
                }
            }
        }
        false
    }
}

/// The first bytes of a word as a key, the same for both cases of a letter: four of them, or three for a word that has no more.
#[inline(always)]
fn keys(first: [u8; SEEN]) -> [u32; 2] {
    let folded = u32::from_le_bytes(first) | 0x2020_2020;
    [folded, folded & 0x00FF_FFFF]
}

/// The two places of a key in the table. Two, since one alone is shared by everyday words.
#[inline(always)]
fn hashes(key: u32) -> [usize; 2] {
    [0x9E37_79B1_u32, 0x85EB_CA77].map(|factor| (key.wrapping_mul(factor) >> 16) as usize)
}

#[inline(always)]
fn is_marked(table: &[u64; BITS / 64], first: [u8; SEEN]) -> bool {
    let bit = |hash: usize| table[hash / 64] >> (hash % 64) & 1 == 1;
    let [long, short] = keys(first).map(hashes);
    // Both first places at once: that neither is there is what is nearly always the case.
    (bit(long[0]) | bit(short[0])) && ((bit(long[0]) & bit(long[1])) | (bit(short[0]) & bit(short[1])))
}

/// Marks every way to begin with `word`, which may be shorter than what the table looks at.
fn mark(table: &mut [u64; BITS / 64], word: &[u8]) {
    let key = match word {
        [] => return,
        [a, b, c, d, ..] => keys([*a, *b, *c, *d])[0],
        [a, b, c] => keys([*a, *b, *c, 0])[1],
        short => {
            for next in 0..=u8::MAX {
                let longer: Vec<u8> = short.iter().copied().chain([next]).collect();
                mark(table, &longer);
            }
            return;
        }
    };
    for hash in hashes(key) {
        table[hash / 64] |= 1 << (hash % 64);
    }
}

/// Whether what stands around `text[at..end]` fits. `None`: the next byte is needed to tell.
pub(crate) fn fits<J>(word: &Word<J>, text: &[u8], at: usize, ended: bool) -> Option<bool> {
    let end = at + word.text.len();
    let exact = || text.get(at..end) == Some(&word.text[..]);
    match word.edges {
        Edges::Anywhere => Some(true),
        Edges::Prefix => Some(begins(text, at) && exact()),
        Edges::Beginning => Some(begins(text, at)),
        Edges::Word => {
            if !may_begin(text, at) {
                return Some(false);
            }
            match text.get(end) {
                None if ended => Some(true),
                None => None,
                Some(next) => Some(!next.is_ascii_alphanumeric() || is_hump(text, end)),
            }
        }
    }
}

/// Whether something can begin at `at`: no letter or digit stands before it, save one that belongs to an escape such as `\n`.
pub(crate) fn begins(text: &[u8], at: usize) -> bool {
    match text[..at] {
        [.., b'\\', b'n' | b'r' | b't' | b'f' | b'b'] => true,
        [.., before] => !before.is_ascii_alphanumeric(),
        [] => true,
    }
}

/// Whether a word can begin at `at`, which is also where a capital follows a small letter.
fn may_begin(text: &[u8], at: usize) -> bool {
    begins(text, at) || is_hump(text, at)
}

fn is_hump(text: &[u8], at: usize) -> bool {
    at > 0 && text[at - 1].is_ascii_lowercase() && text.get(at).is_some_and(u8::is_ascii_uppercase)
}
