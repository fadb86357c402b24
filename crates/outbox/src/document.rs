//! What a sink is sent: documents, a line of JSON each, named so that a second copy lands on the first and nothing else does.

use crypto::SigningKey;
use ledger::note::NoteError;
use ledger::{Leaf, LogKey};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use schema::{Digest, TenantId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::context::Context;
use crate::sink::Shape;

/// The format of a shipped checkpoint.
pub const CHECKPOINT: &str = "punk.checkpoint/1";

/// All that S3 wants escaped in the name of an object, and more than a header needs to be.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// A name as it goes into an address or a header.
pub(crate) fn escaped(name: &str) -> String {
    utf8_percent_encode(name, ESCAPED).to_string()
}

/// One document on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Document {
    /// Its name among others, with slashes.
    pub(crate) name: String,
    /// What it says; no line end in it.
    pub(crate) json: String,
}

/// The head of a log as it is shipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShippedCheckpoint {
    /// [`CHECKPOINT`].
    pub format: String,
    /// Which log.
    pub origin: String,
    /// Whose it is.
    pub tenant: TenantId,
    /// How many leaves it has.
    pub size: u64,
    /// The root over them.
    pub root: Digest,
    /// The same, signed: a C2SP note, as evidence packets have it.
    pub checkpoint: String,
    /// When it was shipped.
    pub at: Timestamp,
}

impl Document {
    /// The head of a log. Its root is in the name: a log that was rewritten lands beside what was there.
    pub(crate) fn checkpoint(
        key: &LogKey<SigningKey>,
        tenant: TenantId,
        (size, root): (u64, Digest),
        at: Timestamp,
    ) -> Result<Self, NoteError> {
        let origin = key.origin();
        let shipped = ShippedCheckpoint {
            format: CHECKPOINT.to_owned(),
            origin: origin.to_string(),
            tenant,
            size,
            root,
            checkpoint: key.checkpoint(size, root)?.to_string(),
            at,
        };
        let name = format!("{origin}/checkpoints/{size:016}-{root}.json");
        Ok(Self { name, json: json!(shipped).to_string() })
    }

    /// What became of a run, as the leaf at `index` binds it.
    pub(crate) fn context(
        key: &LogKey<SigningKey>,
        (index, leaf): (u64, Leaf),
        context: &Context,
        shape: &Shape,
    ) -> Result<Self, ledger::canonical::CanonicalError> {
        let signed = context.signed(key)?;
        let json = match shape {
            Shape::Punk => signed,
            Shape::InsForge { environment } => context.for_insforge(&signed, environment.as_deref()),
        };
        let name = format!("{}/contexts/{index:016}-{}-{}.json", key.origin(), leaf.run, leaf.seq);
        Ok(Self { name, json: json.to_string() })
    }
}
