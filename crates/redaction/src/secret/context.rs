//! What stands before a value: how it is assigned, and what it is called.
//!
//! `api_key = "…"`, `"apiKey": "…"`, `API-Key => …` and "my API key is …" all lead to the same answer.

use std::ops::Range;

use crate::secret::names::{BENIGN, Name, names_in};

/// How far back a label is read.
const LABEL: usize = 64;
/// How far back a word in prose still speaks about a value.
const NEAR: usize = 72;
/// How many bytes can stand between a label and its value.
const BETWEEN: usize = 14;

/// How a value is tied to what stands before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tie {
    /// By nothing.
    None,
    /// By standing right behind its name.
    Beside,
    /// By a word such as "is".
    Told,
    /// By a comma, a bracket or a bar.
    Listed,
    /// By a sign of assignment.
    Assigned,
}

/// What stands before a value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context {
    pub(crate) tie: Tie,
    /// The label has a name in it at all.
    pub(crate) labelled: bool,
    /// The label speaks of a key, token or password.
    pub(crate) secret: bool,
    /// The label or what stands before it names a service.
    pub(crate) service: bool,
    /// The label speaks of a hash, an id or a file.
    pub(crate) benign: bool,
    /// It speaks of a key and says no more, as that of a table's row would.
    pub(crate) vague: bool,
    /// A word of that kind stands near, if not in the label.
    pub(crate) near: bool,
}

impl Context {
    /// Whether the label says that the value is secret.
    pub(crate) fn tells(&self) -> bool {
        self.tie > Tie::None && (self.secret || self.service)
    }

    pub(crate) fn before(text: &[u8]) -> Self {
        let (tied, mut tie) = between(text);
        let label_at = label_start(&text[..tied]);
        let label = &text[label_at..tied];
        let wide_at = tied.saturating_sub(NEAR);
        let (mut secret, mut service, mut near, mut named_last) = (false, false, false, false);
        let last = last_word(label);
        for (place, name) in names_in(&text[wide_at..tied]) {
            let place = wide_at + place;
            near = true;
            secret |= name == Name::Secret && place >= label_at;
            service |= name == Name::Service && (place >= label_at || tie > Tie::Told);
            named_last |= place >= tied - label.len() + last.start;
        }
        if tie == Tie::Assigned && !secret {
            secret = in_manifest(text);
        }
        if tie == Tie::None && (secret || service) {
            tie = told(&label[last], named_last);
        }
        let labelled = label.iter().any(u8::is_ascii_alphanumeric);
        let vague = is_vague(label) && !service;
        Self { tie, labelled, secret, service, benign: has_any_word(label, BENIGN), vague, near }
    }
}

/// Reads backwards over quotes, spaces and signs of assignment: where they begin, and what they say.
fn between(text: &[u8]) -> (usize, Tie) {
    let mut tie = Tie::None;
    let mut at = text.len();
    let mut counted = 0;
    while at > 0 && counted <= BETWEEN {
        let escape = at >= 2 && text[at - 2] == b'\\' && matches!(text[at - 1], b'n' | b'r' | b't');
        if escape {
            at -= 2;
            continue;
        }
        let byte = text[at - 1];
        let says = match byte {
            b'=' | b':' => Tie::Assigned,
            b'>' if at >= 2 && matches!(text[at - 2], b'=' | b'-') => Tie::Assigned,
            b'>' | b',' | b'(' | b'[' | b'|' | b'?' | b'{' => Tie::Listed,
            b'\'' | b'"' | b'`' | b'\\' | b' ' | b'\t' | b'\n' | b'\r' => Tie::None,
            b'-' if tie == Tie::Assigned => Tie::None,
            _ => break,
        };
        tie = tie.max(says);
        at -= 1;
        // Quotes inside quotes inside quotes have many of them.
        counted += usize::from(byte != b'\\');
    }
    (at, tie)
}

/// Where the label that ends at the end of `text` begins.
fn label_start(text: &[u8]) -> usize {
    let least = text.len().saturating_sub(LABEL);
    let ends = |byte: &u8| {
        matches!(
            byte,
            b'{' | b'}'
                | b';'
                | b'<'
                | b'>'
                | b'('
                | b')'
                | b','
                | b'='
                | b':'
                | b'|'
                | b'&'
                | b'?'
                | b'\n'
                | b'\\'
        )
    };
    text[least..].iter().rposition(ends).map_or(least, |index| least + index + 1)
}

/// Whether a label is `key` or an id of one, and nothing else.
pub(crate) fn is_vague(label: &[u8]) -> bool {
    let name = label.trim_ascii();
    let start = name.iter().position(u8::is_ascii_alphanumeric).unwrap_or(name.len());
    [&b"key"[..], b"keyId", b"key_id", b"key-id"]
        .iter()
        .any(|vague| name[start..].eq_ignore_ascii_case(vague))
}

/// Where the last word of a label stands in it.
fn last_word(label: &[u8]) -> Range<usize> {
    let end = label.trim_ascii_end().len();
    let start = label[..end].iter().rposition(u8::is_ascii_whitespace).map_or(0, |space| space + 1);
    start..end
}

/// How prose leads to a value: with a word that does so, or with the name of the thing.
fn told(last: &[u8], is_name: bool) -> Tie {
    const VERBS: &[&[u8]] = &[
        b"is", b"was", b"are", b"be", b"as", b"to", b"with", b"using", b"use", b"have", b"got", b"this",
        b"here",
    ];
    if VERBS.iter().any(|verb| last.eq_ignore_ascii_case(verb)) {
        Tie::Told
    } else if is_name {
        Tie::Beside
    } else {
        Tie::None
    }
}

/// Whether the value stands in a manifest of secrets, where every value is one.
fn in_manifest(text: &[u8]) -> bool {
    memchr::memchr_iter(b':', text).any(|colon| {
        let rest = &text[colon + 1..];
        text[..colon].len() >= 4
            && text[colon - 4..colon].eq_ignore_ascii_case(b"kind")
            && rest.iter().position(u8::is_ascii_alphabetic).is_some_and(|start| {
                rest[start..].get(..6).is_some_and(|kind| kind.eq_ignore_ascii_case(b"secret"))
            })
    })
}

/// Whether one of the words that make up a label is in `words`.
fn has_any_word(label: &[u8], words: &[&str]) -> bool {
    let mut start = 0;
    for end in 0..=label.len() {
        let byte = label.get(end).copied().unwrap_or(b' ');
        let hump = end > start && byte.is_ascii_uppercase() && label[end - 1].is_ascii_lowercase();
        if hump || !byte.is_ascii_alphabetic() {
            let part = &label[start..end];
            if words.iter().any(|word| part.eq_ignore_ascii_case(word.as_bytes())) {
                return true;
            }
            start = if hump { end } else { end + 1 };
        }
    }
    false
}
