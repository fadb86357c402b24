//! `punk audit export`: the trail of a tenant, newest run first, and its proof.
//!
//! The head of the log comes first and is what the trail is proven against: every run by its own place under one signed root,
//! also while others write. All runs of the time are looked through, because a denial may be in any of them: what is only
//! observed goes on.

use super::statement::{LineDigest, Statement};
use super::{FORMAT, trail};
use crate::answer::Answer;
use crate::args::{AuditExportArgs, Common};
use crate::backup::not_stored;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::new_file::{NewFile, unwritable};
use crate::progress::ProgressLine;
use crate::{clock, settings, storage};
use config::Settings;
use crypto::SigningKey;
use ledger::canonical::{self, CanonicalError};
use ledger::note::{Note, NoteError};
use ledger::packet::{BuildError, Packet, RunRecord};
use ledger::{Checkpoint, Event, Log, LogKey, LoggedLeaf, sha256};
use schema::{Digest, RunId, Seq, TenantId, Timestamp};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::{BufWriter, ErrorKind, Write};
use std::num::NonZeroU32;
use store::{RunFilter, StoreError, TenantStore};

/// How many runs, events, leaves or policies are held at once.
const PAGE: NonZeroU32 = NonZeroU32::new(200).unwrap();

pub(super) fn run(common: &Common, args: &AuditExportArgs) -> Result<Answer, Failure> {
    let settings = settings::load(common)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::of(Exit::Environment, "punk_no_runtime", &error))?;
    runtime.block_on(async {
        storage::must_exist(&settings, "exported")?;
        let tenant = args.tenant.unwrap_or(TenantId::NIL);
        let log_key = log_key(&settings, tenant)?;
        let store = storage::open_to_read(&settings).await?;
        store.seal_with(storage::masters(&storage::open_keys(&settings)?));
        let now = clock::wall();
        let wanted = Wanted { tenant, from: args.from, to: args.to.map_or(now, |to| to.min(now)) };
        let store = store.tenant(tenant);
        let Some(path) = &args.out else {
            let exported = export(&*store, &wanted, &log_key, std::io::stdout().lock(), None).await;
            return match exported {
                Ok(_) => Ok(Answer::success("", Value::Null)),
                // A reader that has seen enough closes the pipe: that is no failure.
                Err(ExportError::Write(error)) if error.kind() == ErrorKind::BrokenPipe => {
                    Ok(Answer::success("", Value::Null))
                }
                Err(error) => Err(error.told(tenant, "standard output")),
            };
        };
        let shown = path.display().to_string();
        let file = NewFile::begin(path)?;
        let progress = ProgressLine::new();
        let exported = export(&*store, &wanted, &log_key, file.as_file(), Some(&progress)).await;
        drop(progress);
        let counts = exported.map_err(|error| error.told(tenant, &shown))?;
        file.finish()?;
        let Counts { runs, events, open } = counts;
        let mut text = format!("exported to {shown}: {events} events of the trail, in {runs} runs\n");
        if open > 0 {
            text += &format!("{open} runs have something of the trail that is not in the log yet\n");
        }
        let json = json!({ "export": shown, "tenant": tenant, "runs": runs, "events": events, "open": open });
        Ok(Answer::success(text, json))
    })
}

/// The key of the tenant's log.
fn log_key(settings: &Settings, tenant: TenantId) -> Result<LogKey<SigningKey>, Failure> {
    let ring = storage::open_keys(settings)?;
    let key = ring.signing_key().ok_or_else(|| {
        let message = format!("there is no log key in {}", ring.folder().display());
        Failure::new(Exit::No, "punk_no_key", message).hint("a trail is signed with the key of the ledger")
    })?;
    let derived = LogKey::new(settings.log_name(), tenant, |origin| {
        let signer = key.derive(origin);
        let public = signer.public();
        (signer, public)
    });
    derived.map_err(|error| Failure::of(Exit::Usage, "punk_config_invalid", &error))
}

/// Whose trail, and of which time.
struct Wanted {
    tenant: TenantId,
    from: Option<Timestamp>,
    to: Timestamp,
}

#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    runs: u64,
    events: u64,
    open: u64,
}

