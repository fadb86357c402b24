//! Bringing the schema up to date: forwards only, checked, and with a backup beside the file first.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension as _, params};

/// Every step there is, in order. A step that was released is never changed: its checksum is in databases out there.
const STEPS: &[Step] = &[
    Step { version: 1, name: "first", sql: include_str!("migrations/0001_first.sql") },
    Step { version: 2, name: "seal_and_retain", sql: include_str!("migrations/0002_seal_and_retain.sql") },
    Step { version: 3, name: "gateway", sql: include_str!("migrations/0003_gateway.sql") },
    Step { version: 4, name: "governance", sql: include_str!("migrations/0004_governance.sql") },
    Step { version: 5, name: "ahead", sql: include_str!("migrations/0005_ahead.sql") },
    Step { version: 6, name: "short_rows", sql: include_str!("migrations/0006_short_rows.sql") },
    Step { version: 7, name: "cache_in_order", sql: include_str!("migrations/0007_cache_in_order.sql") },
];

struct Step {
    version: u32,
    name: &'static str,
    sql: &'static str,
}

/// Why a schema cannot be brought up to date. The database is as it was before the step that failed.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// A newer program was here.
    #[error(
        "it has schema version {found}, this program knows {known}; use the newer program, or restore the backup from before it"
    )]
    Newer {
        /// The database's version.
        found: u32,
        /// The newest that this program knows.
        known: u32,
    },
    /// An older program was here, and this one may only read.
    #[error("its schema is older than this program; start `punk serve` once to bring it up to date")]
    Older,
    /// It has no schema of ours.
    #[error("it is not a database of Punk")]
    Foreign,
    /// An applied step is not the one this program knows.
    #[error("step {version} of its schema was made by another program: the checksums differ")]
    Changed {
        /// Which step.
        version: u32,
    },
    /// The backup before a step could not be made or does not read back.
    #[error("the backup {path} could not be made")]
    Backup {
        /// Where it should be.
        path: PathBuf,
        /// Why not.
        #[source]
        cause: rusqlite::Error,
    },
    /// SQLite says no.
    #[error("SQLite refuses")]
    Sqlite(#[from] rusqlite::Error),
}

/// Applies the steps that are missing, each in one transaction. An existing database is backed up first.
pub(super) fn run(connection: &mut Connection, path: &Path) -> Result<(), MigrateError> {
    run_steps(connection, path, STEPS)
}

fn run_steps(connection: &mut Connection, path: &Path, steps: &[Step]) -> Result<(), MigrateError> {
    connection.execute_batch(
        "CREATE TABLE IF NOT EXISTS schema_migrations (
             version INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL) STRICT",
    )?;
    let found = known_version(connection, steps)?;
    if found > 0 && steps.iter().any(|step| step.version > found) {
        back_up(connection, path, found)?;
    }
    apply(connection, steps, found)
}

/// How a schema compares with the newest this program knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Current,
    Older,
}

/// How the schema stands, without touching it.
pub(super) fn standing(connection: &Connection) -> Result<Standing, MigrateError> {
    if !connection.table_exists(None, "schema_migrations")? {
        return Err(MigrateError::Foreign);
    }
    let found = known_version(connection, STEPS)?;
    let is_older = STEPS.iter().any(|step| step.version > found);
    Ok(if is_older { Standing::Older } else { Standing::Current })
}

/// Applies what is missing to a copy, which needs no backup of its own.
pub(super) fn run_on_copy(connection: &mut Connection) -> Result<(), MigrateError> {
    let found = known_version(connection, STEPS)?;
    apply(connection, STEPS, found)
}

/// The version of the schema, if it is one of ours and every step of it is as we know it.
fn known_version(connection: &Connection, steps: &[Step]) -> Result<u32, MigrateError> {
    let found = version(connection)?;
    let known = steps.last().map_or(0, |step| step.version);
    if found > known {
        return Err(MigrateError::Newer { found, known });
    }
    for step in steps.iter().filter(|step| step.version <= found) {
        check(connection, step)?;
    }
    Ok(found)
}

fn apply(connection: &mut Connection, steps: &[Step], found: u32) -> Result<(), MigrateError> {
    for step in steps.iter().filter(|step| step.version > found) {
        let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        // Somebody else may have been faster between looking and locking.
        if version(&transaction)? < step.version {
            transaction.execute_batch(step.sql)?;
            let insert = "INSERT INTO schema_migrations (version, name, sha256) VALUES (?, ?, ?)";
            transaction.execute(insert, params![step.version, step.name, checksum(step)])?;
        }
        transaction.commit()?;
    }
    Ok(())
}

fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.query_row("SELECT coalesce(max(version), 0) FROM schema_migrations", [], |row| row.get(0))
}

fn check(connection: &Connection, step: &Step) -> Result<(), MigrateError> {
    let select = "SELECT sha256 FROM schema_migrations WHERE version = ?";
    let applied: Option<String> =
        connection.query_row(select, [step.version], |row| row.get(0)).optional()?;
    if applied.as_deref() == Some(checksum(step).as_str()) {
        return Ok(());
    }
    Err(MigrateError::Changed { version: step.version })
}

