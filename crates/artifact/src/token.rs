//! Tokens with kinds: what in a text is a number, a date, an id, an address; everything else is words.

use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

/// The kind of a variable span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// An e-mail address.
    Email,
    /// A web address.
    Url,
    /// A day.
    Date,
    /// A sum of money.
    Money,
    /// Letters and digits that name something.
    Id,
    /// A number.
    Number,
    /// One of a few words.
    Enum,
    /// Any words.
    Text,
}

impl Kind {
    /// The kinds that a text shows by itself; the others are found by comparing texts.
    pub const VISIBLE: [Self; 6] = [Self::Email, Self::Url, Self::Date, Self::Money, Self::Id, Self::Number];
}

/// A piece of text: typed, a word (kind `None`), or a mark between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// The text.
    pub text: &'a str,
    /// Where it begins, in bytes.
    pub start: usize,
    /// Its kind, unless it is a word or a mark.
    pub kind: Option<Kind>,
}

/// No more tokens of a text are looked at.
pub const MOST_TOKENS: usize = 1024;

const MONTH: &str = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}";

/// One group for each of [`Kind::VISIBLE`], then words, then marks.
static TOKENS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let date = format!(
        r"\d{{4}}-\d{{2}}-\d{{2}}|\d{{1,2}}[./]\d{{1,2}}[./]\d{{4}}|\d{{1,2}}(?:st|nd|rd|th)?\s{MONTH}\s\d{{4}}|{MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?,?\s\d{{4}}"
    );
    let money = r"[$€£¥]\s?\d[\d.,]*\d|[$€£¥]\s?\d|\d[\d.,]*\s?(?:[€£¥]|(?:usd|eur|gbp|chf|jpy)\b)|(?:usd|eur|gbp|chf|jpy)\s\d(?:[\d.,]*\d)?";
    let id = r"#?[a-z]{1,6}[-_]?\d[\w-]*\w|#?[a-z]{1,6}[-_]\d|#\d+|\d+[a-z-][\w-]*\d\w*|[0-9a-f]{8}-[0-9a-f-]{20,}";
    let number = r"-?\d(?:[\d.,]*\d)?";
    let whole = format!(
        r"(?i)([\w.+-]+@[\w-]+(?:\.[\w-]+)+)|(https?://[^\s<>\x22]+[^\s<>\x22.,;:!?)])|({date})|({money})|({id})|({number})|([\p{{L}}\p{{N}}'’]+)|([^\s])"
    );
    Regex::new(&whole).ok()
});

/// The tokens of `text`, at most [`MOST_TOKENS`].
#[must_use]
pub fn tokens(text: &str) -> Vec<Token<'_>> {
    let Some(regex) = TOKENS.as_ref() else { return Vec::new() };
    let mut found = Vec::new();
    let mut at = 0;
    while found.len() < MOST_TOKENS {
        at += text[at..].len() - text[at..].trim_ascii_start().len();
        let Some(token) = plain_word(text, at).or_else(|| matched(regex, text, at)) else { break };
        at = token.start + token.text.len();
        found.push(token);
    }
    found
}

/// The next token at or after `at`, by the expression.
fn matched<'a>(regex: &Regex, text: &'a str, at: usize) -> Option<Token<'a>> {
    let found = regex.captures_at(text, at)?;
    let whole = found.get(0)?;
    let kind = (1..=Kind::VISIBLE.len())
        .find(|group| found.get(*group).is_some())
        .map(|group| Kind::VISIBLE[group - 1]);
    Some(Token { text: whole.as_str(), start: whole.start(), kind })
}

/// The word at `at`, if it is surely what the expression would find there, which takes a hundred times as long: letters of ASCII, and after
/// them nothing that an address, an id or a longer word could go on with, and no number that would make a date or money of it.
fn plain_word(text: &str, at: usize) -> Option<Token<'_>> {
    let rest = &text.as_bytes()[at..];
    let length = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let ends = match rest.get(length) {
        None | Some(b',' | b';' | b'!' | b'?' | b'(' | b')' | b'"') => true,
        Some(byte) if byte.is_ascii_whitespace() => {
            !rest.get(length + 1).is_some_and(|next| next.is_ascii_digit() || !next.is_ascii())
        }
        Some(_) => false,
    };
    (length > 0 && ends).then(|| Token { text: &text[at..at + length], start: at, kind: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_seen() {
        let text =
            "Order #A-1234 of 5 March 2024, $12.50, mail ann@example.com, see https://x.org/a. 3 items";
        let typed: Vec<(&str, Kind)> =
            tokens(text).into_iter().filter_map(|token| Some((token.text, token.kind?))).collect();
        assert_eq!(
            typed,
            [
                ("#A-1234", Kind::Id),
                ("5 March 2024", Kind::Date),
                ("$12.50", Kind::Money),
                ("ann@example.com", Kind::Email),
                ("https://x.org/a", Kind::Url),
                ("3", Kind::Number),
            ]
        );
    }

    /// Pieces that are put together in every way: words, numbers, what stands between them, and what only begins like something.
    #[test]
    fn the_short_way_finds_what_the_expression_finds() {
        let pieces = [
            "a",
            "May",
            "march",
            "usd",
            "EUR",
            "ann",
            "http",
            "https://x.org/a",
            "@",
            ".",
            ",",
            "-",
            "_",
            "#",
            "'",
            "’",
            "é",
            "ſ",
            "5",
            "12",
            "2024",
            "1st",
            " ",
            " ",
            " ",
            "\n",
            "\u{b}",
            "\u{a0}",
            "$",
            "€",
            "+",
            "/",
            ":",
            "!",
            "(",
            "deadbeef",
            "you're",
            "x.org",
            "\"",
            "5 March 2024",
            "of",
        ];
        let regex = TOKENS.as_ref().unwrap();
        let draw = |seed: u64, most: usize| (crate::text::mix(seed) % most as u64) as usize;
        for seed in 0..4_000_u64 {
            let text: String = (0..12).map(|at| pieces[draw(seed * 31 + at, pieces.len())]).collect();
            let mut expected = Vec::new();
            let mut at = 0;
            while let Some(token) = matched(regex, &text, at) {
                at = token.start + token.text.len();
                expected.push(token);
            }
            assert_eq!(tokens(&text), expected, "{text:?}");
        }
    }
}
