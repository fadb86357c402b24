//! The vocabulary of the table: what there is to say about one thing that can be set.

/// One thing that can be set.
#[derive(Debug)]
pub struct Key {
    /// Its place in `punk.toml`: the section and the name, joined by dots.
    pub path: &'static str,
    /// Its environment variable; empty when only the file sets it, with `<NAME>` for the name of its table.
    pub env: &'static str,
    /// A second variable, read when the first is not set.
    pub env_fallback: Option<&'static str>,
    /// Which values it takes.
    pub kind: Kind,
    /// What holds when nobody sets it.
    pub default: DefaultValue,
    /// Whether its value is never shown.
    pub secret: bool,
    /// Whether it may say `cred:NAME`, for a secret in the vault.
    pub refers: bool,
    /// Whether its table is of no use without it.
    pub required: bool,
    /// Whether it does anything yet.
    pub status: Status,
    /// One line for the reference.
    pub doc: &'static str,
}

/// Which values a key takes. `value.rs` reads them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An IP address, or `localhost`.
    Address,
    /// A whole number in a range, both ends included.
    Integer {
        /// The least value.
        min: u64,
        /// The greatest value.
        max: u64,
    },
    /// `true` or `false`.
    Boolean,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Any text but the empty one.
    Text,
    /// What fits into an HTTP header: visible ASCII without spaces.
    Token,
    /// A path of a file or folder, relative to the working directory.
    Path,
    /// A URL with one of these schemes.
    Url(&'static [&'static str]),
    /// An e-mail address.
    Email,
    /// The name of a signed-note key: no whitespace, no `+`.
    LogName,
    /// Several of what [`Kind::Text`] takes: a list in the file, or text with commas.
    Texts,
    /// Several of what [`Kind::Token`] takes.
    Tokens,
    /// Several origins of web pages, such as `https://app.example.org`, or `*` alone.
    Origins,
    /// Several networks, such as `10.0.0.0/8`, or single addresses.
    Networks,
    /// HTTP headers with their values, which are secret.
    Headers,
    /// Dollars, with up to six digits after the point.
    Dollars,
}

impl Kind {
    /// What is allowed, as the end of a sentence that begins "must be".
    pub fn allowed(&self) -> String {
        match self {
            Self::Address => "an IP address such as 127.0.0.1 or ::1, or localhost".to_owned(),
            Self::Integer { min, max } => format!("a whole number from {min} to {max}"),
            Self::Boolean => "true or false".to_owned(),
            Self::Choice(words) => format!("one of {}", words.join(", ")),
            Self::Text => "text that is not empty".to_owned(),
            Self::Token => "visible ASCII characters without spaces".to_owned(),
            Self::Path => "a path that is not empty".to_owned(),
            Self::Url(schemes) => {
                let schemes: Vec<_> = schemes.iter().map(|scheme| format!("{scheme}://")).collect();
                let credentials =
                    if self.may_hold_credentials() { "" } else { ", without user name or password" };
                format!("a URL that starts with {}{credentials}", schemes.join(" or "))
            }
            Self::Email => "an e-mail address".to_owned(),
            Self::LogName => "a name without whitespace or `+`".to_owned(),
            Self::Texts => "a list of texts that are not empty".to_owned(),
            Self::Tokens => "a list of tokens: visible ASCII characters without spaces".to_owned(),
            Self::Origins => "a list of origins such as https://app.example.org, or `*` alone".to_owned(),
            Self::Networks => "a list of networks such as 10.0.0.0/8 or 2001:db8::/32, or of addresses".to_owned(),
            Self::Headers => {
                "a table of HTTP headers such as { x-team = \"a\" }, without host, content-length, connection and the like"
                    .to_owned()
            }
            Self::Dollars => "dollars from 0 to 1000000, with up to six digits after the point".to_owned(),
        }
    }

    /// Whether the file has a type of its own for it, so that it stands there without quotes.
    pub(crate) fn is_bare(&self) -> bool {
        matches!(self, Self::Integer { .. } | Self::Boolean | Self::Dollars)
    }

    /// Whether it takes several values.
    pub(crate) fn is_list(&self) -> bool {
        matches!(self, Self::Texts | Self::Tokens | Self::Origins | Self::Networks)
    }

    /// A database is addressed with its password; a web address with one would be shown where it
    /// must not be.
    pub(crate) fn may_hold_credentials(&self) -> bool {
        matches!(self, Self::Url(schemes) if !schemes.contains(&"http"))
    }
}

/// What holds when a key is not set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefaultValue {
    /// Nothing.
    Unset,
    /// This text, read as if it had been set.
    Text(&'static str),
    /// A name in the folder that another key names.
    Under {
        /// The path of the key that names the folder.
        folder: &'static str,
        /// The name in it.
        name: &'static str,
    },
    /// Whatever the key at this path is.
    SameAs(&'static str),
    /// Worked out at start from what else is set, as this says.
    Inferred(&'static str),
}

/// Whether a key does anything yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It takes effect.
    Active,
    /// It is accepted and checked, and changes nothing until this is built.
    Reserved(&'static str),
}

impl Key {
    /// A key with no default, not secret, in effect; the table's rows say how they differ.
    pub(crate) const fn new(path: &'static str, env: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self {
            path,
            env,
            env_fallback: None,
            kind,
            default: DefaultValue::Unset,
            secret: false,
            refers: false,
            required: false,
            status: Status::Active,
            doc,
        }
    }

    pub(crate) const fn or(self, text: &'static str) -> Self {
        Self { default: DefaultValue::Text(text), ..self }
    }

    pub(crate) const fn or_under(self, folder: &'static str, name: &'static str) -> Self {
        Self { default: DefaultValue::Under { folder, name }, ..self }
    }

    pub(crate) const fn or_same_as(self, path: &'static str) -> Self {
        Self { default: DefaultValue::SameAs(path), ..self }
    }

    pub(crate) const fn or_inferred(self, how: &'static str) -> Self {
        Self { default: DefaultValue::Inferred(how), ..self }
    }

    pub(crate) const fn required(self) -> Self {
        Self { required: true, ..self }
    }

    pub(crate) const fn secret(self) -> Self {
        Self { secret: true, ..self }
    }

    /// A secret that may lie in the vault.
    pub(crate) const fn secret_or_reference(self) -> Self {
        Self { secret: true, refers: true, ..self }
    }

    pub(crate) const fn reserved(self, until: &'static str) -> Self {
        Self { status: Status::Reserved(until), ..self }
    }

    pub(crate) const fn fallback(self, env: &'static str) -> Self {
        Self { env_fallback: Some(env), ..self }
    }

    /// The variables that set it, the stronger first.
    pub fn variables(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.env).chain(self.env_fallback)
    }
}
