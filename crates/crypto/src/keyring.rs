//! The key ring: a folder with one file per key, and one active key per purpose.
//!
//! [`KeyRing::open`] reads the folder, [`KeyRing::generate`] makes the first key of a purpose,
//! [`KeyRing::rotate`] the next one. A retired key stays in the ring: what it signed can still be
//! verified, what it sealed can still be opened. `file.rs` is the text of one key file, `folder.rs`
//! what happens on disk.
//!
//! - A key file is readable by its owner only; the ring refuses to open otherwise.
//! - A file appears whole or not at all, and a key never replaces another key.
//! - **The newest active key wins.** Rotation first writes the new key, then marks the old one
//!   retired; after a crash in between two files say `active`, and every reader takes the newer. The
//!   order is kept even when the clock goes backwards. The next rotation puts the files right.
//!
//! To add a purpose: a variant of [`Purpose`] with its algorithm, and an arm in [`Material`].

mod file;
mod folder;
mod id;
#[cfg(test)]
mod tests;

pub use folder::{OpenError, WriteError, read_private};
pub use id::{KeyId, KeyIdError};

use crate::random::RandomError;
use crate::seal::SealKey;
use crate::sign::SigningKey;
use file::KeyFile;
use folder::Folder;
use jiff::Timestamp;
use std::path::{Path, PathBuf};

/// What a key is for. A key has one purpose for life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Purpose {
    /// Signs the checkpoints of transparency logs.
    Log,
    /// Seals secrets at rest.
    Seal,
    /// Signs the tokens that say who somebody is.
    Token,
}

impl Purpose {
    /// Every purpose.
    pub const ALL: [Self; 3] = [Self::Log, Self::Seal, Self::Token];

    /// The name in key files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Seal => "seal",
            Self::Token => "token",
        }
    }

    /// The algorithm that keys of this purpose are for.
    pub const fn algorithm(self) -> &'static str {
        match self {
            Self::Log | Self::Token => "ed25519",
            Self::Seal => "xchacha20-poly1305",
        }
    }
}

impl std::fmt::Display for Purpose {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether a key is used for new things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyState {
    /// New signatures and seals use it.
    Active,
    /// Kept only to verify and open what it made.
    Retired,
}

impl KeyState {
    /// The name in key files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Retired => "retired",
        }
    }
}

/// The key itself.
#[derive(Debug)]
pub enum Material {
    /// A key that signs.
    Signing(SigningKey),
    /// A key that seals.
    Sealing(SealKey),
}

/// One key of the ring.
#[derive(Debug)]
pub struct Key {
    /// Its id, derived from the key.
    pub id: KeyId,
    /// What it is for.
    pub purpose: Purpose,
    /// When it was made; later than every older key of its purpose.
    pub created: Timestamp,
    /// Whether it is used for new things, as every reader of the ring sees it.
    pub state: KeyState,
    /// The secret.
    pub material: Material,
    /// Where it lies.
    pub path: PathBuf,
}

/// The keys of one installation.
#[derive(Debug)]
pub struct KeyRing {
    folder: Folder,
    keys: Vec<Key>,
}

