//! The schema, forward only: every migration is applied once, in order, in a transaction of its own.
//!
//! `schema_migrations` says which are in, with the digest of each text. Its row 0 is no migration but the lock that one
//! starter holds while the others wait: `LOCK TABLE` and advisory locks are not everywhere, a locked row is.
//!
//! To add one: a file in `migrations/`, a line in [`MIGRATIONS`]. It never drops what it cannot rebuild.

use ledger::sha256;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, GenericClient};

use super::connect::Target;
use super::error::OpenError;

/// One step of the schema.
struct Migration {
    version: i64,
    name: &'static str,
    text: &'static str,
}

const MIGRATIONS: &[Migration] = &[
    Migration { version: 1, name: "first", text: include_str!("migrations/0001_first.sql") },
    Migration {
        version: 2,
        name: "seal_and_retain",
        text: include_str!("migrations/0002_seal_and_retain.sql"),
    },
    Migration { version: 3, name: "gateway", text: include_str!("migrations/0003_gateway.sql") },
    Migration { version: 4, name: "governance", text: include_str!("migrations/0004_governance.sql") },
];

const TABLE: &str = "CREATE TABLE IF NOT EXISTS schema_migrations (
    version bigint NOT NULL, name text NOT NULL, sha256 text NOT NULL, applied_at text NOT NULL, PRIMARY KEY (version))";
const LOCK_ROW: &str =
    "INSERT INTO schema_migrations (version, name, sha256, applied_at) VALUES (0, 'lock', '', '')
    ON CONFLICT DO NOTHING";
const LOCK: &str = "SELECT version FROM schema_migrations WHERE version = 0 FOR UPDATE";
const APPLIED: &str =
    "SELECT version, name, sha256 FROM schema_migrations WHERE version > 0 ORDER BY version";
const APPLY: &str = "INSERT INTO schema_migrations (version, name, sha256, applied_at)
    VALUES ($1, $2, $3, CAST(CURRENT_TIMESTAMP AT TIME ZONE 'UTC' AS text))";

/// Applies what is missing. A database that is up to date is only read, so its user need not be able to make tables.
pub(super) async fn migrate(target: &Target) -> Result<(), OpenError> {
    let connected = target.connect().await;
    let (mut client, connection) = connected.map_err(|cause| target.unreachable(cause))?;
    // It ends when the client is dropped; what breaks it is told to the client too.
    let driver = tokio::spawn(connection);
    let result = apply_missing(&mut client).await;
    drop(client);
    let _ = driver.await;
    result
}

async fn apply_missing(client: &mut Client) -> Result<(), OpenError> {
    match missing(client).await {
        Ok([]) => return Ok(()),
        Ok(_) => {}
        Err(OpenError::Schema(cause)) if cause.code() == Some(&SqlState::UNDEFINED_TABLE) => {}
        Err(error) => return Err(error),
    }
    make_table(client).await.map_err(OpenError::Schema)?;
    while apply_next(client).await? {}
    Ok(())
}

/// Makes the table and its lock row, unless they are there: another starter may be halfway through this.
async fn make_table(client: &Client) -> Result<(), tokio_postgres::Error> {
    match client.batch_execute(TABLE).await {
        // `IF NOT EXISTS` does not hold between two that create at once: the slower one fails when the table is there.
        Err(error) if error.code().is_some_and(made_by_another) => {}
        made => made?,
    }
    client.batch_execute(LOCK_ROW).await
}

fn made_by_another(code: &SqlState) -> bool {
    [SqlState::UNIQUE_VIOLATION, SqlState::DUPLICATE_TABLE, SqlState::DUPLICATE_OBJECT].contains(code)
}

/// Applies the first missing migration, with all other starters kept out. `false` if none is missing.
async fn apply_next(client: &mut Client) -> Result<bool, OpenError> {
    let transaction = client.transaction().await.map_err(OpenError::Schema)?;
    transaction.query_one(LOCK, &[]).await.map_err(OpenError::Schema)?;
    let [migration, ..] = missing(&transaction).await? else { return Ok(false) };
    let &Migration { version, name, text } = migration;
    let failed = |cause| OpenError::Migration { version, name, cause };
    transaction.batch_execute(text).await.map_err(failed)?;
    transaction.execute(APPLY, &[&version, &name, &digest(text)]).await.map_err(failed)?;
    transaction.commit().await.map_err(failed)?;
    Ok(true)
}

/// What the database lacks, after checking that what it has is what we have.
async fn missing(client: &impl GenericClient) -> Result<&'static [Migration], OpenError> {
    let applied = client.query(APPLIED, &[]).await.map_err(OpenError::Schema)?;
    let known = MIGRATIONS.last().map_or(0, |migration| migration.version);
    let newest: i64 = applied.last().map_or(Ok(0), |row| row.try_get(0)).map_err(OpenError::Schema)?;
    if newest > known {
        return Err(OpenError::Newer { found: newest, known });
    }
    for (row, migration) in applied.iter().zip(MIGRATIONS) {
        let (version, name): (i64, String) =
            (row.try_get(0).map_err(OpenError::Schema)?, row.try_get(1).map_err(OpenError::Schema)?);
        let sha256: String = row.try_get(2).map_err(OpenError::Schema)?;
        if (version, sha256) != (migration.version, digest(migration.text)) {
            return Err(OpenError::Changed { version, name });
        }
    }
    Ok(MIGRATIONS.get(applied.len()..).unwrap_or_default())
}

fn digest(text: &str) -> String {
    sha256(text.as_bytes()).to_string()
}
