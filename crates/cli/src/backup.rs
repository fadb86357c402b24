//! `punk backup`: a verified copy of the database, also while `punk serve` writes to it.

use crate::answer::{Answer, columns};
use crate::args::Common;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::{ProgressLine, size};
use crate::settings;
use config::Settings;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use store::StoreError;
use store::sqlite::{Backup, BackupError, Checked, OpenError};

pub(crate) fn run(common: &Common, target: &Path) -> Result<Answer, Failure> {
    let settings = settings::load(common)?;
    let database = database_file(&settings, "backed up")?;
    let progress = ProgressLine::new();
    let made = store::sqlite::backup(&database, target, &mut |how_far| progress.tell(how_far));
    drop(progress);
    let made = made.map_err(|error| not_made(&error))?;
    let keys = settings.keys_dir();
    let text = format!(
        "backed up to {}\n{}the keys that sign its proofs and open what is sealed are not in it: back up {} too\n",
        target.display(),
        columns(&held(&made)),
        keys.display(),
    );
    let mut json = held_json(&made);
    json["backup"] = json!(target.display().to_string());
    json["keysNotInIt"] = json!(keys.display().to_string());
    Ok(Answer::success(text, json))
}

/// The file of the database, where there is one.
pub(crate) fn database_file(settings: &Settings, what: &str) -> Result<PathBuf, Failure> {
    if settings.secret("store.url").is_some() {
        return Err(Failure::new(
            Exit::Usage,
            "punk_not_sqlite",
            format!("the store is a Postgres database, which is not {what} by this command"),
        )
        .hint(
            "use pg_dump and pg_restore for the database, `punk export` for a copy that any tool can read",
        ));
    }
    let path = settings.db_path();
    if path == Path::new(":memory:") {
        return Err(Failure::new(
            Exit::Usage,
            "punk_not_sqlite",
            format!("the store is in memory and cannot be {what}"),
        )
        .hint("set store.path to a file"));
    }
    Ok(path)
}

/// What a database holds, for people.
pub(crate) fn held(backup: &Backup) -> Vec<[String; 2]> {
    let Backup { checked: Checked { events, runs, sealed, logs }, bytes } = backup;
    let leaves: u64 = logs.iter().map(|(_, size, _)| size).sum();
    let rows = [
        ("runs", runs.to_string()),
        ("sealed", format!("{sealed} runs, of which only the heads are kept")),
        ("events", format!("{events}, every one as it was recorded")),
        ("leaves", format!("{leaves}, every one binding its run")),
        ("size", size(*bytes)),
    ];
    rows.map(|(name, value)| [format!("  {name}"), value]).into()
}

/// The same for machines.
pub(crate) fn held_json(backup: &Backup) -> Value {
    let Backup { checked: Checked { events, runs, sealed, logs }, bytes } = backup;
    let log = |(tenant, size, root): &_| json!({ "tenant": tenant, "size": size, "root": root });
    let logs: Vec<Value> = logs.iter().map(log).collect();
    json!({ "runs": runs, "sealed": sealed, "events": events, "bytes": bytes, "logs": logs })
}

fn not_made(error: &BackupError) -> Failure {
    match error {
        BackupError::NoDatabase(_) => Failure::of(Exit::No, "punk_no_database", error).hint(
            "name the folder of the data with --data-dir; `punk serve` makes a database when it first starts",
        ),
        BackupError::Exists(_) => Failure::of(Exit::Environment, "punk_exists", error),
        BackupError::Io { .. } => Failure::of(Exit::Environment, "punk_unwritable", error)
            .hint("name a file in a folder that exists and has room"),
        BackupError::Store(error) => not_stored(error),
    }
}

/// What the store says, to who runs it.
pub(crate) fn not_stored(error: &StoreError) -> Failure {
    match error {
        StoreError::Full(_) => Failure::of(Exit::Environment, "punk_disk_full", error)
            .hint("make room on the disk, then try again"),
        StoreError::Damaged(_) => Failure::of(Exit::No, "punk_store_damaged", error).hint(
            "`punk verify --ledger FILE` looks at a database; `punk restore` puts a backup in its place",
        ),
        StoreError::Unavailable(_) => Failure::of(Exit::Environment, "punk_store_unavailable", error),
    }
}

/// Why a database is not used.
pub(crate) fn not_opened(error: &OpenError) -> Failure {
    match error {
        OpenError::Refused { cause: StoreError::Damaged(_), .. } | OpenError::NotADatabase { .. } => {
            Failure::of(Exit::Environment, "punk_store_damaged", error)
                .hint("nothing was written; `punk restore FILE --replace` puts a backup in its place and keeps this one")
        }
        OpenError::Refused { cause: StoreError::Full(_), .. } => {
            Failure::of(Exit::Environment, "punk_disk_full", error).hint("make room on the disk, then start again")
        }
        OpenError::Io { cause, .. } if cause.kind() == std::io::ErrorKind::StorageFull => {
            Failure::of(Exit::Environment, "punk_disk_full", error).hint("make room on the disk, then start again")
        }
        OpenError::InUse { .. } => Failure::of(Exit::Environment, "punk_store_unavailable", error)
            .hint("stop the other process first: one process at a time writes to a SQLite database"),
        OpenError::Refused { .. } | OpenError::Io { .. } | OpenError::Migrate { .. } => {
            Failure::of(Exit::Environment, "punk_store_unavailable", error)
        }
    }
}