fn checksum(step: &Step) -> String {
    ledger::sha256(step.sql.as_bytes()).to_string()
}

/// Copies the database beside itself and reads the copy through.
fn back_up(connection: &Connection, path: &Path, version: u32) -> Result<(), MigrateError> {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".before-{}", version + 1));
    let copy = PathBuf::from(name);
    let failed = |cause| MigrateError::Backup { path: copy.clone(), cause };
    if !copy.exists() {
        connection.execute("VACUUM INTO ?", [copy.to_string_lossy()]).map_err(failed)?;
    }
    let said: String = Connection::open(&copy)
        .and_then(|copy| copy.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0)))
        .map_err(failed)?;
    if said == "ok" {
        return Ok(());
    }
    let cause = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    Err(failed(rusqlite::Error::SqliteFailure(cause, Some(said))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Step =
        Step { version: 1, name: "one", sql: "CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (7);" };
    const TWO: Step = Step { version: 2, name: "two", sql: "CREATE TABLE b (x INTEGER);" };
    const BROKEN: Step =
        Step { version: 2, name: "two", sql: "CREATE TABLE c (x INTEGER); CREATE TABLE nonsense nonsense;" };

    fn database() -> (tempfile::TempDir, PathBuf, Connection) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("punk.db");
        let connection = Connection::open(&path).unwrap();
        (folder, path, connection)
    }

    #[test]
    fn steps_are_applied_once_and_an_existing_database_is_backed_up_first() {
        let (folder, path, mut connection) = database();
        run_steps(&mut connection, &path, &[ONE]).unwrap();
        assert!(!folder.path().join("punk.db.before-1").exists(), "there was nothing to back up");
        run_steps(&mut connection, &path, &[ONE, TWO]).unwrap();
        run_steps(&mut connection, &path, &[ONE, TWO]).unwrap();
        let copy = Connection::open(folder.path().join("punk.db.before-2")).unwrap();
        assert_eq!(copy.query_row("SELECT x FROM a", [], |row| row.get::<_, i64>(0)), Ok(7));
        assert_eq!(version(&copy), Ok(1));
    }

    #[test]
    fn a_newer_schema_and_a_changed_step_are_refused() {
        let (_folder, path, mut connection) = database();
        run_steps(&mut connection, &path, &[ONE, TWO]).unwrap();
        let newer = run_steps(&mut connection, &path, &[ONE]).unwrap_err();
        assert!(matches!(newer, MigrateError::Newer { found: 2, known: 1 }), "{newer}");
        let changed = Step { sql: "CREATE TABLE other (x INTEGER)", ..ONE };
        let changed = run_steps(&mut connection, &path, &[changed, TWO]).unwrap_err();
        assert!(matches!(changed, MigrateError::Changed { version: 1 }), "{changed}");
    }

    #[test]
    fn a_step_that_fails_leaves_nothing_of_itself() {
        let (_folder, path, mut connection) = database();
        run_steps(&mut connection, &path, &[ONE]).unwrap();
        assert!(run_steps(&mut connection, &path, &[ONE, BROKEN]).is_err());
        assert_eq!(version(&connection), Ok(1));
        assert!(!connection.table_exists(None, "c").unwrap());
        run_steps(&mut connection, &path, &[ONE, TWO]).unwrap();
    }

    #[test]
    fn entries_of_the_cache_from_before_they_stood_in_order_are_found() {
        use super::super::eras::find;
        use super::super::row::Sql;
        use crate::cache::CacheKind;
        use schema::TenantId;

        let (_folder, path, mut connection) = database();
        run_steps(&mut connection, &path, &STEPS[..6]).unwrap();
        let kind = CacheKind::ExactResponse;
        for number in [2_u8, 1, 3] {
            let insert =
                "INSERT INTO cache_entries (tenant, kind, key, created_at, expires_at, bytes, hits, sum)
                VALUES (?, ?, ?, ?, 9, 0, 5, 0)";
            let key = Sql(ledger::sha256(&[number]));
            let values = rusqlite::params![Sql(TenantId::NIL), kind.as_str(), key, number];
            connection.execute(insert, values).unwrap();
        }
        run(&mut connection, &path).unwrap();
        for number in [1_u8, 2, 3] {
            let found = find(&connection, (TenantId::NIL, kind, ledger::sha256(&[number]))).unwrap();
            assert_eq!(found, Some(number.into()), "the oldest first");
        }
        let hits: i64 =
            connection.query_row("SELECT sum(hits) FROM cache_entries", [], |row| row.get(0)).unwrap();
        assert_eq!(hits, 15);
    }

    #[test]
    fn two_starters_at_once_apply_each_step_once() {
        let (_folder, path, connection) = database();
        drop(connection);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let mut connection = Connection::open(&path).unwrap();
                    connection.busy_timeout(std::time::Duration::from_secs(10)).unwrap();
                    run_steps(&mut connection, &path, &[ONE]).unwrap();
                });
            }
        });
        let rows = Connection::open(&path)
            .unwrap()
            .query_row("SELECT count(*) FROM a", [], |row| row.get::<_, i64>(0));
        assert_eq!(rows, Ok(1));
    }
}
