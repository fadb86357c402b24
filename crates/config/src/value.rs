//! Values: text read as what a key takes.

use crate::key::{Key, Kind};
use crypto::SecretString;
use schema::Network;
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
    /// Several texts.
    Texts(Vec<String>),
    /// Several texts that are never shown.
    Secrets(Vec<SecretString>),
    /// Headers: their names are shown, their values never.
    Headers(Vec<(String, SecretString)>),
    /// Millionths of a dollar.
    MicroDollars(u64),
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
            Kind::Dollars => micro_dollars(text).map(Self::MicroDollars),
            // No line of text is a good way to write several headers.
            Kind::Headers => None,
            kind if kind.is_list() => {
                let items: Vec<_> = text.split(',').map(str::trim).collect();
                Self::from_items(key, &items)
            }
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

    /// `items` as a value of `key`, or nothing when it does not take one of them.
    pub(crate) fn from_items(key: &Key, items: &[&str]) -> Option<Self> {
        // `*` says everybody: what else is in the list would be a misunderstanding.
        let alone = key.kind != Kind::Origins || items.len() == 1 || !items.contains(&"*");
        if !key.kind.is_list() || !alone || !items.iter().all(|item| takes(key.kind, item)) {
            return None;
        }
        Some(if key.secret {
            Self::Secrets(items.iter().map(|item| SecretString::new((*item).to_owned())).collect())
        } else {
            Self::Texts(items.iter().map(|item| (*item).to_owned()).collect())
        })
    }

    /// `headers` as a value of `key`, or nothing when one of them is no header that a caller may set.
    pub(crate) fn from_headers(key: &Key, headers: &[(&str, &str)]) -> Option<Self> {
        if key.kind != Kind::Headers || !headers.iter().all(|(name, value)| is_header(name, value)) {
            return None;
        }
        let headers = headers
            .iter()
            .map(|(name, value)| (name.to_ascii_lowercase(), SecretString::new((*value).to_owned())));
        Some(Self::Headers(headers.collect()))
    }

    /// A second value like this one.
    pub(crate) fn duplicate(&self) -> Self {
        match self {
            Self::Address(address) => Self::Address(*address),
            Self::Integer(number) => Self::Integer(*number),
            Self::Boolean(boolean) => Self::Boolean(*boolean),
            Self::Text(text) => Self::Text(text.clone()),
            Self::Secret(secret) => Self::Secret(secret.duplicate()),
            Self::Texts(texts) => Self::Texts(texts.clone()),
            Self::Secrets(secrets) => Self::Secrets(secrets.iter().map(SecretString::duplicate).collect()),
            Self::Headers(headers) => {
                Self::Headers(headers.iter().map(|(name, value)| (name.clone(), value.duplicate())).collect())
            }
            Self::MicroDollars(micros) => Self::MicroDollars(*micros),
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
            // One look for one secret and for many: their number is nobody's business either.
            Self::Secret(_) | Self::Secrets(_) => f.write_str("••••"),
            Self::Texts(texts) => f.write_str(&texts.join(", ")),
            Self::Headers(headers) => {
                let shown: Vec<_> = headers.iter().map(|(name, _)| format!("{name}: ••••")).collect();
                f.write_str(&shown.join(", "))
            }
            Self::MicroDollars(micros) => {
                let fraction = format!("{:06}", micros % 1_000_000);
                let fraction = fraction.trim_end_matches('0');
                let point = if fraction.is_empty() { "" } else { "." };
                write!(f, "{}{point}{fraction}", micros / 1_000_000)
            }
        }
    }
}