/// Why a trail is not whole.
enum ExportError {
    Nothing,
    Store(StoreError),
    Build(BuildError),
    Write(std::io::Error),
}

impl From<StoreError> for ExportError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
impl From<std::io::Error> for ExportError {
    fn from(error: std::io::Error) -> Self {
        Self::Write(error)
    }
}
impl From<NoteError> for ExportError {
    fn from(error: NoteError) -> Self {
        Self::Build(error.into())
    }
}
impl From<CanonicalError> for ExportError {
    fn from(error: CanonicalError) -> Self {
        Self::Build(error.into())
    }
}

impl ExportError {
    fn told(&self, tenant: TenantId, to: &str) -> Failure {
        match self {
            Self::Nothing => {
                let message = format!("the log of tenant {tenant} is empty");
                Failure::new(Exit::No, "punk_nothing_to_export", message)
                    .hint("name another with --tenant, or another database with --data-dir")
            }
            Self::Store(error) => not_stored(error),
            Self::Build(error) => Failure::of(Exit::No, "punk_ledger", error)
                .hint_if_none("`punk verify --ledger` says what is wrong with the database"),
            Self::Write(error) => unwritable(to, error),
        }
    }
}

/// The log as it was when the export began, and the key that speaks for it.
struct Held<'k> {
    log: Log,
    /// Where in the log the leaves of a run are, oldest first.
    places: HashMap<RunId, Vec<u64>>,
    policies: HashMap<Digest, String>,
    note: Note,
    key: &'k LogKey<SigningKey>,
}

async fn export<W: Write>(
    store: &dyn TenantStore,
    wanted: &Wanted,
    key: &LogKey<SigningKey>,
    out: W,
    progress: Option<&ProgressLine>,
) -> Result<Counts, ExportError> {
    let log = whole_log(store).await?;
    let checkpoint = Checkpoint { origin: key.origin().clone(), size: log.size(), root: log.root() };
    let note = key.checkpoint(checkpoint.size, checkpoint.root)?;
    let mut places: HashMap<RunId, Vec<u64>> = HashMap::new();
    for (index, leaf) in (0..).zip(log.leaves()) {
        places.entry(leaf.run).or_default().push(index);
    }
    let held = Held { log, places, policies: all_policies(store).await?, note, key };
    let mut lines = Lines { out: BufWriter::with_capacity(1 << 16, out), digest: LineDigest::default() };
    let Wanted { tenant, from, to } = wanted;
    lines.line(&json!({ "type": "audit", "format": FORMAT, "tenant": tenant, "from": from, "to": to }))?;
    let (mut counts, mut written) = (Counts::default(), HashSet::new());
    let filter = RunFilter { since: *from, until: Some(*to), ..RunFilter::ALL };
    let mut page = store.runs(&filter, None, PAGE).await?;
    while let Some(oldest) = page.last().map(|row| row.id) {
        for row in &page {
            one_run(store, *tenant, row.id, &held, (&mut lines, &mut written, &mut counts)).await?;
        }
        if let Some(progress) = progress {
            progress
                .write(&format!("exporting: {} events of the trail, in {} runs", counts.events, counts.runs));
        }
        page = store.runs(&filter, Some(oldest), PAGE).await?;
    }
    let lines_digest = lines.digest.value();
    let Counts { runs, open, .. } = counts;
    let statement =
        Statement { checkpoint: &checkpoint, from: *from, to: *to, runs, open, lines: lines_digest };
    let text = statement.text();
    let line = key.sign(&text);
    let statement = Note::new(text, vec![line])?;
    lines.line(&json!({
        "type": "end", "runs": runs, "open": open,
        "checkpoint": held.note.to_string(), "statement": statement.to_string(),
    }))?;
    lines.out.flush()?;
    Ok(counts)
}

/// Where the lines go: canonical JSON, one object each.
struct Lines<W: Write> {
    out: BufWriter<W>,
    digest: LineDigest,
}

impl<W: Write> Lines<W> {
    fn line(&mut self, line: &Value) -> Result<(), ExportError> {
        let bytes = canonical::to_vec(line)?;
        self.digest.push(&bytes);
        self.out.write_all(&bytes)?;
        Ok(self.out.write_all(b"\n")?)
    }
}

