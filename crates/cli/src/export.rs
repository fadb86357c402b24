//! `punk export`: everything a tenant has, as JSON lines. `docs/reference/export.md` is the format.
//!
//! Through the store's traits alone, page by page, so that every store exports the same way and memory does not grow with
//! what is exported. Others may be writing: the head of the log comes first and is what the export answers for.

use crate::answer::Answer;
use crate::args::{Common, ExportArgs};
use crate::backup::not_stored;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::new_file::{NewFile, unwritable};
use crate::progress::ProgressLine;
use crate::{settings, storage};
use ledger::{Leaf, sha256};
use schema::{Digest, Seq, TenantId};
use serde_json::{Value, json};
use std::io::{BufWriter, ErrorKind, Write};
use std::num::NonZeroU32;
use std::path::Path;
use store::{RunFilter, RunRow, StoreError, TenantStore};

/// The name of the format.
const FORMAT: &str = "punk.export/1";
/// How many runs, events, leaves or policies are held at once.
const PAGE: NonZeroU32 = NonZeroU32::new(100).unwrap();

pub(crate) fn run(common: &Common, args: &ExportArgs) -> Result<Answer, Failure> {
    let settings = settings::load(common)?;
    let tenant = args.tenant.unwrap_or(TenantId::NIL);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::of(Exit::Environment, "punk_no_runtime", &error))?;
    runtime.block_on(async {
        storage::must_exist(&settings, "exported")?;
        let store = storage::open_to_read(&settings).await?;
        store.seal_with(storage::masters(&storage::open_keys(&settings)?));
        let store = store.tenant(tenant);
        match &args.out {
            Some(path) => to_file(&*store, tenant, path).await,
            None => to_standard_output(&*store, tenant).await,
        }
    })
}

async fn to_standard_output(store: &dyn TenantStore, tenant: TenantId) -> Result<Answer, Failure> {
    let mut lines = Lines::new(std::io::stdout().lock());
    match export(store, tenant, &mut lines).await {
        Ok(()) => {}
        // A reader that has seen enough closes the pipe: that is no failure.
        Err(ExportError::Write(error)) if error.kind() == ErrorKind::BrokenPipe => {}
        Err(error) => return Err(error.told(tenant, "standard output")),
    }
    Ok(Answer::success("", Value::Null))
}

async fn to_file(store: &dyn TenantStore, tenant: TenantId, path: &Path) -> Result<Answer, Failure> {
    let shown = path.display().to_string();
    let file = NewFile::begin(path)?;
    let counts = {
        let progress = ProgressLine::new();
        let mut lines = Lines::new(file.as_file());
        lines.told = Some(&progress);
        export(store, tenant, &mut lines).await.map_err(|error| error.told(tenant, &shown))?;
        lines.counts
    };
    file.finish()?;
    let Counts { runs, events, leaves, policies } = counts;
    let text =
        format!("exported to {shown}: {runs} runs, {events} events, {leaves} leaves, {policies} policies\n");
    let json = json!({ "export": shown, "tenant": tenant, "runs": runs, "events": events, "leaves": leaves, "policies": policies });
    Ok(Answer::success(text, json))
}

/// Why an export is not whole.
enum ExportError {
    Nothing,
    Store(StoreError),
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

impl ExportError {
    fn told(&self, tenant: TenantId, to: &str) -> Failure {
        match self {
            Self::Nothing => Failure::new(
                Exit::No,
                "punk_nothing_to_export",
                format!("tenant {tenant} has nothing to export"),
            )
            .hint("name another with --tenant, or another database with --data-dir"),
            Self::Store(error) => not_stored(error),
            Self::Write(error) => unwritable(to, error),
        }
    }
}

#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    runs: u64,
    events: u64,
    leaves: u64,
    policies: u64,
}

/// Where the lines go.
struct Lines<'a, W: Write> {
    out: BufWriter<W>,
    counts: Counts,
    told: Option<&'a ProgressLine>,
}

