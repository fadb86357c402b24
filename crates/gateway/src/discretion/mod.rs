//! Discretion: what may be told to whom.
//!
//! A [`Discretion`] is what holds for one tenant: what is looked for, and what is done with it. On the way in, `inbound.rs`
//! makes three things of a request: what the model is told, what is recorded, and the lexicon between them. On the way out,
//! `outbound.rs` puts the caller's own values back and takes out what may not leave, in an answer that is whole, and
//! `screen.rs` in one that comes piece by piece. `recorded.rs` is for everything that is written down, `clean.rs` knows what
//! need not be looked at again. `setting.rs` is what
//! tenants say, `leaves.rs` finds the texts in a value, `frame.rs` changes them in a frame of a stream, `house.rs` has what holds for
//! every tenant.
//!
//! - Whatever is recorded, logged or exported has placeholders in it, never a secret, whatever a tenant says.
//! - What the caller sent may go back to the caller; what somebody else's words brought may not.
//! - A key that only observes changes nothing: its requests pass as they are, and are recorded like any other.
//! - What is in text that comes in pieces is found as if it came in one; what is not decided is not told.

mod clean;
mod frame;
mod house;
mod inbound;
mod leaves;
mod outbound;
mod recorded;
mod screen;
pub(crate) mod setting;

use std::borrow::Cow;
use std::sync::Arc;

use crypto::SecretString;
use redaction::{Class, Detectors, Finding, Lexicon, replaced};

use self::clean::Clean;
pub(crate) use self::clean::Looked;
pub(crate) use self::house::House;
pub(crate) use self::inbound::Seen;
pub(crate) use self::leaves::{Leaf, Spelling, each_text};
pub(crate) use self::outbound::Barred;
pub(crate) use self::recorded::{recordable, recorded_fields};
pub(crate) use self::screen::{Passed, Screen};
use self::setting::{Measure, RedactionSettings};

/// What holds for a tenant.
#[derive(Debug)]
pub(crate) struct Discretion {
    detectors: Arc<Detectors>,
    settings: RedactionSettings,
    /// What is done with what the tenant named.
    own: Vec<setting::Measures>,
    /// What need not be looked at again.
    clean: Clean,
}