impl KeyRing {
    /// Reads the ring in `folder`. A folder that does not exist is an empty ring; nothing is created.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, OpenError> {
        let folder = Folder::at(folder.into());
        let keys = ring_of(&folder)?;
        Ok(Self { folder, keys })
    }

    /// Where the ring lies.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Every key, by purpose, the newest first: the active one leads its purpose.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// The key with this id.
    pub fn key(&self, id: KeyId) -> Option<&Key> {
        self.keys.iter().find(|key| key.id == id)
    }

    /// The one active key of `purpose`.
    pub fn active(&self, purpose: Purpose) -> Option<&Key> {
        self.keys.iter().find(|key| key.purpose == purpose && key.state == KeyState::Active)
    }

    /// The key that signs checkpoints now.
    pub fn signing_key(&self) -> Option<&SigningKey> {
        match &self.active(Purpose::Log)?.material {
            Material::Signing(key) => Some(key),
            Material::Sealing(_) => None,
        }
    }

    /// Every key that ever signed checkpoints, the active one first.
    pub fn signing_keys(&self) -> impl Iterator<Item = &SigningKey> {
        self.signers(Purpose::Log).map(|(_, key)| key)
    }

    /// Every key that ever signed tokens with what the ring says of it, the newest first.
    pub fn token_keys(&self) -> impl Iterator<Item = (&Key, &SigningKey)> {
        self.signers(Purpose::Token)
    }

    fn signers(&self, purpose: Purpose) -> impl Iterator<Item = (&Key, &SigningKey)> {
        self.keys.iter().filter(move |key| key.purpose == purpose).filter_map(|key| match &key.material {
            Material::Signing(signing) => Some((key, signing)),
            Material::Sealing(_) => None,
        })
    }

    /// The key that seals now.
    pub fn seal_key(&self) -> Option<&SealKey> {
        match &self.active(Purpose::Seal)?.material {
            Material::Sealing(key) => Some(key),
            Material::Signing(_) => None,
        }
    }

    /// Every key that ever sealed, the active one first: what [`crate::seal::open`] wants.
    pub fn seal_keys(&self) -> impl Iterator<Item = &SealKey> {
        self.keys.iter().filter_map(|key| match &key.material {
            Material::Sealing(key) => Some(key),
            Material::Signing(_) => None,
        })
    }

    /// Makes the first key of `purpose`, creating the folder where needed. Refused when there is one.
    pub fn generate(&mut self, purpose: Purpose, now: Timestamp) -> Result<KeyId, WriteError> {
        let lock = self.folder.lock()?;
        self.keys = ring_of(&self.folder)?;
        if let Some(active) = self.active(purpose) {
            return Err(WriteError::AlreadyActive { purpose, id: active.id });
        }
        let id = self.add(purpose, now)?;
        drop(lock);
        Ok(id)
    }

    /// Makes a new active key of `purpose` and retires the one before. When this fails the ring on
    /// disk has either the old active key or the new one, never none.
    pub fn rotate(&mut self, purpose: Purpose, now: Timestamp) -> Result<KeyId, WriteError> {
        // Looked up before the lock, which would create the folder: a refusal leaves nothing behind.
        self.keys = ring_of(&self.folder)?;
        if self.active(purpose).is_none() {
            return Err(WriteError::NothingToRotate { purpose });
        }
        let lock = self.folder.lock()?;
        self.keys = ring_of(&self.folder)?;
        let id = self.add(purpose, now)?;
        // All others, not only the one before: this also mends what an earlier crash left.
        for other in self.keys.iter().filter(|key| key.purpose == purpose && key.id != id) {
            self.folder.retire(&other.path)?;
        }
        self.keys = ring_of(&self.folder)?;
        drop(lock);
        Ok(id)
    }

    fn add(&mut self, purpose: Purpose, now: Timestamp) -> Result<KeyId, WriteError> {
        let newest = self.keys.iter().filter(|key| key.purpose == purpose).map(|key| key.created).max();
        let file = KeyFile::generate(purpose, after(newest, now))?;
        self.folder.create(&file)?;
        self.keys = ring_of(&self.folder)?;
        Ok(file.id)
    }
}

/// `now`, or the first millisecond past `newest` when the clock went backwards.
fn after(newest: Option<Timestamp>, now: Timestamp) -> Timestamp {
    let millisecond = |time: Timestamp| Timestamp::from_millisecond(time.as_millisecond()).unwrap_or(time);
    let now = millisecond(now);
    match newest {
        Some(newest) if newest >= now => {
            Timestamp::from_millisecond(newest.as_millisecond() + 1).unwrap_or(newest)
        }
        _ => now,
    }
}

/// The keys in `folder` as every reader sees them: sorted, and with one active key per purpose.
fn ring_of(folder: &Folder) -> Result<Vec<Key>, OpenError> {
    let mut files = folder.read()?;
    files.sort_by(|(_, one), (_, other)| {
        (one.purpose, other.created, other.id).cmp(&(other.purpose, one.created, one.id))
    });
    let mut keys: Vec<Key> = Vec::with_capacity(files.len());
    for (path, file) in files {
        let newer_is_active =
            keys.iter().any(|key| key.purpose == file.purpose && key.state == KeyState::Active);
        let state = if newer_is_active { KeyState::Retired } else { file.state };
        let KeyFile { id, purpose, created, .. } = file;
        keys.push(Key { id, purpose, created, state, material: file.material(), path });
    }
    Ok(keys)
}

impl From<RandomError> for WriteError {
    fn from(error: RandomError) -> Self {
        Self::Random(error)
    }
}
