//! What the store has of a credential: a record with the envelope in it, and one that holds its name.
//!
//! The record of a credential is grouped under the master key that wraps it, which is how a rotation finds what is left.
//! The record of a name is what makes it taken: of two that want it, one finds it there.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use crypto::{KeyId, SecretString};
use schema::{CredentialId, TenantId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{Record, RecordBody, RecordChange, RecordKind, StoreError};

use crate::credential::{Credential, CredentialKind, Name, NewCredential};
use crate::envelope::{Envelope, NotSealed, Place, RewrapError};
use crate::master::MasterKeys;

/// What records of names are grouped under.
const NAMES: &str = "name";
/// Past every id of a credential, and before the ids of everything else in the vault.
pub(crate) const PAST_IDS: &str = "crd`";

/// A credential as it is stored.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    pub(crate) credential: Credential,
    tenant: TenantId,
    envelope: Envelope,
}

/// What a record says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Body {
    name: Name,
    kind: CredentialKind,
    version: u64,
    sealed: String,
    wrapped: String,
    master_key_id: String,
    created_by: String,
    created_at: Timestamp,
    rotated_at: Option<Timestamp>,
}

/// Which credential a name is.
#[derive(Debug, Serialize, Deserialize)]
struct Named {
    id: CredentialId,
}

impl Stored {
    /// A new credential, sealed.
    pub(crate) fn seal(
        masters: &MasterKeys,
        tenant: TenantId,
        new: NewCredential,
    ) -> Result<Self, NotSealed> {
        let NewCredential { id, name, kind, value, created_by, at } = new;
        let envelope = Envelope::seal(masters, Place { tenant, id, version: 1 }, &value)?;
        let credential = Credential {
            id,
            name,
            kind,
            version: 1,
            master_key_id: masters.active().id(),
            created_by,
            created_at: at,
            rotated_at: None,
            revision: 0,
        };
        Ok(Self { credential, tenant, envelope })
    }

    /// The same credential with another value. Nothing of the old one is left in it.
    pub(crate) fn with_value(
        masters: &MasterKeys,
        tenant: TenantId,
        before: &Credential,
        value: &SecretString,
        at: Timestamp,
    ) -> Result<Self, NotSealed> {
        let version = before.version.saturating_add(1);
        let envelope = Envelope::seal(masters, Place { tenant, id: before.id, version }, value)?;
        let master_key_id = masters.active().id();
        let credential = Credential { version, master_key_id, rotated_at: Some(at), ..before.clone() };
        Ok(Self { credential, tenant, envelope })
    }

    /// The same credential and value, wrapped by the active master key.
    pub(crate) fn rewrap(self, masters: &MasterKeys) -> Result<Self, RewrapError> {
        let envelope = self.envelope.rewrap(masters, self.place())?;
        let credential = Credential { master_key_id: masters.active().id(), ..self.credential };
        Ok(Self { credential, envelope, ..self })
    }

    /// The value.
    pub(crate) fn open(&self, masters: &MasterKeys) -> Result<SecretString, crypto::seal::OpenError> {
        self.envelope.open(masters, self.place())
    }

    fn place(&self) -> Place {
        Place { tenant: self.tenant, id: self.credential.id, version: self.credential.version }
    }

    /// The credential that a record of the tenant is.
    pub(crate) fn read(tenant: TenantId, record: &Record) -> Result<Self, StoreError> {
        let damaged = |why: &str| StoreError::Damaged(format!("credential {}: {why}", record.id));
        // What a body holds is sealed, and still not for a message.
        let body = Body::deserialize(&record.body).map_err(|_| damaged("its record cannot be read"))?;
        let decoded = |text: &str| BASE64.decode(text).map_err(|_| damaged("it is not base64"));
        let envelope = Envelope { sealed: decoded(&body.sealed)?, wrapped: decoded(&body.wrapped)? };
        let credential = Credential {
            id: record.id.parse().map_err(|_| damaged("its id is none"))?,
            name: body.name,
            kind: body.kind,
            version: body.version,
            master_key_id: body.master_key_id.parse().map_err(|_| damaged("its key has no id"))?,
            created_by: body.created_by,
            created_at: body.created_at,
            rotated_at: body.rotated_at,
            revision: record.version,
        };
        Ok(Self { credential, tenant, envelope })
    }

    /// What writes it, over the version that was read.
    pub(crate) fn change(&self) -> RecordChange {
        let Credential {
            id,
            name,
            kind,
            version,
            master_key_id,
            created_by,
            created_at,
            rotated_at,
            revision,
        } = self.credential.clone();
        let body = Body {
            name,
            kind,
            version,
            sealed: BASE64.encode(&self.envelope.sealed),
            wrapped: BASE64.encode(&self.envelope.wrapped),
            master_key_id: master_key_id.to_string(),
            created_by,
            created_at,
            rotated_at,
        };
        let to = RecordBody {
            group: group(master_key_id),
            key: None,
            body: json!(body),
            created_at,
            due_at: None,
        };
        RecordChange { kind: RecordKind::Credential, id: id.to_string(), expected: revision, to: Some(to) }
    }
}

/// What takes the name of a credential.
pub(crate) fn take_name(credential: &Credential) -> RecordChange {
    let to = RecordBody {
        group: NAMES.to_owned(),
        key: None,
        body: json!(Named { id: credential.id }),
        created_at: credential.created_at,
        due_at: None,
    };
    RecordChange { kind: RecordKind::Credential, id: name_id(&credential.name), expected: 0, to: Some(to) }
}

/// What deletes a credential and frees its name, which was written once.
pub(crate) fn deletion(credential: &Credential) -> [RecordChange; 2] {
    let delete = |id: String, expected| RecordChange { kind: RecordKind::Credential, id, expected, to: None };
    [delete(credential.id.to_string(), credential.revision), delete(name_id(&credential.name), 1)]
}

/// The id of the record of a name.
pub(crate) fn name_id(name: &Name) -> String {
    format!("name:{name}")
}

/// Which credential the record of a name names.
pub(crate) fn named(record: &Record) -> Result<CredentialId, StoreError> {
    let named = Named::deserialize(&record.body);
    named.map(|named| named.id).map_err(|_| StoreError::Damaged(format!("{} names no credential", record.id)))
}

/// What credentials are grouped under that this master key wraps.
pub(crate) fn group(master: KeyId) -> String {
    master.to_string()
}
