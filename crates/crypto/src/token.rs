//! Tokens: what a caller presents, with a checksum that catches a typo before any lookup.
//!
//! ```text
//! pk_ 9fK…43 characters of base62…Zq 0a1B2c
//! │   └ 256 bits of randomness        └ CRC-32 of everything before it, six characters of base62
//! └ what the token is for
//! ```
//!
//! The shape is GitHub's: a scanner recognises a leaked token without asking us, and a mistyped or cut
//! token is told apart from an unknown one. The checksum is no secret and proves nothing.
//!
//! Only [`Token::hash`] is stored. Plain SHA-256 is right here because a token has 256 bits of entropy;
//! a slow hash would only slow every request down.

use crate::random::{self, RandomError};
use crate::secret::SecretString;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// 43 characters of base62 are 256.03 bits.
const BODY: usize = 43;
/// 62^6 is just above 2^32.
const CHECKSUM: usize = 6;

/// What a token is for; each kind has its own prefix, so that one never passes for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// `pk_`: an API key of an application or agent.
    ApiKey,
    /// `ps_`: the session of a person who logged in.
    Session,
    /// `sv_`: the secret of a service account, which is exchanged for short-lived tokens.
    ServiceSecret,
    /// `in_`: an invitation to join an organisation.
    Invitation,
}

impl TokenKind {
    /// Every kind, for scanners and masks.
    pub const ALL: [Self; 4] = [Self::ApiKey, Self::Session, Self::ServiceSecret, Self::Invitation];

    /// The characters that every token of this kind starts with.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::ApiKey => "pk_",
            Self::Session => "ps_",
            Self::ServiceSecret => "sv_",
            Self::Invitation => "in_",
        }
    }
}

/// Why a text is not a token of the kind asked for. No message repeats any of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// It starts differently.
    #[error("token does not start with {expected:?}; check which credential was pasted")]
    Prefix {
        /// The prefix of the kind asked for.
        expected: &'static str,
    },
    /// Too short or too long: usually cut while copying.
    #[error("token has {actual} characters, not {expected}; copy it again, whole and without spaces")]
    Length {
        /// How many characters a token of this kind has.
        expected: usize,
        /// How many there were.
        actual: usize,
    },
    /// A character that no token contains.
    #[error(
        "token has a character at position {position} that is neither a letter nor a digit; copy it again"
    )]
    Character {
        /// Counted from one.
        position: usize,
    },
    /// The last six characters do not belong to the rest.
    #[error("token has a wrong checksum, so it was mistyped or altered; copy it again")]
    Checksum,
}

/// A well-formed token. Wiped when dropped; prints only its first characters.
pub struct Token {
    kind: TokenKind,
    text: SecretString,
}

impl Token {
    /// A new token with 256 bits from the operating system.
    pub fn generate(kind: TokenKind) -> Result<Self, RandomError> {
        // Reserved whole, so that growing it never leaves a copy of the secret behind.
        let mut text = String::with_capacity(kind.prefix().len() + BODY + CHECKSUM);
        text.push_str(kind.prefix());
        let mut body = 0;
        while body < BODY {
            for byte in Zeroizing::new(random::bytes::<64>()?).iter() {
                // 248 is the last multiple of 62 below 256: taking more would favour some characters.
                if *byte < 248 && body < BODY {
                    text.push(char::from(ALPHABET[usize::from(byte % 62)]));
                    body += 1;
                }
            }
        }
        let checksum = checksum(&text);
        text.extend(checksum.map(char::from));
        Ok(Self { kind, text: SecretString::new(text) })
    }

    /// Reads a presented text as a token of `kind`, or says what is wrong with it.
    pub fn parse(kind: TokenKind, text: &str) -> Result<Self, TokenError> {
        let expected = kind.prefix().len() + BODY + CHECKSUM;
        let rest = text.strip_prefix(kind.prefix()).ok_or(TokenError::Prefix { expected: kind.prefix() })?;
        if let Some(position) = rest.chars().position(|character| !character.is_ascii_alphanumeric()) {
            return Err(TokenError::Character { position: kind.prefix().len() + position + 1 });
        }
        if text.len() != expected {
            return Err(TokenError::Length { expected, actual: text.len() });
        }
        let (signed, given) = text.split_at(expected - CHECKSUM);
        if checksum(signed) != given.as_bytes() {
            return Err(TokenError::Checksum);
        }
        Ok(Self { kind, text: SecretString::new(text.to_owned()) })
    }

    /// What the token is for.
    pub fn kind(&self) -> TokenKind {
        self.kind
    }

    /// The token itself, to be shown once to whoever asked for it.
    pub fn expose(&self) -> &str {
        self.text.expose()
    }

    /// What to store and look up by.
    pub fn hash(&self) -> TokenHash {
        TokenHash::of(self.text.expose())
    }

    /// The prefix and four characters: enough for a person to recognise it in a list.
    pub fn hint(&self) -> String {
        let shown: String = self.text.expose().chars().take(self.kind.prefix().len() + 4).collect();
        format!("{shown}…")
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Token({})", self.hint())
    }
}

/// The SHA-256 of a token, safe to store. Compares in constant time.
#[derive(Clone, Copy)]
pub struct TokenHash([u8; 32]);

impl TokenHash {
    /// The hash of any presented credential, such as a bootstrap key that an operator chose.
    pub fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// A hash read back from storage.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes to store.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl PartialEq for TokenHash {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for TokenHash {}

impl std::fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TokenHash({}…)", hex::encode(&self.0[..4]))
    }
}

fn checksum(signed: &str) -> [u8; CHECKSUM] {
    let mut crc = crc32fast::hash(signed.as_bytes());
    let mut digits = [0; CHECKSUM];
    for digit in digits.iter_mut().rev() {
        *digit = ALPHABET[(crc % 62) as usize];
        crc /= 62;
    }
    digits
}

#[cfg(test)]
mod tests;