impl<W: Write> Lines<'_, W> {
    fn new(out: W) -> Self {
        Self { out: BufWriter::with_capacity(1 << 16, out), counts: Counts::default(), told: None }
    }

    fn line(&mut self, line: &Value) -> std::io::Result<()> {
        writeln!(self.out, "{line}")
    }
}

async fn export<W: Write>(
    store: &dyn TenantStore,
    tenant: TenantId,
    lines: &mut Lines<'_, W>,
) -> Result<(), ExportError> {
    // First: whatever these leaves bind is there when the runs are read.
    let (size, root) = store.log_head().await?;
    let mut page = store.runs(&RunFilter::ALL, None, PAGE).await?;
    let policies = store.policies(None, PAGE).await?;
    if page.is_empty() && policies.is_empty() && size == 0 {
        return Err(ExportError::Nothing);
    }
    lines.line(&json!({ "type": "export", "format": FORMAT, "tenant": tenant, "log": { "size": size, "root": root } }))?;
    while let Some(last) = page.last() {
        let before = last.id;
        for row in &page {
            one_run(store, row, lines).await?;
        }
        page = store.runs(&RunFilter::ALL, Some(before), PAGE).await?;
    }
    all_leaves(store, size, lines).await?;
    all_policies(store, policies, lines).await?;
    let Counts { runs, events, leaves, policies } = lines.counts;
    lines.line(
        &json!({ "type": "end", "runs": runs, "events": events, "leaves": leaves, "policies": policies }),
    )?;
    Ok(lines.out.flush()?)
}

/// One line, however long the run is. Events that came after the row was read are not of this export.
async fn one_run<W: Write>(
    store: &dyn TenantStore,
    row: &RunRow,
    lines: &mut Lines<'_, W>,
) -> Result<(), ExportError> {
    write!(lines.out, r#"{{"type":"run","row":{},"events":["#, json!(row))?;
    let mut after = Seq::START;
    while after < row.seq {
        let page = store.events(row.id, after, PAGE).await?;
        let Some(last) = page.last() else {
            let what = format!("run {}: it has {after} events, and its row says {}", row.id, row.seq);
            return Err(StoreError::Damaged(what).into());
        };
        let end = last.seq;
        for event in page.iter().filter(|event| event.seq <= row.seq) {
            let comma = if event.seq == Seq::START.next() { "" } else { "," };
            write!(lines.out, "{comma}{}", json!(event))?;
            lines.counts.events += 1;
        }
        after = end;
    }
    writeln!(lines.out, "]}}")?;
    lines.counts.runs += 1;
    if let Some(progress) = lines.told.filter(|_| lines.counts.runs.is_multiple_of(100)) {
        progress.write(&format!("exporting: {} runs, {} events", lines.counts.runs, lines.counts.events));
    }
    Ok(())
}

async fn all_leaves<W: Write>(
    store: &dyn TenantStore,
    size: u64,
    lines: &mut Lines<'_, W>,
) -> Result<(), ExportError> {
    while lines.counts.leaves < size {
        let page = store.leaves(lines.counts.leaves, PAGE).await?;
        if page.is_empty() {
            return Err(
                StoreError::Damaged(format!("leaf {} of the log is missing", lines.counts.leaves)).into()
            );
        }
        for Leaf { run, seq, head } in page {
            let index = lines.counts.leaves;
            if index < size {
                lines
                    .line(&json!({ "type": "leaf", "index": index, "run": run, "seq": seq, "head": head }))?;
                lines.counts.leaves += 1;
            }
        }
    }
    Ok(())
}

async fn all_policies<W: Write>(
    store: &dyn TenantStore,
    mut page: Vec<String>,
    lines: &mut Lines<'_, W>,
) -> Result<(), ExportError> {
    while !page.is_empty() {
        let mut last: Option<Digest> = None;
        for text in &page {
            let digest = sha256(text.as_bytes());
            lines.line(&json!({ "type": "policy", "digest": digest, "text": text }))?;
            lines.counts.policies += 1;
            last = Some(digest);
        }
        page = store.policies(last, PAGE).await?;
    }
    Ok(())
}
