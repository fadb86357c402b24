//! The mask: hides what looks like a credential in text that is about to leave the process.
//!
//! It is the last line of defence. `crypto::Secret` keeps secrets out of text in the first place; this
//! catches the one that was formatted by mistake, came in an upstream's error message, or stood in a
//! URL. It knows the configured secrets exactly and others by their shape; those that come up later it learns from
//! whoever it is told to consult.

use crypto::{KnownSecrets, SecretString};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// What stands in the place of a credential.
pub const MASKED: &str = "[masked]";

/// What to hide.
#[derive(Debug, Default)]
pub struct Mask {
    /// What was known from the start.
    known: Arc<[SecretString]>,
    source: OnceLock<Arc<dyn KnownSecrets>>,
    learnt: RwLock<Learnt>,
}

/// What the source said, when it last had something new to say.
#[derive(Debug, Default)]
struct Learnt {
    generation: u64,
    secrets: Vec<SecretString>,
}

impl Mask {
    /// A mask that also knows these secrets. Those under four characters are left out: hiding every
    /// `a` would make the text useless and tell what the secret is.
    pub fn new<'s>(secrets: impl IntoIterator<Item = &'s SecretString>) -> Self {
        Self { known: spellings(secrets).into(), ..Self::default() }
    }

    /// Hides from now on what `source` knows, too, whenever it comes to know it. Only the first one counts.
    pub fn consult(&self, source: Arc<dyn KnownSecrets>) {
        // Whoever comes second was a mistake of ours, and what is hidden already stays so.
        let _ = self.source.set(source);
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

    /// What to hide; all ends lie on characters.
    fn ranges(&self, text: &str) -> Vec<Range<usize>> {
        let mut ranges = Vec::new();
        hide(&self.known, text, &mut ranges);
        self.learn();
        hide(&self.learnt.read().unwrap_or_else(PoisonError::into_inner).secrets, text, &mut ranges);
        ranges.extend(redaction::secrets_in(&without_colours(text)).into_iter().map(|finding| finding.range));
        ranges
    }
}

impl Mask {
    /// Asks the source again, if it has something new to say.
    fn learn(&self) {
        let Some(source) = self.source.get() else { return };
        // Asked before the values: those may be newer then, never older.
        let generation = source.generation();
        if self.learnt.read().unwrap_or_else(PoisonError::into_inner).generation == generation {
            return;
        }
        let values = source.values();
        let secrets = spellings(values.iter().map(|value| &**value));
        *self.learnt.write().unwrap_or_else(PoisonError::into_inner) = Learnt { generation, secrets };
    }
}

/// The secrets as they may stand in a text.
fn spellings<'s>(secrets: impl IntoIterator<Item = &'s SecretString>) -> Vec<SecretString> {
    let mut all = Vec::new();
    for secret in secrets.into_iter().filter(|secret| secret.expose().len() >= 4) {
        all.push(secret.duplicate());
        // The same inside a quoted string of a JSON line or a debug form.
        let escaped = SecretString::new(
            secret.expose().replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"),
        );
        if escaped != *secret {
            all.push(escaped);
        }
    }
    all
}

/// Where any of `secrets` stands.
fn hide(secrets: &[SecretString], text: &str, ranges: &mut Vec<Range<usize>>) {
    for secret in secrets {
        let length = secret.expose().len();
        ranges.extend(text.match_indices(secret.expose().as_str()).map(|(start, _)| start..start + length));
    }
}

/// The same text with spaces in the place of a terminal's colour sequences, whose last letter is no part of a word. All
/// else stays where it is.
fn without_colours(text: &str) -> Cow<'_, str> {
    if !text.contains('\x1b') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("\x1b[") {
        let after = &rest[start + 2..];
        let parameters = after.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b';').count();
        let length = if after[parameters..].starts_with('m') { 3 + parameters } else { 2 };
        plain.push_str(&rest[..start]);
        plain.extend(std::iter::repeat_n(' ', length));
        rest = &rest[start + length..];
    }
    plain.push_str(rest);
    Cow::Owned(plain)
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
        let key = ["sk-proj-", "4fT9xQz7LmN2vB8kRw3YcJ6dHs1GpE5aUo0i"].concat();
        check(&format!("key {key} end"), "key [masked] end");
        check(&format!("{{\"k\":\"{key}\"}}"), "{\"k\":\"[masked]\"}");
        check(&format!("\x1b[2m=\x1b[0m{key}\x1b[0m"), "\x1b[2m=\x1b[0m[masked]\x1b[0m");
        check(&format!("é {key} é"), "é [masked] é");
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

    #[derive(Debug, Default)]
    struct Learning(std::sync::Mutex<Vec<&'static str>>);

    impl KnownSecrets for Learning {
        fn generation(&self) -> u64 {
            self.0.lock().unwrap().len() as u64
        }

        fn values(&self) -> Vec<Arc<SecretString>> {
            let values = self.0.lock().unwrap();
            values.iter().map(|value| Arc::new(SecretString::new((*value).to_owned()))).collect()
        }
    }

    #[test]
    fn what_becomes_known_later_is_hidden_from_then_on() {
        let (mask, source) =
            (Mask::new([&SecretString::new("hunter2".to_owned())]), Arc::new(Learning::default()));
        mask.consult(source.clone());
        assert_eq!(mask.apply("hunter2 swordfish"), "[masked] swordfish");
        source.0.lock().unwrap().push("swordfish");
        assert_eq!(mask.apply("hunter2 swordfish"), "[masked] [masked]");
        source.0.lock().unwrap().push("two\nlines");
        assert_eq!(
            mask.apply("swordfish two\nlines {\"a\":\"two\\nlines\"}"),
            "[masked] [masked] {\"a\":\"[masked]\"}"
        );
    }

    #[test]
    fn the_mask_itself_prints_no_secret() {
        let mask = Mask::new([&SecretString::new("hunter2".to_owned())]);
        assert!(!format!("{mask:?}").contains("hunter2"));
    }
}
