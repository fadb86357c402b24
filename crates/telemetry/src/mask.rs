//! The mask: hides what looks like a credential in text that is about to leave the process.
//!
//! It is the last line of defence. `crypto::Secret` keeps secrets out of text in the first place; this
//! catches the one that was formatted by mistake, came in an upstream's error message, or stood in a
//! URL. It knows the configured secrets exactly and others by their shape.

use crypto::{Secret, SecretString};
use std::borrow::Cow;
use std::ops::Range;

/// What stands in the place of a credential.
pub const MASKED: &str = "[masked]";

/// A shape of credentials: what it starts with, and how much must follow to count as one.
struct Shape {
    prefix: &'static str,
    least: usize,
    body: fn(u8) -> bool,
}

const fn shape(prefix: &'static str, least: usize) -> Shape {
    Shape { prefix, least, body: |byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-' }
}

/// Longer prefixes before those that they begin with. `sk-` covers the keys of OpenAI, Anthropic and OpenRouter.
const SHAPES: [Shape; 19] = [
    shape("pk_", 8),
    shape("ps_", 8),
    shape("sk-", 8),
    shape("sk_live_", 8),
    shape("sk_test_", 8),
    shape("ghp_", 20),
    shape("github_pat_", 20),
    shape("xoxb-", 8),
    shape("xoxp-", 8),
    shape("glpat-", 16),
    shape("gsk_", 20),
    shape("hf_", 20),
    shape("xai-", 20),
    shape("pplx-", 20),
    shape("r8_", 20),
    shape("AIza", 30),
    shape("AKIA", 16),
    Shape { body: is_token, ..shape("eyJ", 20) },
    Shape { body: is_token, ..shape("bearer ", 1) },
];

/// The bytes at which something to hide can begin. Every text that is recorded passes here, and most bytes are none.
static BEGINS: [bool; 256] = {
    let mut begins = [false; 256];
    let mut index = 0;
    while index < SHAPES.len() {
        let first = SHAPES[index].prefix.as_bytes()[0];
        begins[first.to_ascii_lowercase() as usize] = true;
        begins[first.to_ascii_uppercase() as usize] = true;
        index += 1;
    }
    // Of `://`.
    begins[b':' as usize] = true;
    begins
};

/// What RFC 6750 allows in a bearer token.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte)
}

/// What to hide.
#[derive(Debug, Default)]
pub struct Mask {
    known: Vec<SecretString>,
}

impl Mask {
    /// A mask that also knows these secrets. Those under four characters are left out: hiding every
    /// `a` would make the text useless and tell what the secret is.
    pub fn new<'s>(secrets: impl IntoIterator<Item = &'s SecretString>) -> Self {
        let mut known = Vec::new();
        for secret in secrets.into_iter().map(Secret::expose).filter(|secret| secret.len() >= 4) {
            known.push(SecretString::new(secret.clone()));
            // The same inside a quoted string of a JSON line or a debug form.
            let escaped = SecretString::new(secret.replace('\\', "\\\\").replace('"', "\\\""));
            if escaped.expose() != secret {
                known.push(escaped);
            }
        }
        Self { known }
    }

    /// `text` with every credential replaced.
    pub fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut hidden = self.ranges(text);
        if hidden.is_empty() {
            return Cow::Borrowed(text);
        }
        hidden.sort_by_key(|range| range.start);
        let mut masked = String::with_capacity(text.len());
        let mut shown_to = 0;
        for range in hidden {
            if range.start >= shown_to {
                masked.push_str(&text[shown_to..range.start]);
                masked.push_str(MASKED);
            }
            shown_to = shown_to.max(range.end);
        }
        masked.push_str(&text[shown_to..]);
        Cow::Owned(masked)
    }

    /// What to hide; all ends lie on characters, because what is found is ASCII or a whole secret.
    fn ranges(&self, text: &str) -> Vec<Range<usize>> {
        let mut ranges = Vec::new();
        for secret in &self.known {
            let length = secret.expose().len();
            ranges
                .extend(text.match_indices(secret.expose().as_str()).map(|(start, _)| start..start + length));
        }
        let bytes = text.as_bytes();
        for (start, byte) in bytes.iter().enumerate() {
            if !BEGINS[usize::from(*byte)] {
                continue;
            }
            if *byte != b':' && !is_boundary(bytes, start) {
                continue;
            }
            ranges.extend(SHAPES.iter().find_map(|shape| shape.body_at(bytes, start)));
            if bytes[start..].starts_with(b"://") {
                ranges.extend(credentials_at(bytes, start + 3));
            }
        }
        ranges
    }
}

