//! A ledger in one file.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ledger::packet::RunRecord;
use ledger::{Chain, ChainError, Event, Leaf, Log, LoggedLeaf, sha256};
use schema::{Digest, RunId, Seq, TenantId};

use crate::line::{Line, complete};

/// What to add to a run.
#[derive(Debug)]
pub struct Append {
    /// Whose run it is.
    pub tenant: TenantId,
    /// The run.
    pub run: RunId,
    /// How many events the caller believes the run to have.
    pub expected: Seq,
    /// The events after those.
    pub events: Vec<Event>,
    /// The texts of the policies that these events name.
    pub policies: Vec<String>,
    /// Whether the run gets a leaf in the log with them.
    pub settle: Settle,
}

/// Whether an append ends in a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settle {
    /// More events are to come.
    Open,
    /// The run is finished, or later events have settled: its head goes into the log.
    Leaf,
}

/// Why an append did not succeed. After `Moved` and `Refused` the ledger is as it was; after `Unavailable` too, and
/// whatever reached the file has been cut off again.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// Somebody else was faster.
    #[error("run {run} is at {actual}, not {expected}")]
    Moved {
        /// The run.
        run: RunId,
        /// Where the caller thought it was.
        expected: Seq,
        /// Where it is.
        actual: Seq,
    },
    /// The events do not continue the run.
    #[error("the events do not continue the run")]
    Refused(#[source] ChainError),
    /// The disk would not take it.
    #[error("the journal cannot be written")]
    Unavailable(#[source] std::io::Error),
}

/// Why a journal cannot be opened. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The file or its folder is out of reach.
    #[error("{path} cannot be opened")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: std::io::Error,
    },
    /// Another process has it open.
    #[error("{path} is in use by another process")]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// A line is not what was written there.
    #[error("{path}, line {line} is damaged: {detail}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        detail: String,
    },
}

/// What was found when a journal was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recovered {
    /// Appends that were read and checked.
    pub appends: usize,
    /// Bytes of an append that a crash had cut short; they were dropped.
    pub torn_bytes: usize,
}

/// A run and its places in the log, all against one tree.
#[derive(Debug)]
pub struct RunProof {
    /// The run.
    pub record: RunRecord,
    /// The tree's size.
    pub size: u64,
    /// The tree's root.
    pub root: Digest,
}

/// A ledger in one file. Sharing it between threads is safe; appends go one after the other.
#[derive(Debug)]
pub struct Journal {
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    file: File,
    length: u64,
    /// A write failed and what it left behind could not be cut off yet.
    torn: bool,
    tenants: HashMap<TenantId, TenantLedger>,
}

#[derive(Debug)]
struct TenantLedger {
    tenant: TenantId,
    log: Log,
    runs: HashMap<RunId, RunEntry>,
    policies: BTreeMap<Digest, String>,
}

#[derive(Debug, Default)]
struct RunEntry {
    events: Vec<Event>,
    places: Vec<u64>,
}

