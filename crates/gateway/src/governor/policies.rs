//! The policies in force: read from files, replaced whole, never in part.
//!
//! The folder is looked at every second. What has changed is read when it has stopped changing, and takes effect all at
//! once; what cannot be read changes nothing, is told to whoever runs the server, and is shown by `GET /api/v1/policies`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use governance::{LoadError, PolicyFile, PolicySet, load};
use ledger::sha256;
use schema::{Digest, TenantId, Timestamp};

/// How often the folder is looked at.
pub(crate) const LOOK_EVERY: Duration = Duration::from_secs(1);
/// More than any file of policies has.
const LONGEST: u64 = 16 * 1024 * 1024;

/// Policies that are in force, with what they are recorded by.
#[derive(Debug)]
pub(crate) struct InForce {
    pub(crate) set: PolicySet,
    /// The hash of the set's text.
    pub(crate) digest: Digest,
    pub(crate) files: Vec<PolicyFile>,
    pub(crate) since: Timestamp,
    /// Whether a verdict may depend on what an action costs.
    pub(crate) asks_for_cost: bool,
    /// The tenants whose ledgers are known to have the text: it may be long, and every run names it.
    known_to: RwLock<HashSet<TenantId>>,
}

impl InForce {
    fn new(set: PolicySet, files: Vec<PolicyFile>, since: Timestamp) -> Self {
        let (digest, asks_for_cost) = (sha256(set.text().as_bytes()), set.asks_for_cost());
        Self { set, digest, files, since, asks_for_cost, known_to: RwLock::default() }
    }

    /// The text, unless the tenant's ledger is known to have it.
    pub(crate) fn text_for(&self, tenant: TenantId) -> Option<String> {
        let known = self.known_to.read().unwrap_or_else(PoisonError::into_inner);
        (!known.contains(&tenant)).then(|| self.set.text().to_owned())
    }

    /// Notes that the tenant's ledger has the text: a commit with it has succeeded.
    pub(crate) fn note_known_to(&self, tenant: TenantId) {
        if self.text_for(tenant).is_some() {
            self.known_to.write().unwrap_or_else(PoisonError::into_inner).insert(tenant);
        }
    }
}

/// What the folder looks like: the names of the files, and what tells that one has changed.
type Look = Vec<(PathBuf, u64, Option<SystemTime>)>;

/// The policies of the installation.
pub(crate) struct Policies {
    folder: Option<PathBuf>,
    in_force: RwLock<Arc<InForce>>,
    /// Why what lies in the folder now is not in force.
    refused: RwLock<Option<LoadError>>,
    /// What was last looked at, and whether it is what was last read.
    seen: RwLock<(Look, bool)>,
}

impl Policies {
    /// Reads the folder. Without one, or with one that is not there, nothing is held back.
    ///
    /// # Errors
    /// A file cannot be read: a gateway does not start on policies that it does not understand.
    pub(crate) fn open(folder: Option<PathBuf>, now: Timestamp) -> Result<Self, LoadError> {
        let look = folder.as_deref().map_or_else(|| Ok(Look::new()), look)?;
        let (set, files) = read(&look)?;
        Ok(Self {
            folder,
            in_force: RwLock::new(Arc::new(InForce::new(set, files, now))),
            refused: RwLock::new(None),
            seen: RwLock::new((look, true)),
        })
    }

