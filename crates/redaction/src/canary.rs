//! Strings that were planted and must never come out, however they are dressed up.
//!
//! The text is read as its ASCII letters and digits alone, in lower case. So whatever stands between the characters of a canary (spaces, dashes,
//! dots, line ends, characters that cannot be seen) and whatever case they are in, it reads the same; and so do its encodings, which are
//! looked for beside it: base64 in every alignment, hexadecimal, percent signs, rot13, back to front.
//!
//! The automaton is of our own making, because it has to say how much of a canary may be under way: that much is held back.

use std::collections::VecDeque;

use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use crate::detector::Class;
use crate::finding::{Candidate, Encoding, Rule};
use crate::known::aligned;

/// How far the characters of a canary can be spread.
pub(crate) const MAX_SPREAD: usize = 4096;

/// A spelling that reads shorter than this would be found in any text.
const SHORTEST: usize = 8;

/// Letters and digits.
const ALPHABET: usize = 36;

/// A byte that is not read.
const SKIPPED: u8 = u8::MAX;

/// What is read of each byte.
const READ: [u8; 256] = {
    let mut table = [SKIPPED; 256];
    let mut index = 0;
    while index < 256 {
        let byte = index as u8;
        table[index] = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'z' => byte - b'a' + 10,
            b'A'..=b'Z' => byte - b'A' + 10,
            _ => SKIPPED,
        };
        index += 1;
    }
    table
};

struct Spelling {
    read: Vec<u8>,
    class: Class,
    encoding: Option<Encoding>,
    /// As it was planted, to tell whether it came out as it is.
    plain: Vec<u8>,
}

#[derive(Clone, Copy)]
struct Node {
    next: [u32; ALPHABET],
    depth: u32,
    /// The spelling that ends here, and the next shorter one that ends at the same place.
    spelling: Option<u32>,
    shorter: u32,
}

impl Node {
    fn new(depth: u32) -> Self {
        Self { next: [0; ALPHABET], depth, spelling: None, shorter: 0 }
    }
}

/// All canaries as one automaton.
pub(crate) struct Canaries {
    nodes: Vec<Node>,
    spellings: Vec<Spelling>,
}

impl Canaries {
    pub(crate) fn new(values: &[(u16, String)]) -> Option<Self> {
        if values.is_empty() {
            return None;
        }
        let spellings: Vec<Spelling> =
            values.iter().flat_map(|(index, value)| spellings(*index, value)).collect();
        let nodes = automaton(&spellings);
        Some(Self { nodes, spellings })
    }

    /// Reads `text[from..]` in the state that `text[..from]` led to.
    pub(crate) fn read(&self, state: &mut u32, text: &[u8], from: usize, mut found: impl FnMut(Candidate)) {
        for (index, &byte) in text.iter().enumerate().skip(from) {
            let letter = READ[usize::from(byte)];
            if letter == SKIPPED {
                continue;
            }
            *state = self.nodes[*state as usize].next[usize::from(letter)];
            let mut ending = *state;
            while ending != 0 {
                let node = &self.nodes[ending as usize];
                if let Some(number) = node.spelling {
                    let spelling = &self.spellings[number as usize];
                    if let Some(start) = back(text, index + 1, spelling.read.len()) {
                        found(spelling.candidate(text, start, index + 1));
                    }
                }
                ending = node.shorter;
            }
        }
    }

    /// Where a canary that may be under way begins.
    pub(crate) fn under_way(&self, state: u32, text: &[u8]) -> usize {
        match self.nodes[state as usize].depth {
            0 => text.len(),
            depth => back(text, text.len(), depth as usize).unwrap_or(text.len().saturating_sub(MAX_SPREAD)),
        }
    }
}

impl Spelling {
    fn candidate(&self, text: &[u8], start: usize, end: usize) -> Candidate {
        let there = &text[start..end];
        let spaced = there.iter().filter(|byte| READ[usize::from(**byte)] == SKIPPED).count()
            != self.plain.iter().filter(|byte| READ[usize::from(**byte)] == SKIPPED).count();
        let encoding = self.encoding.or(spaced.then_some(Encoding::Spaced));
        Candidate { range: start..end, class: self.class, rule: Rule::BuiltIn("canary"), encoding }
    }
}