impl Journal {
    /// Opens the journal at `path`, or begins one. Every event in it is checked; an append that a crash cut short is
    /// dropped.
    ///
    /// # Errors
    /// Out of reach, in use, or damaged; the file is untouched then.
    pub fn open(path: &Path) -> Result<(Self, Recovered), OpenError> {
        let io = |cause| OpenError::Io { path: path.to_owned(), cause };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path).map_err(io)?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => OpenError::InUse { path: path.to_owned() },
            TryLockError::Error(cause) => io(cause),
        })?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io)?;

        let mut tenants = HashMap::new();
        let (lines, torn_bytes) = complete(&bytes);
        for (i, line) in lines.iter().enumerate() {
            let damaged = |detail: String| OpenError::Damaged { path: path.to_owned(), line: i + 1, detail };
            let line: Line<'_> = serde_json::from_slice(line).map_err(|error| damaged(error.to_string()))?;
            let tenant = line.tenant;
            let ledger = tenants.entry(tenant).or_insert_with(|| TenantLedger::new(tenant));
            ledger.check(&line.events, line.run).map_err(|error| damaged(error.to_string()))?;
            ledger.take(line.run, line.events.into_owned(), line.policies, line.leaf);
        }
        let length = (bytes.len() - torn_bytes) as u64;
        if torn_bytes > 0 {
            file.set_len(length).map_err(io)?;
        }
        file.seek(SeekFrom::Start(length)).map_err(io)?;
        file.sync_all().map_err(io)?;
        sync_folder(path).map_err(io)?;
        let recovered = Recovered { appends: lines.len(), torn_bytes };
        Ok((Self { inner: Mutex::new(Inner { file, length, torn: false, tenants }) }, recovered))
    }

    /// Adds all of `append` after `expected`, or nothing. Returns when it is on the disk; it blocks until then.
    ///
    /// # Errors
    /// See [`AppendError`].
    pub fn append(&self, append: Append) -> Result<Seq, AppendError> {
        let Append { tenant, run, expected, events, policies, settle } = append;
        let mut inner = self.inner();
        let inner = &mut *inner;
        let ledger = inner.tenants.entry(tenant).or_insert_with(|| TenantLedger::new(tenant));
        let actual = ledger.runs.get(&run).map_or(Seq::START, RunEntry::seq);
        if actual != expected {
            return Err(AppendError::Moved { run, expected, actual });
        }
        let unknown = |text: &String| !ledger.policies.contains_key(&sha256(text.as_bytes()));
        let leaf = settle == Settle::Leaf;
        let line = Line {
            tenant,
            run,
            events: (&events).into(),
            leaf,
            policies: policies.iter().filter(|text| unknown(text)).cloned().collect(),
        };
        // Serialising to a vector cannot fail: every part is JSON already.
        let mut bytes = serde_json::to_vec(&line).unwrap_or_default();
        bytes.push(b'\n');
        ledger.check(&events, run).map_err(AppendError::Refused)?;
        commit(&mut inner.file, &mut inner.length, &mut inner.torn, &bytes)
            .map_err(AppendError::Unavailable)?;
        Ok(ledger.take(run, events, policies, leaf))
    }

    /// The run with its proofs; `None` if the tenant has no such run.
    #[must_use]
    pub fn prove(&self, tenant: TenantId, run: RunId) -> Option<RunProof> {
        let inner = self.inner();
        let ledger = inner.tenants.get(&tenant)?;
        let entry = ledger.runs.get(&run)?;
        let log = &ledger.log;
        let leaves = entry.places.iter().filter_map(|&index| {
            let leaf = *log.leaves().get(usize::try_from(index).ok()?)?;
            Some(LoggedLeaf { leaf, index, path: log.prove_inclusion(index)? })
        });
        let policies = policies_named_by(&entry.events)
            .into_iter()
            .filter_map(|digest| ledger.policies.get(&digest).cloned());
        let record = RunRecord {
            tenant,
            run,
            events: entry.events.clone(),
            leaves: leaves.collect(),
            policies: policies.collect(),
            artifacts: Vec::new(),
        };
        Some(RunProof { record, size: log.size(), root: log.root() })
    }

    /// A thread that panicked while holding the lock left the file as it was: nothing is told before it is complete.
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TenantLedger {
    fn new(tenant: TenantId) -> Self {
        Self { tenant, log: Log::default(), runs: HashMap::new(), policies: BTreeMap::new() }
    }

    /// Whether `events` continue the run. Changes nothing.
    fn check(&self, events: &[Event], run: RunId) -> Result<(), ChainError> {
        let last = self.runs.get(&run).and_then(|entry| entry.events.last());
        let (seq, head) = last.map_or((Seq::START, Digest::ZERO), |event| (event.seq, event.hash));
        let mut chain = Chain::resume(self.tenant, run, seq, head);
        events.iter().try_for_each(|event| chain.verify_next(event))
    }

    /// Takes in what has been checked and is on the disk, and says where the run stands now.
    fn take(&mut self, run: RunId, events: Vec<Event>, policies: Vec<String>, leaf: bool) -> Seq {
        let entry = self.runs.entry(run).or_default();
        entry.events.extend(events);
        self.policies.extend(policies.into_iter().map(|text| (sha256(text.as_bytes()), text)));
        if let Some(last) = entry.events.last().filter(|_| leaf) {
            entry.places.push(self.log.push(Leaf { run, seq: last.seq, head: last.hash }));
        }
        entry.seq()
    }
}

impl RunEntry {
    fn seq(&self) -> Seq {
        self.events.last().map_or(Seq::START, |event| event.seq)
    }
}

/// The policies that a run's decisions name.
fn policies_named_by(events: &[Event]) -> BTreeSet<Digest> {
    let decided = events.iter().filter(|event| event.r#type == "policy.decided");
    let named = decided.filter_map(|event| event.payload.get("policies")?.value()?.as_array());
    named.flatten().filter_map(|digest| digest.as_str()?.parse().ok()).collect()
}

/// Writes and flushes `bytes` at the end, or leaves the file as it was. A half-written line that cannot be cut off at
/// once must be gone before anything else is written behind it.
fn commit(file: &mut File, length: &mut u64, torn: &mut bool, bytes: &[u8]) -> std::io::Result<()> {
    if *torn {
        rewind(file, *length)?;
        *torn = false;
    }
    let written = file.write_all(bytes).and_then(|()| file.sync_data());
    match &written {
        Ok(()) => *length += bytes.len() as u64,
        Err(_) => *torn = rewind(file, *length).is_err(),
    }
    written
}

fn rewind(file: &mut File, length: u64) -> std::io::Result<()> {
    file.set_len(length)?;
    file.seek(SeekFrom::Start(length))?;
    file.sync_data()
}

/// A new file is only there after a crash if its folder was flushed too.
fn sync_folder(path: &Path) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}