/// Writes the line of a run that has something of the trail, and before it the policies that no line has yet.
async fn one_run<W: Write>(
    store: &dyn TenantStore,
    tenant: TenantId,
    run: RunId,
    held: &Held<'_>,
    (lines, written, counts): (&mut Lines<W>, &mut HashSet<Digest>, &mut Counts),
) -> Result<(), ExportError> {
    let mut events = store.events(run, Seq::START, NonZeroU32::MAX).await?;
    if !events.iter().any(trail::has) {
        return Ok(());
    }
    let leaves = held.leaves(run);
    let bound = leaves.last().map_or(Seq::START, |place| place.leaf.seq);
    let of_all = trail::rows(&events).len();
    events.retain(|event| event.seq <= bound);
    let rows = trail::rows(&events);
    let finished = events.iter().any(|event| event.r#type == "run.finished");
    counts.open += u64::from(rows.len() < of_all || !finished);
    if rows.is_empty() || !finished {
        return Ok(());
    }
    let mut policies = Vec::new();
    for digest in named_policies(&events) {
        let text = held.policies.get(&digest);
        let text =
            text.ok_or_else(|| StoreError::Damaged(format!("run {run}: policy {digest} is missing")))?;
        policies.push(text.clone());
        if written.insert(digest) {
            lines.line(&json!({ "type": "policy", "digest": digest, "text": text }))?;
        }
    }
    let events = events.into_iter().map(trail::shown).collect::<Result<Vec<_>, _>>()?;
    let leaf = leaves.last().map(|place| place.index);
    let record = RunRecord { tenant, run, events, leaves, policies, artifacts: Vec::new() };
    let exporter = held.key.exporter();
    let mut packet = Packet::build(record, &held.note, &exporter).map_err(ExportError::Build)?;
    // They have lines of their own; the packet's statement names them.
    packet.policies.clear();
    lines.line(&json!({ "type": "run", "run": run, "leaf": leaf, "trail": rows, "packet": packet }))?;
    counts.runs += 1;
    counts.events += rows.len() as u64;
    Ok(())
}

impl Held<'_> {
    /// The run's places in the log, oldest first, each with its path to the root.
    fn leaves(&self, run: RunId) -> Vec<LoggedLeaf> {
        let places = self.places.get(&run).into_iter().flatten();
        let leaf = |index: &u64| {
            let leaf = *self.log.leaves().get(usize::try_from(*index).ok()?)?;
            Some(LoggedLeaf { leaf, index: *index, path: self.log.prove_inclusion(*index)? })
        };
        places.filter_map(leaf).collect()
    }
}

/// The policies that decisions name.
pub(super) fn named_policies(events: &[Event]) -> BTreeSet<Digest> {
    let decided = events.iter().filter(|event| event.r#type == "policy.decided");
    let named = decided.filter_map(|event| event.payload.get("policies")?.value()?.as_array());
    named.flatten().filter_map(|digest| digest.as_str()?.parse().ok()).collect()
}

async fn whole_log(store: &dyn TenantStore) -> Result<Log, ExportError> {
    let (size, root) = store.log_head().await?;
    if size == 0 {
        return Err(ExportError::Nothing);
    }
    let mut log = Log::default();
    while log.size() < size {
        let page = store.leaves(log.size(), PAGE).await?;
        if page.is_empty() {
            return Err(StoreError::Damaged(format!("leaf {} of the log is missing", log.size())).into());
        }
        let missing = usize::try_from(size - log.size()).unwrap_or(usize::MAX);
        for leaf in page.into_iter().take(missing) {
            log.push(leaf);
        }
    }
    if log.root() != root {
        return Err(StoreError::Damaged("the root of the log is not that of its leaves".to_owned()).into());
    }
    Ok(log)
}

async fn all_policies(store: &dyn TenantStore) -> Result<HashMap<Digest, String>, StoreError> {
    let mut policies = HashMap::new();
    let mut page = store.policies(None, PAGE).await?;
    while let Some(last) = page.last().map(|text| sha256(text.as_bytes())) {
        policies.extend(page.into_iter().map(|text| (sha256(text.as_bytes()), text)));
        page = store.policies(Some(last), PAGE).await?;
    }
    Ok(policies)
}
