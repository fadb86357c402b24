//! The promises of a vault over Postgres.
//!
//! `PUNK_TEST_POSTGRES_URL` names the server; `cargo xtask test` starts a private one and sets it.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests are tests")]

mod promises;

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use store::postgres::PostgresStore;

/// A database that only one test uses: the keys in use are the installation's.
async fn database() -> Arc<PostgresStore> {
    static MADE: AtomicU64 = AtomicU64::new(0);
    let server = std::env::var("PUNK_TEST_POSTGRES_URL")
        .expect("`cargo xtask test` starts a Postgres server and says where");
    let name = format!("punk_vault_{}_{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
    for statement in
        [format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"), format!("CREATE DATABASE {name}")]
    {
        let done = Command::new("psql").arg(&server).args(["-qc", &statement]).stderr(Stdio::null()).status();
        assert!(done.expect("psql runs; `cargo xtask test` installs it").success());
    }
    let (base, _) = server.rsplit_once('/').unwrap();
    Arc::new(PostgresStore::connect(&format!("{base}/{name}")).await.unwrap())
}

promises::promises!(database().await);
