//! The places in which a secret is told.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::generate::{Random, Sample};

/// Where a secret stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    /// The sample in a sentence.
    Prose,
    /// The bare secret in a sentence that says what it is.
    Told,
    /// The sample on a line of its own, among others.
    Lines,
    /// `NAME=secret`.
    Config,
    /// The sample in a JSON string.
    Json,
    /// The bare secret as a JSON field.
    Field,
    /// The sample in a JSON string in a JSON string.
    Arguments,
    /// The bare secret as a field of arguments.
    Argument,
    /// The sample in base64.
    Base64,
    /// The sample with percent signs.
    Url,
}

impl Form {
    pub(crate) const ALL: [Self; 10] = [
        Self::Prose,
        Self::Told,
        Self::Lines,
        Self::Config,
        Self::Json,
        Self::Field,
        Self::Arguments,
        Self::Argument,
        Self::Base64,
        Self::Url,
    ];

    /// Whether the secret stands alone, without what else the rule's expression demands.
    pub(crate) fn is_bare(self) -> bool {
        matches!(self, Self::Told | Self::Config | Self::Field | Self::Argument)
    }

    /// A text with the secret in it, and where in the text the secret is.
    pub(crate) fn write(self, sample: &Sample, random: &mut Random) -> (String, Range<usize>) {
        let bare = &sample.text[sample.secret.clone()];
        let name = sample.keyword.clone().unwrap_or_else(|| "api".to_owned());
        let name = name.trim_end_matches(['_', '-', ',']);
        let kind = *random.pick(&["key", "token", "secret"]);
        match self {
            Self::Prose => {
                let (before, after) = *random.pick(&[
                    ("Hi, I cannot log in any more. This is what I have: ", " and it worked yesterday."),
                    ("Please deploy it with ", " before noon, thanks!"),
                    ("I found this in the old notes: ", " Is it still needed?"),
                ]);
                place(before, &sample.text, after, sample.secret.clone())
            }
            Self::Told => {
                let before = match random.below(4) {
                    0 => format!("my {name} {kind} is "),
                    1 => format!("Use the {name} {kind} "),
                    2 => format!("Here is the {name} {kind}: "),
                    _ => format!("For {name} we have the {kind} \""),
                };
                let after = if before.ends_with('"') { "\" so far." } else { " for the next run." };
                place(&before, bare, after, 0..bare.len())
            }
            Self::Lines => {
                place("# settings\nretries = 3\n", &sample.text, "\nverbose = true\n", sample.secret.clone())
            }
            Self::Config => {
                let before = match random.below(3) {
                    0 => format!("PORT=8080\n{}_{}=", name.to_uppercase(), kind.to_uppercase()),
                    1 => format!("export {}_API_{}=\"", name.to_uppercase(), kind.to_uppercase()),
                    _ => format!("{}:\n  {kind}: ", name.to_lowercase()),
                };
                let after = if before.ends_with('"') { "\"\n" } else { "\nDEBUG=1\n" };
                place(&before, bare, after, 0..bare.len())
            }
            Self::Json => {
                let (inner, at) = escaped(&sample.text, sample.secret.clone());
                place("{\"role\": \"user\", \"content\": \"", &inner, "\"}", at)
            }
            Self::Field => {
                let (inner, at) = escaped(bare, 0..bare.len());
                let before = match random.below(2) {
                    0 => format!("{{\"{name}_{kind}\":\""),
                    _ => format!("{{\"{name}\": {{\"api{}\": \"", capitalised(kind)),
                };
                place(&before, &inner, "\", \"retries\": 3}", at)
            }
            Self::Arguments => {
                let (inner, at) = escaped(&sample.text, sample.secret.clone());
                let (inner, at) = escaped(&inner, at);
                place(
                    "{\"name\":\"write_file\",\"arguments\":\"{\\\"path\\\":\\\".env\\\",\\\"text\\\":\\\"",
                    &inner,
                    "\\\"}\"}",
                    at,
                )
            }
            Self::Argument => {
                let (inner, at) = escaped(bare, 0..bare.len());
                let (inner, at) = escaped(&inner, at);
                let before = format!("{{\"name\":\"connect\",\"arguments\":\"{{\\\"{name}_{kind}\\\": \\\"");
                place(&before, &inner, "\\\"}\"}", at)
            }
            Self::Base64 => {
                let encoded = STANDARD.encode(&sample.text);
                place("It came as ", &encoded, " in the mail", 0..encoded.trim_end_matches('=').len())
            }
            Self::Url => {
                let before = percent(&sample.text[..sample.secret.start]);
                let secret = percent(bare);
                let whole = percent(&sample.text);
                place("GET /search?q=", &whole, "&page=2", before.len()..before.len() + secret.len())
            }
        }
    }
}

fn place(before: &str, inner: &str, after: &str, at: Range<usize>) -> (String, Range<usize>) {
    (format!("{before}{inner}{after}"), before.len() + at.start..before.len() + at.end)
}

fn capitalised(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}

/// A text inside a JSON string, and where a part of it is then.
fn escaped(text: &str, part: Range<usize>) -> (String, Range<usize>) {
    let escape = |text: &str| {
        let quoted = serde_json::to_string(text).unwrap();
        quoted[1..quoted.len() - 1].to_owned()
    };
    let start = escape(&text[..part.start]).len();
    (escape(text), start..start + escape(&text[part]).len())
}

fn percent(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}
