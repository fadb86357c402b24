//! The Postgres server that the tests share, and databases of their own in it.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests; each test file uses some of them"
)]

pub(crate) mod cluster;
pub(crate) mod proxy;

use std::sync::atomic::{AtomicU64, Ordering};

use store::postgres::PostgresStore;
use tokio_postgres::{Client, NoTls};

/// A database that only one test uses.
pub(crate) struct Database {
    pub(crate) name: String,
}

impl Database {
    pub(crate) async fn new() -> Self {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let name = format!("punk_{}_{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let server = server().await;
        // A process with our id may have left one behind.
        server.batch_execute(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await.unwrap();
        server.batch_execute(&format!("CREATE DATABASE {name}")).await.unwrap();
        Self { name }
    }

    pub(crate) async fn store(&self) -> PostgresStore {
        PostgresStore::connect(&url(&self.name)).await.unwrap()
    }

    pub(crate) async fn client(&self) -> Client {
        connect(&url(&self.name)).await
    }

    pub(crate) async fn drop(self) {
        server().await.batch_execute(&format!("DROP DATABASE {} WITH (FORCE)", self.name)).await.unwrap();
    }
}

pub(crate) async fn server() -> Client {
    connect(&server_url()).await
}

pub(crate) async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

pub(crate) fn server_url() -> String {
    std::env::var("PUNK_TEST_POSTGRES_URL").expect(
        "PUNK_TEST_POSTGRES_URL is not set: run `cargo xtask test`, or set it to a throw-away server, such as \
         postgres://punk@127.0.0.1:5432/postgres",
    )
}

pub(crate) fn url(database: &str) -> String {
    let server = server_url();
    let (rest, _) = server.rsplit_once('/').expect("the URL ends in /database");
    format!("{rest}/{database}")
}