    /// The set to decide by. It stays the same for whoever holds it, whatever is read meanwhile.
    pub(crate) fn in_force(&self) -> Arc<InForce> {
        Arc::clone(&self.in_force.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Why the folder is not what is in force, if it is not.
    pub(crate) fn refused(&self) -> Option<LoadError> {
        self.refused.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Looks at the folder, and reads what has stopped changing. Returns what is in force, if that is new.
    pub(crate) fn watch(&self, now: Timestamp) -> Option<Arc<InForce>> {
        let folder = self.folder.as_deref()?;
        let look = match look(folder) {
            Ok(look) => look,
            Err(error) => {
                self.refuse(error);
                return None;
            }
        };
        let mut seen = self.seen.write().unwrap_or_else(PoisonError::into_inner);
        let (before, is_read) = &mut *seen;
        if *before != look {
            // It may still be written: next time it will show.
            (*before, *is_read) = (look, false);
            return None;
        }
        if *is_read {
            return None;
        }
        *is_read = true;
        drop(seen);
        self.reload(now).ok()
    }

    /// Reads the folder now. What cannot be read leaves everything as it was.
    ///
    /// # Errors
    /// Why it cannot.
    pub(crate) fn reload(&self, now: Timestamp) -> Result<Arc<InForce>, LoadError> {
        let read = || {
            let Some(folder) = self.folder.as_deref() else { return Ok((PolicySet::bare(), Vec::new())) };
            let before = look(folder)?;
            // To take away the folder is not to say that everything is allowed.
            if before.is_empty() && !folder.is_dir() && !self.in_force().files.is_empty() {
                return Err(whole(folder, "the folder is gone; what was in it stays in force"));
            }
            let read = read(&before)?;
            if look(folder)? != before {
                return Err(whole(folder, "files changed while they were read; they are read again"));
            }
            Ok(read)
        };
        let (set, files) = read().inspect_err(|error| self.refuse(error.clone()))?;
        let new = Arc::new(InForce::new(set, files, now));
        *self.in_force.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&new);
        *self.refused.write().unwrap_or_else(PoisonError::into_inner) = None;
        tracing::info!(policies = new.set.policies().len(), digest = %new.digest, "policies are in force");
        Ok(new)
    }

    fn refuse(&self, error: LoadError) {
        let mut refused = self.refused.write().unwrap_or_else(PoisonError::into_inner);
        if refused.as_ref() != Some(&error) {
            tracing::error!(%error, "policies cannot be read; what was in force stays so");
            *refused = Some(error);
        }
    }
}

fn whole(path: &Path, message: impl Into<String>) -> LoadError {
    LoadError { file: path.display().to_string(), place: None, message: message.into() }
}

/// The files of policies in a folder, by name; none, if there is no such folder.
fn look(folder: &Path) -> Result<Look, LoadError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Look::new()),
        Err(error) => return Err(whole(folder, error.to_string())),
    };
    let mut files = Look::new();
    for entry in entries {
        let path = entry.map_err(|error| whole(folder, error.to_string()))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let ending = path.extension().and_then(|ending| ending.to_str());
        if name.starts_with('.') || !ending.is_some_and(|ending| ["yaml", "yml", "cedar"].contains(&ending)) {
            continue;
        }
        let known = std::fs::metadata(&path).map_err(|error| whole(&path, error.to_string()))?;
        files.push((path, known.len(), known.modified().ok()));
    }
    files.sort();
    Ok(files)
}

fn read(look: &Look) -> Result<(PolicySet, Vec<PolicyFile>), LoadError> {
    let files = look.iter().map(|(path, length, _)| {
        if *length > LONGEST {
            return Err(whole(path, format!("a file of policies has at most {LONGEST} bytes")));
        }
        let text = std::fs::read_to_string(path).map_err(|error| whole(path, error.to_string()))?;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(PolicyFile { name, text })
    });
    let files = files.collect::<Result<Vec<_>, _>>()?;
    Ok((load(&files)?, files))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::EPOCH;

    fn policy(name: &str, default: &str) -> String {
        format!("name: {name}\nversion: '1'\ndefaultEffect: {default}\nrules: []\n")
    }

    #[test]
    fn what_cannot_be_read_leaves_the_old_policies_in_force_and_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("a.yaml", &policy("a", "deny"));
        let policies = Policies::open(Some(folder.path().to_owned()), NOW).unwrap();
        let first = policies.in_force().digest;
        write("b.yaml", "name: b\nrules: [");
        assert!(policies.watch(NOW).is_none(), "it may still be written");
        assert!(policies.watch(NOW).is_none());
        let refused = policies.refused().unwrap();
        assert_eq!((refused.file.as_str(), refused.place.is_some()), ("b.yaml", true));
        assert_eq!(policies.in_force().digest, first);
        write("b.yaml", &policy("b", "allow"));
        assert!(policies.watch(NOW).is_none());
        let new = policies.watch(NOW).unwrap();
        assert_eq!(new.set.policies().len(), 2);
        assert_eq!(policies.refused(), None);
        std::fs::remove_dir_all(folder.path()).unwrap();
        assert!(policies.watch(NOW).is_none());
        assert!(policies.watch(NOW).is_none());
        assert_eq!(
            policies.in_force().set.policies().len(),
            2,
            "to lose the folder is not to allow everything"
        );
    }

    #[test]
    fn a_gateway_does_not_start_on_policies_that_it_does_not_understand() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.yaml"), "nonsense").unwrap();
        assert!(Policies::open(Some(folder.path().to_owned()), NOW).is_err());
        assert!(Policies::open(Some(folder.path().join("nowhere")), NOW).unwrap().in_force().set.is_bare());
    }
}