/// What a tenant says cannot be looked for.
#[derive(Debug, thiserror::Error)]
pub enum NotUnderstood {
    /// A pattern is none.
    #[error(transparent)]
    Pattern(#[from] redaction::CustomError),
    /// All of it together is too much.
    #[error(transparent)]
    Build(#[from] redaction::BuildError),
}

/// What becomes of something that was found on its way to the caller.
#[derive(Debug, PartialEq, Eq)]
enum Outward {
    /// It stays.
    Keep,
    /// This takes its place.
    Put(String),
    /// Nothing passes, in the name of this.
    Bar(String),
}

impl Discretion {
    /// What holds with these settings, these secrets by value, and these texts that must never come out.
    pub(crate) fn new<'s>(
        settings: &RedactionSettings,
        secrets: impl Iterator<Item = &'s SecretString>,
        canaries: &[Arc<SecretString>],
        looks: bool,
    ) -> Result<Self, NotUnderstood> {
        let mut builder = Detectors::builder().known(secrets.map(SecretString::duplicate));
        if !looks {
            builder = builder.classes([Class::Placeholder]);
        }
        for (name, own) in &settings.patterns {
            builder = builder.custom(name, &own.regex)?;
        }
        for (name, own) in &settings.dictionaries {
            builder = builder.dictionary(name, own.words.iter().cloned());
        }
        for (index, canary) in (0..).zip(canaries) {
            builder = builder.canary(index, canary.expose());
        }
        let detectors = Arc::new(builder.build()?);
        Ok(Self { detectors, settings: settings.clone(), own: settings.own(), clean: Clean::default() })
    }

    /// What is found in a text that stands somewhere. What it is called may say what it is.
    fn find(&self, text: &str, name: &str) -> Vec<Finding> {
        if !calls_secret(name) {
            return self.find_plain(text);
        }
        let before = format!("{name}=\"");
        let mut findings = self.detectors.find(&format!("{before}{text}\""));
        findings.retain(|finding| finding.range.end > before.len());
        for finding in &mut findings {
            let end = (finding.range.end - before.len()).min(text.len());
            finding.range = finding.range.start.saturating_sub(before.len())..end;
        }
        findings.retain(|finding| !finding.range.is_empty());
        findings
    }

    fn find_plain(&self, text: &str) -> Vec<Finding> {
        if self.clean.knows(text) {
            return Vec::new();
        }
        let findings = self.detectors.find(text);
        if findings.is_empty() {
            self.clean.learn(text);
        }
        findings
    }

    /// Whether there is a secret in a text.
    pub(crate) fn has_secret(&self, text: &str) -> bool {
        let secret = |finding: &Finding| !finding.class.is_personal() && finding.class != Class::Placeholder;
        self.find(text, "").iter().any(secret)
    }

    fn measures(&self, class: Class) -> setting::Measures {
        match class {
            Class::Custom(index) => {
                self.own.get(usize::from(index)).copied().unwrap_or(self.settings.secrets)
            }
            other => self.settings.measures(other),
        }
    }

    /// What becomes of something on its way to the caller. `lexicon` is what the caller sent.
    fn outward(&self, finding: &Finding, text: &str, spelling: Spelling, lexicon: &Lexicon) -> Outward {
        let plain = if spelling == Spelling::Json { unescaped(text) } else { Cow::Borrowed(text) };
        match finding.class {
            Class::Placeholder => match lexicon.value(text) {
                // A signed thought keeps the words that were signed.
                Some(_) if spelling == Spelling::Sealed => Outward::Keep,
                Some(value) if spelling == Spelling::Json => Outward::Put(escaped(value)),
                Some(value) => Outward::Put(value.to_owned()),
                None => Outward::Keep,
            },
            // Wherever it came from, it must not come out.
            Class::Canary(_) => Outward::Bar("tripwire:canary".to_owned()),
            _ if lexicon.was_sent(&plain) => Outward::Keep,
            Class::Known => Outward::Put(taken_out(finding.class)),
            class => match self.measures(class).out {
                Measure::Allow => Outward::Keep,
                Measure::Redact | Measure::Tokenize => Outward::Put(taken_out(class)),
                Measure::Block => Outward::Bar(barred(class)),
            },
        }
    }

    /// A text as it may be recorded. `personal`: whether personal data is taken out as well as secrets.
    pub(crate) fn recorded<'t>(&self, text: &'t str, lexicon: &mut Lexicon, personal: bool) -> Cow<'t, str> {
        self.recorded_as("", text, lexicon, personal)
    }

    /// The same for a text that is called something.
    fn recorded_as<'t>(
        &self,
        name: &str,
        text: &'t str,
        lexicon: &mut Lexicon,
        personal: bool,
    ) -> Cow<'t, str> {
        self.stood_for(text, &self.find(text, name), lexicon, personal)
    }

    /// A text with placeholders for what was found in it.
    fn stood_for<'t>(
        &self,
        text: &'t str,
        findings: &[Finding],
        lexicon: &mut Lexicon,
        personal: bool,
    ) -> Cow<'t, str> {
        replaced(text, findings, |finding, found| match finding.class {
            Class::Placeholder if lexicon.value(found).is_some() => None,
            class if class.is_personal() && (self.settings.record_personal || !personal) => None,
            class => Some(lexicon.placeholder(class, found)),
        })
    }
}

/// A text of nobody in particular, without the secrets in it.
pub(crate) fn without_secrets(text: &str) -> Cow<'_, str> {
    replaced(text, &redaction::secrets_in(text), |finding, _| Some(taken_out(finding.class)))
}

/// Whether a name says that what it names is secret.
fn calls_secret(name: &str) -> bool {
    // Every text has a name, and hardly any place in one has the first two letters of such a word.
    name.as_bytes()
        .windows(2)
        .enumerate()
        .any(|(at, pair)| may_begin(pair) && begins_secret(&name.as_bytes()[at..]))
}

/// The words of a name that call something secret.
const CALLS_SECRET: [&str; 10] =
    ["auth", "credential", "cookie", "connection", "dsn", "key", "pass", "pwd", "secret", "token"];

#[inline(never)]
fn begins_secret(rest: &[u8]) -> bool {
    CALLS_SECRET
        .iter()
        .any(|word| rest.get(..word.len()).is_some_and(|begins| begins.eq_ignore_ascii_case(word.as_bytes())))
}

/// Whether one of them can begin with these two bytes, in either case: what it says no to is none.
fn may_begin(pair: &[u8]) -> bool {
    let [first, second] = [pair[0] & 31, pair[1] & 31];
    SECOND[usize::from(first)] >> second & 1 == 1
}

/// For each first letter, a bit for each second one.
static SECOND: [u32; 32] = {
    let mut second = [0; 32];
    let mut word = 0;
    while word < CALLS_SECRET.len() {
        let letters = CALLS_SECRET[word].as_bytes();
        second[(letters[0] & 31) as usize] |= 1 << (letters[1] & 31);
        word += 1;
    }
    second
};

/// What stands in the place of what was taken out.
fn taken_out(class: Class) -> String {
    format!("[redacted:{}]", class.name())
}

/// In whose name something is barred.
fn barred(class: Class) -> String {
    format!("redaction:{}", class.name())
}

/// A text as it is written inside a string of JSON.
fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// What is written inside a string of JSON; what is none stays as it is.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    serde_json::from_str(&format!("\"{text}\"")).map_or(Cow::Borrowed(text), Cow::Owned)
}
