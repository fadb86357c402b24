//! C2SP signed notes: a text, and the signatures under it.
//!
//! Two kinds of signature are known: a log's own (`0x01`, Ed25519 over the text) and a witness's cosignature
//! (`0x04`, Ed25519 over a header with the time and the text). A note is read in one spelling only, so that no byte
//! of it is free for an attacker to change.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ed25519_dalek::{Signature, Signer, VerifyingKey};

use crate::hash::sha256;

/// More signatures than this are refused; the specification asks for at least 16.
const MAX_SIGNATURES: usize = 16;
const DASH: &str = "\u{2014} ";

/// What a key's signatures say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyKind {
    /// Signs the text itself.
    Log,
    /// Cosigns checkpoints it has seen to be consistent.
    Witness,
}

impl KeyKind {
    fn type_byte(self) -> u8 {
        match self {
            Self::Log => 0x01,
            Self::Witness => 0x04,
        }
    }
}

/// A name of a key: not empty, no white space, no `+`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyName(String);

impl KeyName {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
impl fmt::Display for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
impl FromStr for KeyName {
    type Err = NoteError;

    fn from_str(text: &str) -> Result<Self, NoteError> {
        if text.is_empty() || text.contains(|c: char| c.is_whitespace() || c == '+' || c < ' ') {
            return Err(NoteError::KeyName);
        }
        Ok(Self(text.to_owned()))
    }
}

/// Why a text is not a signed note, or not a verifier key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    /// Control characters, or no final newline.
    #[error("a note is text whose lines all end in a newline, without other control characters")]
    Text,
    /// No blank line before the signatures, or nothing before it.
    #[error("a note has its text, a blank line and 1 to {MAX_SIGNATURES} signature lines")]
    Parts,
    /// A signature line that is not one.
    #[error("signature line {0} is not `\u{2014} <key name> <base64>` in canonical base64")]
    Signature(usize),
    /// A name that no key can have.
    #[error("a key name is not empty and has no white space and no `+`")]
    KeyName,
    /// A verifier key that is not one.
    #[error(
        "a verifier key is `<name>+<8 hex digits>+<base64 of type and key>`, and the digits must match the rest"
    )]
    VerifierKey,
}

/// A public key with its name, as trust files and tools write it (`name+id+base64`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifierKey {
    name: KeyName,
    kind: KeyKind,
    id: [u8; 4],
    key: VerifyingKey,
}

impl VerifierKey {
    /// The verifier key of this name, kind and public key.
    #[must_use]
    pub fn new(name: KeyName, kind: KeyKind, key: VerifyingKey) -> Self {
        let mut named = name.as_str().as_bytes().to_vec();
        named.extend_from_slice(&[b'\n', kind.type_byte()]);
        named.extend_from_slice(key.as_bytes());
        let [a, b, c, d, ..] = *sha256(&named).as_bytes();
        Self { name, kind, id: [a, b, c, d], key }
    }

    /// The key's name.
    #[must_use]
    pub fn name(&self) -> &KeyName {
        &self.name
    }

    /// What its signatures say.
    #[must_use]
    pub fn kind(&self) -> KeyKind {
        self.kind
    }

    /// The public key itself.
    #[must_use]
    pub fn public(&self) -> &VerifyingKey {
        &self.key
    }

    /// Whether a signature line claims to be by this key.
    #[must_use]
    pub fn is_named_by(&self, line: &SignatureLine) -> bool {
        self.id == line.id && self.name == line.name
    }

    /// Whether the signature really is by this key, over this text.
    #[must_use]
    pub fn verifies(&self, text: &str, line: &SignatureLine) -> bool {
        match self.kind {
            KeyKind::Log => {
                let signature: Result<[u8; 64], _> = line.signature.as_slice().try_into();
                signature.is_ok_and(|bytes| self.verifies_bytes(text.as_bytes(), bytes))
            }
            KeyKind::Witness => {
                let Some((time, rest)) = line.signature.split_first_chunk::<8>() else { return false };
                let seconds = u64::from_be_bytes(*time);
                let signature: Result<[u8; 64], _> = rest.try_into();
                seconds <= i64::MAX as u64
                    && signature
                        .is_ok_and(|bytes| self.verifies_bytes(cosigned(text, seconds).as_bytes(), bytes))
            }
        }
    }

    fn verifies_bytes(&self, message: &[u8], signature: [u8; 64]) -> bool {
        self.key.verify_strict(message, &Signature::from_bytes(&signature)).is_ok()
    }
}

fn cosigned(text: &str, seconds: u64) -> String {
    format!("cosignature/v1\ntime {seconds}\n{text}")
}

impl fmt::Display for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut material = vec![self.kind.type_byte()];
        material.extend_from_slice(self.key.as_bytes());
        write!(f, "{}+{:08x}+{}", self.name, u32::from_be_bytes(self.id), BASE64.encode(material))
    }
}
impl FromStr for VerifierKey {
    type Err = NoteError;