impl Shape {
    /// Where the body lies, when this shape begins at `start`, where a word may begin.
    fn body_at(&self, bytes: &[u8], start: usize) -> Option<Range<usize>> {
        let body = start + self.prefix.len();
        let begins = bytes.get(start..body)?.eq_ignore_ascii_case(self.prefix.as_bytes());
        if !begins {
            return None;
        }
        let length = bytes[body..].iter().take_while(|byte| (self.body)(**byte)).count();
        (length >= self.least).then(|| body..body + length)
    }
}

/// Whether a word may begin here, so that `task-…` is not read as `sk-…`. The `m` at the end of a
/// terminal's colour sequence is no part of a word.
fn is_boundary(bytes: &[u8], start: usize) -> bool {
    let before = &bytes[..start];
    let Some(last) = before.last() else { return true };
    let colour = || {
        let digits = before[..before.len() - 1]
            .iter()
            .rev()
            .take_while(|byte| byte.is_ascii_digit() || **byte == b';');
        before[..before.len() - 1 - digits.count()].ends_with(b"\x1b[")
    };
    !last.is_ascii_alphanumeric() || (*last == b'm' && colour())
}

/// User and password of a URL whose authority begins at `start`.
fn credentials_at(bytes: &[u8], start: usize) -> Option<Range<usize>> {
    let ends = |byte: &u8| b"/?#\"'<> \t\r\n\x1b".contains(byte);
    let length = bytes[start..].iter().position(ends).unwrap_or(bytes.len() - start);
    let at = bytes[start..start + length].iter().rposition(|byte| *byte == b'@')?;
    (at > 0).then(|| start..start + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let known = SecretString::new("hunter2!\"x".to_owned());
        assert_eq!(Mask::new([&known]).apply(text), expected);
    }

    #[test]
    fn known_shapes_are_hidden_wherever_they_stand() {
        check("key pk_0123456789abc end", "key pk_[masked] end");
        check("sk-ant-api03-abcdefgh_-x,", "sk-[masked],");
        check("{\"k\":\"sk-proj-12345678\"}", "{\"k\":\"sk-[masked]\"}");
        check("Authorization: Bearer abc.def/x==", "Authorization: Bearer [masked]");
        check("authorization=bearer a", "authorization=bearer [masked]");
        check("postgres://me:p@ss@host/db", "postgres://[masked]@host/db");
        check("AKIAABCDEFGHIJKLMNOP", "AKIA[masked]");
        check("\x1b[2m=\x1b[0msk-12345678\x1b[0m", "\x1b[2m=\x1b[0msk-[masked]\x1b[0m");
        check("é pk_0123456789 é", "é pk_[masked] é");
    }

    #[test]
    fn configured_secrets_are_hidden_exactly_and_escaped() {
        check("got hunter2!\"x, twice: hunter2!\"x", "got [masked], twice: [masked]");
        check("{\"m\":\"hunter2!\\\"x\"}", "{\"m\":\"[masked]\"}");
        check("Bearer hunter2!\"x", "Bearer [masked]");
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        for text in [
            "",
            "task-management-system",
            "pk_",
            "sk-short",
            "https://example.org/a@b",
            "risk-free-trial",
            "GET /v1?x=pk_1",
        ] {
            assert!(matches!(Mask::default().apply(text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn a_secret_too_short_to_hide_is_left_out() {
        assert_eq!(Mask::new([&SecretString::new("a".to_owned())]).apply("banana"), "banana");
    }

    #[test]
    fn the_mask_itself_prints_no_secret() {
        let mask = Mask::new([&SecretString::new("hunter2".to_owned())]);
        assert!(!format!("{mask:?}").contains("hunter2"));
    }
}
