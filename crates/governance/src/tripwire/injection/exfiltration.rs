//! Asks to send data away: an order with a thing and an address, and pictures whose address carries data.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::normal::Normal;
use super::{EXFILTRATION, Signal};

/// How far behind the verb the address may stand.
const NEAR: usize = 240;

/// Verbs that send.
const VERBS: &[&str] = &[
    "send",
    "email",
    "e-mail",
    "forward",
    "post",
    "upload",
    "share",
    "transmit",
    "exfiltrate",
    "leak",
    "transfer",
    "wire",
    "submit",
    "copy",
    "append",
    "encode",
];
/// What is worth sending away.
const THINGS: &[&str] = &[
    "password",
    "secret",
    "credential",
    "api key",
    "token",
    "code",
    "content",
    "body of",
    "bodies",
    "all ",
    "every",
    "files",
    "file ",
    "iban",
    "data",
    "conversation",
    "history",
    "emails",
    "transaction",
    "money",
    "payment",
    "account",
    "$",
    "document",
    "inbox",
    "address book",
    "contacts",
    "environment",
    "private",
    "personal",
    "information",
    "credit card",
    "ssn",
    "system prompt",
    "messages",
];
/// Words after which a verb is an order.
const BEFORE: &[&str] = &[
    "please",
    "then",
    "and",
    "must",
    "now",
    "first",
    "instead",
    "immediately",
    "also",
    "finally",
    "should",
    "kindly",
    "next",
    "always",
    "you",
    "to",
];

static VERB: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::DFA))
        .match_kind(MatchKind::LeftmostLongest)
        .build(VERBS)
        .ok()
});
static THING: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(THINGS).ok());

/// Finds asks to send data away.
pub(super) fn find(text: &str, normal: &Normal, signals: &mut Vec<Signal>) {
    pictures(text, signals);
    let (Some(verbs), Some(things)) = (VERB.as_ref(), THING.as_ref()) else { return };
    let bytes = normal.text.as_bytes();
    let mut done = 0;
    for hit in verbs.find_iter(&normal.text) {
        let ends = matches!(bytes.get(hit.end()), Some(b' ' | b'\n'));
        if hit.start() < done || !ends || !is_order(&normal.text[..hit.start()]) {
            continue;
        }
        let mut end = (hit.end() + NEAR).min(bytes.len());
        while !normal.text.is_char_boundary(end) {
            end -= 1;
        }
        let sentence = &normal.text[hit.end()..end];
        let Some((address, length)) = address_in(sentence) else { continue };
        if things.is_match(&sentence[..address]) {
            done = hit.end() + address + length;
            let reason = "asks to send something to an address that it names";
            signals.push(Signal { label: EXFILTRATION, reason, span: normal.origin(hit.start()..done) });
        }
    }
}

/// Whether a verb behind this text is an order: at the beginning of a sentence, or after a word that makes it one.
fn is_order(before: &str) -> bool {
    let trimmed = before.trim_end_matches([' ', '\n', '"', '\'', '(', '>', '-']);
    if trimmed.len() == before.len() && !before.is_empty() {
        return before.ends_with([':', '\n']);
    }
    if before.is_empty()
        || trimmed.is_empty()
        || trimmed.ends_with(['.', '!', '?', ':', ';', ','])
        || before.ends_with('\n')
    {
        return true;
    }
    // The last word is short, or is none of ours.
    let start = trimmed.len().saturating_sub(16);
    let tail = trimmed.get(start..).unwrap_or_default();
    let word = tail.rsplit(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
    BEFORE.contains(&word)
}

/// Where an address that data can go to stands in the sentence behind a "to", and its length.
fn address_in(sentence: &str) -> Option<(usize, usize)> {
    let mut at = 0;
    for word in sentence.split_inclusive([' ', '\n']) {
        let bare = word.trim_matches(|letter: char| !letter.is_alphanumeric());
        let mail = bare.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.'));
        let link = bare.starts_with("http") && bare.contains("://");
        let account = bare.len() >= 15
            && bare.is_ascii()
            && bare[..2].bytes().all(|byte| byte.is_ascii_lowercase())
            && bare[2..].bytes().filter(u8::is_ascii_digit).count() > 10;
        if (mail || link || account) && is_named(&sentence[..at]) {
            return Some((at, word.trim_end().len()));
        }
        at += word.len();
    }
    None
}

/// Whether what stands before an address says that something goes there: `to`, and at most a few words such as "the account".
fn is_named(before: &str) -> bool {
    const BETWEEN: &[&str] = &[
        "a",
        "account",
        "address",
        "at",
        "e-mail",
        "email",
        "endpoint",
        "following",
        "iban",
        "link",
        "my",
        "our",
        "recipient",
        "server",
        "site",
        "the",
        "this",
        "url",
        "user",
        "webhook",
    ];
    let words = before
        .rsplit(|letter: char| !(letter.is_alphanumeric() || letter == '-'))
        .filter(|word| !word.is_empty());
    words.take(5).find(|word| !BETWEEN.contains(word)) == Some("to")
}

/// Pictures whose address carries what is to be filled in: a reader that shows them sends it.
fn pictures(text: &str, signals: &mut Vec<Signal>) {
    const FILLED: &[&str] = &[
        "data=",
        "secret",
        "token",
        "conversation",
        "history",
        "prompt",
        "summary",
        "content=",
        "password",
        "payload",
        "exfil",
        "leak",
        "info=",
        "msg=",
        "message=",
    ];
    for (start, _) in text.match_indices("![") {
        let mut end = (start + 512).min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let window = &text[start..end];
        let Some(open) = window.find("](http") else { continue };
        let address = window[open + 2..].split([')', ' ', '\n']).next().unwrap_or_default();
        let Some((_, query)) = address.split_once('?') else { continue };
        let query = query.to_ascii_lowercase();
        let filled = query.contains(['{', '[', '<', '$', '%'])
            && query.contains('=')
            && query.contains(['{', '[', '<', '$']);
        if filled || FILLED.iter().any(|word| query.contains(word)) {
            let span = start..start + open + 2 + address.len();
            signals.push(Signal {
                label: EXFILTRATION,
                reason: "shows a picture whose address carries data",
                span,
            });
        }
    }
}
