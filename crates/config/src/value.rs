//! Values: text read as what a key takes.

use crate::key::{Key, Kind};
use crypto::SecretString;
use std::net::IpAddr;

/// A value that its key takes.
#[derive(Debug, PartialEq, Eq)]
pub enum Value {
    /// An IP address.
    Address(IpAddr),
    /// A whole number.
    Integer(u64),
    /// True or false.
    Boolean(bool),
    /// Any other text.
    Text(String),
    /// Text that is never shown.
    Secret(SecretString),
}

impl Value {
    /// `text` as a value of `key`, or nothing when the key does not take it.
    pub fn from_text(key: &Key, text: &str) -> Option<Self> {
        match key.kind {
            Kind::Address if text == "localhost" => Some(Self::Address(IpAddr::from([127, 0, 0, 1]))),
            Kind::Address => text.parse().ok().map(Self::Address),
            // Digits only: `parse` alone would also take "+80".
            Kind::Integer { .. } if text.bytes().all(|byte| byte.is_ascii_digit()) => {
                Self::from_integer(key, text.parse().ok()?)
            }
            Kind::Integer { .. } => None,
            Kind::Boolean => match text {
                "true" | "1" => Some(Self::Boolean(true)),
                "false" | "0" => Some(Self::Boolean(false)),
                _ => None,
            },
            kind if takes(kind, text) => Some(if key.secret {
                Self::Secret(SecretString::new(text.to_owned()))
            } else {
                Self::Text(text.to_owned())
            }),
            _ => None,
        }
    }

    /// `number` as a value of `key`, or nothing when it is out of range or not a number the key wants.
    pub(crate) fn from_integer(key: &Key, number: u64) -> Option<Self> {
        match key.kind {
            Kind::Integer { min, max } if (min..=max).contains(&number) => Some(Self::Integer(number)),
            _ => None,
        }
    }

    /// A second value like this one.
    pub(crate) fn duplicate(&self) -> Self {
        match self {
            Self::Address(address) => Self::Address(*address),
            Self::Integer(number) => Self::Integer(*number),
            Self::Boolean(boolean) => Self::Boolean(*boolean),
            Self::Text(text) => Self::Text(text.clone()),
            Self::Secret(secret) => Self::Secret(secret.duplicate()),
        }
    }
}

/// Shows a secret as four dots, whatever its length.
impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Address(address) => write!(f, "{address}"),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Boolean(boolean) => write!(f, "{boolean}"),
            Self::Text(text) => f.write_str(text),
            Self::Secret(_) => f.write_str("••••"),
        }
    }
}

fn takes(kind: Kind, text: &str) -> bool {
    let printable = !text.is_empty() && !text.chars().any(char::is_control);
    match kind {
        Kind::Address | Kind::Integer { .. } | Kind::Boolean => false,
        Kind::Choice(words) => words.contains(&text),
        Kind::Text | Kind::Path => printable,
        Kind::Token => !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic()),
        Kind::Url(schemes) => is_url(schemes, kind.may_hold_credentials(), text),
        Kind::Email => is_email(text),
        Kind::LogName => {
            printable && !text.contains(|character: char| character.is_whitespace() || character == '+')
        }
    }
}

/// Enough to catch a mistake at start; who connects parses in full.
fn is_url(schemes: &[&str], credentials: bool, text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else {
        return false;
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    schemes.contains(&scheme)
        && !host.is_empty()
        && !host.starts_with(':')
        && (credentials || !authority.contains('@'))
        && text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn is_email(text: &str) -> bool {
    text.split_once('@').is_some_and(|(name, domain)| {
        let visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        visible
            && !name.is_empty()
            && domain.len() > 2
            && domain.trim_matches('.').contains('.')
            && !domain.contains('@')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: Kind, good: &[&str], bad: &[&str]) {
        let key = Key::new("test.key", "PUNK_KEY", kind, "");
        for text in good {
            assert!(Value::from_text(&key, text).is_some(), "refused {text:?}");
        }
        for text in bad.iter().chain(&[""]) {
            assert!(Value::from_text(&key, text).is_none(), "took {text:?}");
        }
    }

    #[test]
    fn each_kind_takes_its_values_and_no_others() {
        check(
            Kind::Address,
            &["127.0.0.1", "::1", "0.0.0.0", "localhost"],
            &["example.org", "1.2.3", "127.0.0.1:80"],
        );
        check(
            Kind::Integer { min: 1, max: 65535 },
            &["1", "4100", "65535", "080"],
            &["0", "65536", "-1", "+1", "1.5", " 1", "0x10", "99999999999999999999"],
        );
        check(Kind::Boolean, &["true", "false", "1", "0"], &["yes", "TRUE", "2"]);
        check(Kind::Choice(&["auto", "json"]), &["auto", "json"], &["Auto", "jso", "xml"]);
        check(Kind::Text, &["a", "two words"], &["a\nb", "\0"]);
        check(Kind::Token, &["pk_x", "a!b"], &["a b", "é", "a\r\nX-Evil: 1"]);
        check(Kind::Path, &["data", "/var/lib/punk dir"], &["a\0b"]);
        check(
            Kind::Url(&["http", "https"]),
            &["http://localhost:1", "https://x.org/v1?a=b"],
            &[
                "x.org",
                "ftp://x.org",
                "http://",
                "http:///path",
                "http://:80",
                "http://me:pw@x.org",
                "http://x y",
            ],
        );
        check(
            Kind::Url(&["postgres"]),
            &["postgres://me:pw@host:5432/db"],
            &["postgres://me:pw@", "mysql://me@host/db"],
        );
        check(Kind::Email, &["me@example.org"], &["me", "@example.org", "me@org", "me@a@b.c", "m e@x.org"]);
        check(Kind::LogName, &["punk.local", "example.org/log"], &["a b", "a+b", "a\tb", "\u{a0}"]);
    }

    #[test]
    fn a_secret_is_shown_as_dots() {
        let key = Key::new("test.key", "PUNK_KEY", Kind::Token, "").secret();
        let value = Value::from_text(&key, "sk-1234").unwrap();
        assert_eq!(format!("{value} {value:?}"), "•••• Secret([secret])");
    }
}