    fn from_str(text: &str) -> Result<Self, NoteError> {
        // A name has no `+`, base64 may have some.
        let mut parts = text.splitn(3, '+');
        let (Some(name), Some(_id), Some(material)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(NoteError::VerifierKey);
        };
        let material = BASE64.decode(material).map_err(|_| NoteError::VerifierKey)?;
        let (kind, key) = match material.split_first() {
            Some((0x01, key)) => (KeyKind::Log, key),
            Some((0x04, key)) => (KeyKind::Witness, key),
            _ => return Err(NoteError::VerifierKey),
        };
        let key: &[u8; 32] = key.try_into().map_err(|_| NoteError::VerifierKey)?;
        let key = VerifyingKey::from_bytes(key).map_err(|_| NoteError::VerifierKey)?;
        let read = Self::new(name.parse()?, kind, key);
        if read.to_string() == text { Ok(read) } else { Err(NoteError::VerifierKey) }
    }
}

/// One signature under a note, not yet checked against any key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureLine {
    name: KeyName,
    id: [u8; 4],
    signature: Vec<u8>,
}

impl SignatureLine {
    /// Signs `text` as the log whose key is `key`.
    #[must_use]
    pub fn sign(text: &str, key: &VerifierKey, signer: &impl Signer<Signature>) -> Self {
        let signature = signer.sign(text.as_bytes()).to_bytes().to_vec();
        Self { name: key.name.clone(), id: key.id, signature }
    }

    /// Cosigns the checkpoint `text` at this time, as a witness does.
    #[must_use]
    pub fn cosign(text: &str, seconds: u64, key: &VerifierKey, signer: &impl Signer<Signature>) -> Self {
        let mut signature = seconds.to_be_bytes().to_vec();
        signature.extend_from_slice(&signer.sign(cosigned(text, seconds).as_bytes()).to_bytes());
        Self { name: key.name.clone(), id: key.id, signature }
    }

    /// Who is said to have signed.
    #[must_use]
    pub fn name(&self) -> &KeyName {
        &self.name
    }

    /// The first bytes of the key's hash, which tell two keys of one name apart.
    #[must_use]
    pub fn id(&self) -> [u8; 4] {
        self.id
    }
}

impl fmt::Display for SignatureLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = [self.id.as_slice(), &self.signature].concat();
        writeln!(f, "{DASH}{} {}", self.name, BASE64.encode(bytes))
    }
}

/// A text and the signatures under it. Reading one checks its spelling, never its signatures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    text: String,
    signatures: Vec<SignatureLine>,
}

impl Note {
    /// A note of `text`, which must end in a newline, under these signatures.
    ///
    /// # Errors
    /// The text or the number of signatures is not that of a note.
    pub fn new(text: String, signatures: Vec<SignatureLine>) -> Result<Self, NoteError> {
        if !is_note_text(&text) {
            return Err(NoteError::Text);
        }
        if signatures.is_empty() || signatures.len() > MAX_SIGNATURES {
            return Err(NoteError::Parts);
        }
        Ok(Self { text, signatures })
    }

    /// What was signed, up to and including its final newline.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The signature lines, in order.
    #[must_use]
    pub fn signatures(&self) -> &[SignatureLine] {
        &self.signatures
    }
}

fn is_note_text(text: &str) -> bool {
    text.ends_with('\n') && !text.contains(|c: char| c < ' ' && c != '\n')
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.text)?;
        self.signatures.iter().try_for_each(|line| line.fmt(f))
    }
}

impl FromStr for Note {
    type Err = NoteError;

    fn from_str(note: &str) -> Result<Self, NoteError> {
        if !is_note_text(note) {
            return Err(NoteError::Text);
        }
        let (text, lines) = note.rsplit_once("\n\n").ok_or(NoteError::Parts)?;
        if text.is_empty() {
            return Err(NoteError::Parts);
        }
        let lines = lines.strip_suffix('\n').ok_or(NoteError::Parts)?;
        let signatures = lines
            .split('\n')
            .enumerate()
            .map(|(i, line)| parse_signature(line).ok_or(NoteError::Signature(i + 1)))
            .collect::<Result<Vec<_>, _>>()?;
        Self::new(format!("{text}\n"), signatures)
    }
}

fn parse_signature(line: &str) -> Option<SignatureLine> {
    let (name, encoded) = line.strip_prefix(DASH)?.split_once(' ')?;
    // The engine refuses stray trailing bits and missing padding, so each signature has one spelling.
    let bytes = BASE64.decode(encoded).ok()?;
    let (id, signature) = bytes.split_first_chunk::<4>()?;
    if signature.is_empty() {
        return None;
    }
    Some(SignatureLine { name: name.parse().ok()?, id: *id, signature: signature.to_vec() })
}
