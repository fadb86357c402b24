//! The text of a key file.
//!
//! ```text
//! punk-key-v1
//! id: key_0123456789abcdef
//! purpose: log
//! algorithm: ed25519
//! created: 2026-11-15T23:24:36.123Z
//! state: active
//! secret: <32 bytes in base64>
//! checksum: <SHA-256 of everything above, in hex>
//! ```
//!
//! Eight lines in this order, nothing else: a file that differs in any byte is refused by line. The
//! checksum finds damage, not malice; who can write the file can also compute it.

use super::{KeyId, KeyState, Material, Purpose};
use crate::random::{self, RandomError};
use crate::seal::SealKey;
use crate::secret::Secret;
use crate::sign::SigningKey;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

const VERSION: &str = "punk-key-v1";

/// What is wrong with a key file, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FormatError {
    /// Counted from one.
    pub(super) line: usize,
    pub(super) problem: &'static str,
}

/// One key as its file states it.
pub(super) struct KeyFile {
    pub(super) id: KeyId,
    pub(super) purpose: Purpose,
    pub(super) created: Timestamp,
    pub(super) state: KeyState,
    secret: Secret<[u8; 32]>,
}

impl KeyFile {
    /// A new active key.
    pub(super) fn generate(purpose: Purpose, created: Timestamp) -> Result<Self, RandomError> {
        Ok(Self::of(purpose, created, KeyState::Active, Secret::new(random::bytes()?)))
    }

    fn of(purpose: Purpose, created: Timestamp, state: KeyState, secret: Secret<[u8; 32]>) -> Self {
        let id = match purpose {
            Purpose::Log | Purpose::Token => {
                KeyId::of_public_key(&SigningKey::from_seed(secret.expose()).public())
            }
            Purpose::Seal => KeyId::of_seal_key(secret.expose()),
        };
        Self { id, purpose, created, state, secret }
    }

    /// The file name: sorted by purpose in a listing, unique by id.
    pub(super) fn name(&self) -> String {
        format!("{}-{}.key", self.purpose, self.id)
    }

    pub(super) fn material(&self) -> Material {
        match self.purpose {
            Purpose::Log | Purpose::Token => Material::Signing(SigningKey::from_seed(self.secret.expose())),
            Purpose::Seal => Material::Sealing(SealKey::from_bytes(*self.secret.expose())),
        }
    }

    /// The text of the file.
    pub(super) fn print(&self) -> Zeroizing<String> {
        let Self { id, purpose, created, state, .. } = self;
        let secret = Zeroizing::new(BASE64.encode(self.secret.expose()));
        let algorithm = purpose.algorithm();
        let state = state.name();
        // Reserved whole, so that growing it never leaves a copy of the secret behind.
        let mut text = Zeroizing::new(String::with_capacity(512));
        for line in [
            VERSION,
            &format!("id: {id}"),
            &format!("purpose: {purpose}"),
            &format!("algorithm: {algorithm}"),
            &format!("created: {created:.3}"),
            &format!("state: {state}"),
            "secret: ",
        ] {
            text.push_str(line);
            text.push('\n');
        }
        text.pop(); // The secret continues its line.
        text.push_str(&secret);
        text.push('\n');
        let checksum = checksum(&text);
        text.push_str(&format!("checksum: {checksum}\n"));
        text
    }

    /// Reads the text of a file; nothing that [`KeyFile::print`] would not write is accepted.
    pub(super) fn parse(text: &str) -> Result<Self, FormatError> {
        let mut lines = Lines { text: text.split('\n'), number: 0 };
        lines.exactly(
            VERSION,
            "is not `punk-key-v1`: not a key file, or of a version this program does not know",
        )?;
        let id = lines.field("id: ", |value| value.parse::<KeyId>().ok(), "is not `id: key_…`")?;
        let purpose = lines.field(
            "purpose: ",
            |value| Purpose::ALL.into_iter().find(|purpose| purpose.name() == value),
            "is not `purpose: log`, `purpose: seal` or `purpose: token`",
        )?;
        lines.field(
            "algorithm: ",
            |value| (value == purpose.algorithm()).then_some(()),
            "does not name the algorithm of this purpose",
        )?;
        let created = lines.field(
            "created: ",
            |value| value.parse::<Timestamp>().ok().filter(|time| format!("{time:.3}") == value),
            "is not `created: ` and a UTC time with milliseconds",
        )?;
        let state = lines.field(
            "state: ",
            |value| [KeyState::Active, KeyState::Retired].into_iter().find(|state| state.name() == value),
            "is not `state: active` or `state: retired`",
        )?;
        let secret = lines.field("secret: ", decode, "is not `secret: ` and 32 bytes in base64")?;
        let above = &text[..text.rfind("checksum: ").unwrap_or(text.len())];
        let expected = checksum(above);
        lines.field(
            "checksum: ",
            |value| (value == expected).then_some(()),
            "does not match the lines above: the file is damaged; restore it from a backup",
        )?;
        lines.exactly("", "is more than a key file has, or the last line has no end")?;
        lines.end()?;
        let file = Self::of(purpose, created, state, secret);
        if file.id != id {
            return Err(FormatError { line: 2, problem: "names another key than the secret" });
        }
        Ok(file)
    }

    /// The same key, retired.
    pub(super) fn retired(self) -> Self {
        Self { state: KeyState::Retired, ..self }
    }
}

fn decode(value: &str) -> Option<Secret<[u8; 32]>> {
    let bytes = Zeroizing::new(BASE64.decode(value).ok()?);
    Some(Secret::new(<[u8; 32]>::try_from(bytes.as_slice()).ok()?))
}

fn checksum(above: &str) -> String {
    hex::encode(Sha256::digest(above.as_bytes()))
}

/// The lines of a file, so that each refusal knows its number.
struct Lines<'t> {
    text: std::str::Split<'t, char>,
    number: usize,
}

impl<'t> Lines<'t> {
    fn next(&mut self) -> Option<&'t str> {
        self.number += 1;
        self.text.next()
    }

    fn exactly(&mut self, expected: &str, problem: &'static str) -> Result<(), FormatError> {
        if self.next() == Some(expected) { Ok(()) } else { Err(self.refuse(problem)) }
    }

    fn field<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&'t str) -> Option<T>,
        problem: &'static str,
    ) -> Result<T, FormatError> {
        let value = self.next().and_then(|line| line.strip_prefix(name)).and_then(read);
        value.ok_or_else(|| self.refuse(problem))
    }

    fn end(&mut self) -> Result<(), FormatError> {
        if self.next().is_none() { Ok(()) } else { Err(self.refuse("is more than a key file has")) }
    }

    fn refuse(&self, problem: &'static str) -> FormatError {
        FormatError { line: self.number, problem }
    }
}
