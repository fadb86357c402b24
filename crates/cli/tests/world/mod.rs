//! A folder of its own for the real binary, with an environment that holds nothing but what a test puts in.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests; each test file uses some of them"
)]

pub(crate) mod asking;
pub(crate) mod gateway;
pub(crate) mod load;
// A Postgres server of a test's own, as the store's tests have it.
#[cfg(unix)]
#[path = "../../../store/tests/server/cluster.rs"]
pub(crate) mod postgres;
pub(crate) mod process;
#[cfg(unix)]
pub(crate) mod soak;
#[cfg(unix)]
pub(crate) mod streams;
pub(crate) mod upstream;
// A Redis of a test's own, as the tests of what nodes share have it.
#[path = "../../../nodes/tests/world/server.rs"]
pub(crate) mod redis;

use serde_json::Value;
use std::path::{Path, PathBuf};

pub(crate) struct World {
    home: tempfile::TempDir,
    environment: Vec<(String, String)>,
}

/// How a command ended.
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl World {
    pub(crate) fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap(), environment: Vec::new() }
    }

    pub(crate) fn set(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    pub(crate) fn file(self, name: &str, text: &str) -> Self {
        std::fs::write(self.path(name), text).unwrap();
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// Runs `punk` in this world.
    pub(crate) fn punk(&self, arguments: &[&str]) -> Ended {
        self.punk_reading("", arguments)
    }

    /// Runs `punk` in this world, with something to read on its standard input.
    pub(crate) fn punk_reading(&self, input: &str, arguments: &[&str]) -> Ended {
        let output = assert_cmd::cargo::cargo_bin_cmd!("punk")
            .current_dir(self.home.path())
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .args(arguments)
            .write_stdin(input)
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).unwrap();
            text.replace(&self.home.path().display().to_string(), "HOME")
        };
        Ended {
            code: output.status.code().unwrap(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// Everything in this world: paths, and what the files say.
    pub(crate) fn listing(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        walk(self.home.path(), &mut found);
        found.sort();
        found
    }

    /// Runs `punk`, which must write nothing.
    #[track_caller]
    pub(crate) fn punk_writes_nothing(&self, arguments: &[&str]) -> Ended {
        let before = self.listing();
        let ended = self.punk(arguments);
        assert_eq!(self.listing(), before, "something was written");
        ended
    }
}

impl Ended {
    /// Code, output and errors as one text, for snapshots.
    pub(crate) fn told(&self) -> String {
        let mut told = format!("exit {}\n", self.code);
        for (name, text) in [("out", &self.stdout), ("err", &self.stderr)] {
            if !text.is_empty() {
                told.push_str(&format!("--- {name}\n{text}"));
            }
        }
        told
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.told()))
    }

    #[track_caller]
    pub(crate) fn error_json(&self) -> Value {
        serde_json::from_str(&self.stderr).unwrap_or_else(|error| panic!("{error}: {}", self.told()))
    }
}

fn walk(folder: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.push((path.clone(), Vec::new()));
            walk(&path, found);
        } else {
            found.push((path.clone(), std::fs::read(&path).unwrap()));
        }
    }
}

/// A Redis that other tests use too, each with budgets of its own.
pub(crate) fn redis() -> String {
    std::env::var("PUNK_TEST_REDIS_URL").expect("`cargo xtask test` starts a Redis server and says where")
}

/// A database that only this test uses.
pub(crate) fn database(name: &str) -> String {
    let server = std::env::var("PUNK_TEST_POSTGRES_URL")
        .expect("`cargo xtask test` starts a Postgres server and says where");
    let name = format!("punk_{name}_{}", std::process::id());
    let made = std::process::Command::new("psql")
        .args([&server, "-qc", &format!("CREATE DATABASE {name}")])
        .status();
    assert!(made.expect("psql runs; `cargo xtask test` installs it").success());
    let (base, _) = server.rsplit_once('/').unwrap();
    format!("{base}/{name}")
}