fn takes(kind: Kind, text: &str) -> bool {
    let printable = !text.is_empty() && !text.chars().any(char::is_control);
    match kind {
        Kind::Address | Kind::Integer { .. } | Kind::Boolean | Kind::Headers | Kind::Dollars => false,
        Kind::Choice(words) => words.contains(&text),
        Kind::Text | Kind::Path | Kind::Texts => printable,
        Kind::Origins => text == "*" || is_origin(text),
        Kind::Networks => text.parse::<Network>().is_ok(),
        Kind::Token | Kind::Tokens => !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic()),
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

/// A scheme, a host and perhaps a port, as browsers write them: no path, not even a slash.
fn is_origin(text: &str) -> bool {
    let authority = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    is_url(&["http", "https"], false, text)
        && authority.is_some_and(|authority| !authority.contains(['/', '?', '#', '*']))
        && !text.bytes().any(|byte| byte.is_ascii_uppercase())
}

/// Headers that belong to the connection, or say how long a body is: setting them would break requests.
const NOT_TO_SET: [&str; 8] =
    ["connection", "content-length", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"];

fn is_header(name: &str, value: &str) -> bool {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty()
        && name.bytes().all(token)
        && !NOT_TO_SET.contains(&name.to_ascii_lowercase().as_str())
        && !value.is_empty()
        && value.trim() == value
        && value.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic())
}

/// Dollars as millionths of one, exactly: binary fractions would make cents out of nothing.
fn micro_dollars(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || whole.len() > 7 || fraction.len() > 6 {
        return None;
    }
    let micros = whole.parse::<u64>().ok()? * 1_000_000 + format!("{fraction:0<6}").parse::<u64>().ok()?;
    (micros <= 1_000_000_000_000).then_some(micros)
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
        check(Kind::Texts, &["a", "a, b c"], &["a,,b", ","]);
        check(Kind::Tokens, &["a", "a,b"], &["a b"]);
        check(
            Kind::Origins,
            &["*", "https://a.org", "http://localhost:3000, https://a.org"],
            &[
                "a.org",
                "https://a.org/",
                "https://a.org/x",
                "https://*.a.org",
                "*, https://a.org",
                "https://A.org",
            ],
        );
        check(
            Kind::Networks,
            &["10.0.0.0/8", "127.0.0.1, 2001:db8::/32", "::/0"],
            &["10.0.0.1/8", "10.0.0.0/33", "proxy.internal", "10.0.0.0/8,"],
        );
        check(
            Kind::Dollars,
            &["0", "2.5", "0.000001", "1000000"],
            &["-1", ".5", "1.", "1e3", "0.0000001", "1000001"],
        );
        check(Kind::LogName, &["punk.local", "example.org/log"], &["a b", "a+b", "a\tb", "\u{a0}"]);
    }

    #[test]
    fn dollars_are_exact() {
        let key = Key::new("test.key", "PUNK_KEY", Kind::Dollars, "");
        for (text, micros, shown) in [
            ("2.5", 2_500_000, "2.5"),
            ("0.075", 75_000, "0.075"),
            ("15", 15_000_000, "15"),
            ("3.10", 3_100_000, "3.1"),
        ] {
            let value = Value::from_text(&key, text).unwrap();
            assert_eq!(value, Value::MicroDollars(micros));
            assert_eq!(value.to_string(), shown);
        }
    }

    #[test]
    fn headers_that_belong_to_the_connection_are_refused() {
        let key = Key::new("test.key", "", Kind::Headers, "").secret();
        let set = |name, value| Value::from_headers(&key, &[(name, value)]);
        assert_eq!(set("X-Team", "a b").unwrap().to_string(), "x-team: ••••");
        for (name, value) in
            [("Host", "a"), ("content-length", "1"), ("a b", "c"), ("", "c"), ("a", "b\r\nc"), ("a", "")]
        {
            assert!(set(name, value).is_none(), "took {name:?}: {value:?}");
        }
    }

    #[test]
    fn a_secret_is_shown_as_dots() {
        let key = Key::new("test.key", "PUNK_KEY", Kind::Token, "").secret();
        let value = Value::from_text(&key, "sk-1234").unwrap();
        assert_eq!(format!("{value} {value:?}"), "•••• Secret([secret])");
    }
}
