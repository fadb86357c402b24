//! Ids: prefixed, typed, sortable.
//!
//! An id is a UUIDv7 written as 26 base32 characters behind a prefix (`run_01k…`), so that ids sort by the time they
//! were made and a reader sees what they name. In memory it is 16 bytes.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::str::FromStr;

/// Crockford's base32 in lower case: no `i`, `l`, `o`, `u`.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const TEXT_LEN: usize = 26;

/// What an id names. One empty enum for each kind; the macro below makes them.
pub trait Prefix: 'static {
    /// The letters before the underscore.
    const PREFIX: &'static str;
}

/// An id of kind `K`.
pub struct Id<K> {
    bytes: [u8; 16],
    kind: PhantomData<fn() -> K>,
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident, $kind:ident, $prefix:literal;)*) => {$(
        #[doc = concat!("Marks ids that start with `", $prefix, "_`.")]
        pub enum $kind {}
        impl Prefix for $kind {
            const PREFIX: &'static str = $prefix;
        }
        $(#[$doc])*
        pub type $name = Id<$kind>;
    )*};
}

/// The kinds of id; the aliases outside are what people use.
mod kind {
    use super::{Id, Prefix};
    ids! {
        /// Names a tenant: the boundary that no data crosses.
        TenantId, TenantKind, "ten";
        /// Names a run.
        RunId, RunKind, "run";
        /// Names a trace event.
        EventId, EventKind, "evt";
        /// Names a side effect of a run.
        SideEffectId, SideEffectKind, "sfx";
        /// Names an approval.
        ApprovalId, ApprovalKind, "apr";
        /// Names a budget.
        BudgetId, BudgetKind, "bud";
        /// Names an exception from a policy.
        ExceptionId, ExceptionKind, "exc";
        /// Names a webhook.
        WebhookId, WebhookKind, "whk";
        /// Names an audit row.
        AuditId, AuditKind, "aud";
        /// Names an API key, never the key itself.
        ApiKeyId, ApiKeyKind, "key";
        /// Names a learned pattern.
        PatternId, PatternKind, "pat";
        /// Names an artifact.
        ArtifactId, ArtifactKind, "art";
        /// Names a job.
        JobId, JobKind, "job";
        /// Names a conversation with a model.
        ConversationId, ConversationKind, "cnv";
        /// Names a person who logs in.
        UserId, UserKind, "usr";
        /// Names an invitation to join an organisation.
        InvitationId, InvitationKind, "inv";
        /// Names the session of a person, never its token.
        SessionId, SessionKind, "ses";
        /// Names an account of a machine.
        ServiceAccountId, ServiceAccountKind, "sva";
        /// Names a secret in the vault, never the secret itself.
        CredentialId, CredentialKind, "crd";
        /// Stands for a subject where its name must not: in what stays after the subject is erased.
        SubjectId, SubjectKind, "sub";
    }
}
pub use kind::{
    ApiKeyId, ApprovalId, ArtifactId, AuditId, BudgetId, ConversationId, CredentialId, EventId, ExceptionId,
    InvitationId, JobId, PatternId, RunId, ServiceAccountId, SessionId, SideEffectId, SubjectId, TenantId,
    UserId, WebhookId,
};

/// Why a text is not an id of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdError {
    /// It does not start with the kind's prefix.
    Prefix {
        /// The prefix that was wanted.
        wanted: &'static str,
    },
    /// What follows the prefix is not 26 characters of the alphabet, the first `0`–`7`.
    Body,
}

impl fmt::Display for IdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prefix { wanted } => write!(f, "expected an id that starts with `{wanted}_`"),
            Self::Body => write!(f, "expected 26 base32 characters after the prefix, the first one 0 to 7"),
        }
    }
}
impl std::error::Error for IdError {}

impl<K: Prefix> Id<K> {
    /// The id whose bytes are all zero; the default tenant has it.
    pub const NIL: Self = Self { bytes: [0; 16], kind: PhantomData };

    /// A new id from the time in milliseconds and ten random bytes, laid out as a UUIDv7.
    #[must_use]
    pub fn new(unix_millis: u64, random: [u8; 10]) -> Self {
        let mut bytes = [0; 16];
        bytes[..6].copy_from_slice(&unix_millis.to_be_bytes()[2..]);
        bytes[6..].copy_from_slice(&random);
        bytes[6] = (bytes[6] & 0x0f) | 0x70; // version 7
        bytes[8] = (bytes[8] & 0x3f) | 0x80; // variant 10
        Self { bytes, kind: PhantomData }
    }

    /// The id with exactly these bytes, as a store kept them.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self { bytes, kind: PhantomData }
    }

    /// The sixteen bytes, in sort order.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.bytes
    }
}

impl<K: Prefix> fmt::Display for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0u8; TEXT_LEN];
        let mut rest = u128::from_be_bytes(self.bytes);
        for slot in text.iter_mut().rev() {
            *slot = ALPHABET[(rest & 31) as usize];
            rest >>= 5;
        }
        // The alphabet is ASCII, so this never takes the error's way.
        write!(f, "{}_{}", K::PREFIX, std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

impl<K: Prefix> FromStr for Id<K> {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let body = text
            .strip_prefix(K::PREFIX)
            .and_then(|rest| rest.strip_prefix('_'))
            .ok_or(IdError::Prefix { wanted: K::PREFIX })?
            .as_bytes();
        // 26 characters hold 130 bits: the first may only use three of its five.
        if body.len() != TEXT_LEN || body[0] > b'7' {
            return Err(IdError::Body);
        }
        let mut value = 0u128;
        for &byte in body {
            let digit = ALPHABET.iter().position(|&letter| letter == byte).ok_or(IdError::Body)?;
            value = (value << 5) | digit as u128;
        }
        Ok(Self::from_bytes(value.to_be_bytes()))
    }
}

// Written out because a derive would demand the same of `K`, which is never a value.
impl<K> Clone for Id<K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K> Copy for Id<K> {}
impl<K> PartialEq for Id<K> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}
impl<K> Eq for Id<K> {}
impl<K> PartialOrd for Id<K> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<K> Ord for Id<K> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bytes.cmp(&other.bytes)
    }
}
impl<K> Hash for Id<K> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes.hash(state);
    }
}

crate::serde_as_text!(Id<K>, K: Prefix);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_id_of_another_kind_is_refused_by_name() {
        let run = RunId::new(1_700_000_000_000, [7; 10]).to_string();
        assert_eq!(run.parse::<TenantId>(), Err(IdError::Prefix { wanted: "ten" }));
    }

    #[test]
    fn the_alphabet_has_no_look_alikes_and_no_capitals() {
        for bad in [
            "run_0000000000000000000000000i",
            "run_0000000000000000000000000A",
            "run_80000000000000000000000000",
            "run_",
        ] {
            assert_eq!(bad.parse::<RunId>(), Err(IdError::Body), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn text_and_bytes_tell_the_same_id(bytes in any::<[u8; 16]>()) {
            let id = RunId::from_bytes(bytes);
            prop_assert_eq!(id.to_string().parse::<RunId>(), Ok(id));
        }

        #[test]
        fn ids_sort_by_time_as_bytes_and_as_text(a in 0..1u64 << 48, b in 0..1u64 << 48, r in any::<[u8; 10]>(), s in any::<[u8; 10]>()) {
            prop_assume!(a < b);
            let (older, newer) = (RunId::new(a, r), RunId::new(b, s));
            prop_assert!(older < newer);
            prop_assert!(older.to_string() < newer.to_string());
        }
    }
}
