//! What a value looks like: recognisers for the values that say whom something reaches, and for dates.

use crate::words::{Word, is_one_of, words};

/// A value that names somebody or some place on its own, in its one spelling.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    /// What it is, for people.
    pub(crate) kind: &'static str,
    /// Its one spelling: lower-case, without blanks.
    pub(crate) value: String,
}

/// The e-mail addresses, web addresses and account numbers in `text`, in order.
pub(crate) fn identities(text: &str) -> Vec<Identity> {
    let breaks = |letter: char| "\"'`<>()[]{},;|“”‘’".contains(letter);
    // Nearly every word of a text ends at the first filter: it is looked at byte by byte, and once.
    let pieces = text.split_ascii_whitespace().filter(|piece| is_candidate(piece.as_bytes()));
    pieces.flat_map(|piece| piece.split(breaks)).filter_map(identity).collect()
}

/// Whether there is an `@`, a slash, a dot with something behind it, or enough digits for an account.
fn is_candidate(piece: &[u8]) -> bool {
    let pairs = || piece.iter().zip(piece.iter().skip(1));
    piece.len() >= 5
        && (pairs().any(|(byte, next)| match byte {
            b'@' => true,
            b'.' | b'/' => next.is_ascii_alphabetic(),
            _ => false,
        }) || (piece.len() >= 14 && piece.iter().filter(|byte| byte.is_ascii_digit()).count() >= 10))
}

/// What one piece of text without blanks is, if it is an identity.
fn identity(piece: &str) -> Option<Identity> {
    if piece.len() < 5 {
        return None;
    }
    let piece = piece.trim_matches(|letter: char| ".:!?*_=".contains(letter));
    let lower = piece.to_lowercase();
    if lower.contains("://") || lower.starts_with("www.") {
        return Some(Identity { kind: "web address", value: web_address(&lower) });
    }
    if let Some((local, domain)) = lower.strip_prefix("mailto:").unwrap_or(&lower).rsplit_once('@') {
        let is_domain = domain.contains('.') && !domain.starts_with('.') && !domain.contains("..");
        return (!local.is_empty() && is_domain)
            .then(|| Identity { kind: "e-mail address", value: format!("{local}@{domain}") });
    }
    if is_account(&lower) {
        return Some(Identity { kind: "account number", value: lower });
    }
    is_host(&lower).then(|| Identity { kind: "web address", value: web_address(&lower) })
}

/// A web address without what does not change where it leads.
fn web_address(lower: &str) -> String {
    let bare = lower.split_once("://").map_or(lower, |(_, rest)| rest);
    bare.strip_prefix("www.").unwrap_or(bare).trim_end_matches('/').to_owned()
}

/// Two letters and at least twelve digits or letters, mostly digits: an IBAN, or what is meant for one.
fn is_account(lower: &str) -> bool {
    let bytes = lower.as_bytes();
    let digits = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    (14..=34).contains(&bytes.len())
        && bytes[..2].iter().all(u8::is_ascii_lowercase)
        && bytes[2..4].iter().all(u8::is_ascii_digit)
        && bytes.iter().all(u8::is_ascii_alphanumeric)
        && digits >= 10
}

/// A host without a scheme. A file has a dot too, so only endings that no usual file has count, or a path behind it.
fn is_host(lower: &str) -> bool {
    const ENDINGS: &str = "com org net io ai co dev app info edu gov eu de uk fr ch ru cn me";
    let host = lower.split('/').next().unwrap_or_default();
    let Some((name, ending)) = host.rsplit_once('.') else { return false };
    name.bytes().any(|byte| byte.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'))
        && is_one_of(ending, ENDINGS)
}

/// Whether all of `text` is one value that leaves no room for a sentence: a number, a date, an id, an address.
pub(crate) fn is_single(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty() && text.len() <= 80 && (!text.contains(char::is_whitespace) || is_moment(text))
}

/// Whether all of `text` is a date or a time.
fn is_moment(text: &str) -> bool {
    text.len() <= 32 && text.bytes().all(|byte| byte.is_ascii_digit() || b"-:/. TZ+".contains(&byte))
}

/// Whether `text` is an id that means nothing by itself: short, or mostly digits, and one word.
pub(crate) fn is_opaque(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    !text.is_empty()
        && !text.contains(char::is_whitespace)
        && !text.contains('@')
        && (text.len() <= 2 || digits * 2 >= text.len())
}

/// A day: the year is absent where it was not said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Day {
    year: Option<u32>,
    month: u32,
    day: u32,
}

impl Day {
    /// Whether both may be the same day.
    pub(crate) fn is(self, other: Self) -> bool {
        let same_year = self.year.is_none() || other.year.is_none() || self.year == other.year;
        same_year && self.month == other.month && self.day == other.day
    }
}

/// The days that a text names: `2024-05-15`, `May 15th`, `15 May 2024`.
pub(crate) fn days(text: &[Word]) -> Vec<Day> {
    let number = |at: usize| -> Option<u32> {
        let word = text.get(at)?.text.as_str();
        word.trim_end_matches(|letter: char| letter.is_ascii_lowercase()).parse().ok()
    };
    let year = |at: usize| number(at).filter(|year| (1900..2200).contains(year));
    let day = |at: usize| number(at).filter(|day| (1..=31).contains(day));
    let mut found = Vec::new();
    for (at, word) in text.iter().enumerate() {
        if let (Some(y), Some(m), Some(d)) =
            (year(at), number(at + 1).filter(|m| (1..=12).contains(m)), day(at + 2))
        {
            found.push(Day { year: Some(y), month: m, day: d });
        }
        let Some(month) = month(&word.text) else { continue };
        if let Some(d) = day(at + 1) {
            found.push(Day { year: year(at + 2), month, day: d });
        } else if let Some(d) = at.checked_sub(1).and_then(day) {
            found.push(Day { year: year(at + 1), month, day: d });
        }
    }
    found
}

/// The days of one value.
pub(crate) fn days_of(text: &str) -> Vec<Day> {
    days(&words(text))
}

fn month(word: &str) -> Option<u32> {
    const MONTHS: &str =
        "january february march april may june july august september october november december";
    (1u32..)
        .zip(MONTHS.split(' '))
        .find(|(_, name)| word.len() >= 3 && name.starts_with(word))
        .map(|(number, _)| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        identities(text).into_iter().map(|identity| identity.value).collect()
    }

    #[test]
    fn identities_have_one_spelling() {
        assert_eq!(found("Write to <Ann.Lee@Example.org>, please."), ["ann.lee@example.org"]);
        assert_eq!(
            found("see https://www.example.org/a/ or example.org/a"),
            ["example.org/a", "example.org/a"]
        );
        assert_eq!(found("IBAN: GB29NWBK60161331926819."), ["gb29nwbk60161331926819"]);
    }

    #[test]
    fn files_and_sentences_are_no_identities() {
        assert_eq!(found("open notes.txt at 10:30. It costs 98.70, e.g. on 2024-05-15"), [] as [&str; 0]);
    }

    #[test]
    fn an_address_cannot_be_said_by_moving_its_dots() {
        assert_ne!(identities("ann@lee.example.org"), identities("ann.lee@example.org"));
    }

    #[test]
    fn a_day_is_the_same_in_every_spelling() {
        let day = days_of("2024-05-15 12:00")[0];
        for text in ["on May 15th", "15 May 2024", "May 15, 2024", "2024-05-15"] {
            assert!(days_of(text).iter().any(|other| day.is(*other)), "{text}");
        }
        assert!(!day.is(days_of("May 15, 2023")[0]));
    }
}