/// The place from which `count` bytes are read up to `end`.
fn back(text: &[u8], end: usize, count: usize) -> Option<usize> {
    let from = end.saturating_sub(MAX_SPREAD);
    let mut read = 0;
    for index in (from..end).rev() {
        if READ[usize::from(text[index])] != SKIPPED {
            read += 1;
            if read == count {
                return Some(index);
            }
        }
    }
    None
}

fn spellings(index: u16, value: &str) -> Vec<Spelling> {
    let bytes = value.as_bytes();
    let mut all: Vec<Spelling> = Vec::new();
    let mut add = |text: Vec<u8>, encoding: Option<Encoding>, shortest: usize| {
        let read: Vec<u8> =
            text.iter().map(|byte| READ[usize::from(*byte)]).filter(|letter| *letter != SKIPPED).collect();
        if read.len() >= shortest && !all.iter().any(|other| other.read == read) {
            all.push(Spelling { read, class: Class::Canary(index), encoding, plain: text });
        }
    };
    add(bytes.to_vec(), None, 1);
    add(bytes.iter().rev().copied().collect(), Some(Encoding::Reversed), SHORTEST);
    add(bytes.iter().map(|byte| rot13(*byte)).collect(), Some(Encoding::Rot13), SHORTEST);
    add(hex::encode(bytes).into_bytes(), Some(Encoding::Hex), SHORTEST);
    add(partly_percent(bytes), Some(Encoding::Url), SHORTEST);
    // Decoders forgive a changed case seldom, readers often: both cases are looked for.
    for cased in [value.to_owned(), value.to_lowercase(), value.to_uppercase()] {
        for before in 0..3 {
            add(aligned(cased.as_bytes(), before, &STANDARD_NO_PAD), Some(Encoding::Base64), SHORTEST);
            add(aligned(cased.as_bytes(), before, &URL_SAFE_NO_PAD), Some(Encoding::Base64), SHORTEST);
        }
        add(hex::encode(cased).into_bytes(), Some(Encoding::Hex), SHORTEST);
    }
    all
}

fn rot13(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => (byte - b'a' + 13) % 26 + b'a',
        b'A'..=b'Z' => (byte - b'A' + 13) % 26 + b'A',
        _ => byte,
    }
}

/// With percent signs where an address needs them.
fn partly_percent(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for &byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(byte);
        } else {
            out.extend_from_slice(format!("%{byte:02x}").as_bytes());
        }
    }
    out
}

fn automaton(spellings: &[Spelling]) -> Vec<Node> {
    let mut nodes = vec![Node::new(0)];
    for (number, spelling) in spellings.iter().enumerate() {
        let mut at = 0;
        for &letter in &spelling.read {
            let next = nodes[at].next[usize::from(letter)] as usize;
            at = if next == 0 {
                let depth = nodes[at].depth + 1;
                nodes.push(Node::new(depth));
                let made = nodes.len() - 1;
                nodes[at].next[usize::from(letter)] = made as u32;
                made
            } else {
                next
            };
        }
        // Of two that read the same the first is told.
        nodes[at].spelling.get_or_insert(number as u32);
    }
    // By growing depth: where a node fails to go on, it goes on from its longest proper suffix.
    let mut failures = vec![0_u32; nodes.len()];
    let mut queue = VecDeque::from([0_usize]);
    while let Some(at) = queue.pop_front() {
        for letter in 0..ALPHABET {
            let fallback = nodes[failures[at] as usize].next[letter];
            let next = nodes[at].next[letter];
            if next == 0 {
                if at != 0 {
                    nodes[at].next[letter] = fallback;
                }
            } else {
                let failure = if at == 0 { 0 } else { fallback };
                failures[next as usize] = failure;
                let suffix = &nodes[failure as usize];
                nodes[next as usize].shorter =
                    if suffix.spelling.is_some() { failure } else { suffix.shorter };
                queue.push_back(next as usize);
            }
        }
    }
    nodes
}
