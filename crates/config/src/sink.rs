//! Where the heads of the ledger are copied to: `[sinks.NAME]`, as types.

use crate::settings::Settings;
use crypto::SecretString;
use std::path::Path;

/// `[sinks.NAME]`.
#[derive(Debug)]
pub struct Sink<'s> {
    /// Its name.
    pub name: String,
    /// What it is and where.
    pub target: SinkTarget<'s>,
    /// Whether it is told what became of every run.
    pub runs: bool,
    /// How it is told.
    pub shape: SinkShape,
    /// Which environment it is told that this is.
    pub environment: Option<&'s str>,
    /// Whether its address may be a private one.
    pub allow_private: bool,
}

/// What a sink is, and where.
#[derive(Debug)]
pub enum SinkTarget<'s> {
    /// Lines at the end of a file.
    File {
        /// The file.
        path: &'s Path,
    },
    /// A `POST` each.
    Http {
        /// Where to.
        url: &'s str,
        /// What to show there.
        token: Option<&'s SecretString>,
    },
    /// An object each in an S3-compatible store.
    S3 {
        /// Where the store is.
        endpoint: &'s str,
        /// The bucket.
        bucket: &'s str,
        /// What the names of objects begin with; may be empty.
        prefix: &'s str,
        /// The region.
        region: &'s str,
        /// The id of the access key.
        access_key_id: &'s str,
        /// The access key; nothing only where nothing was checked.
        secret_access_key: Option<&'s SecretString>,
    },
}

/// How a sink is told of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SinkShape {
    /// As `punk.context/1`.
    #[default]
    Punk,
    /// With that inside an envelope as InsForge reads them.
    InsForge,
}

impl Settings {
    /// Every `[sinks.NAME]`, in the order of the file.
    pub fn sinks(&self) -> Vec<Sink<'_>> {
        self.names("sinks").map(|name| self.sink(name)).collect()
    }

    fn sink(&self, name: String) -> Sink<'_> {
        let path = |field: &str| format!("sinks.{name}.{field}");
        let text = |field: &str| self.text(&path(field)).unwrap_or_default();
        let target = match self.text(&path("kind")) {
            Some("http") => SinkTarget::Http { url: text("url"), token: self.secret(&path("token")) },
            Some("s3") => SinkTarget::S3 {
                endpoint: text("endpoint"),
                bucket: text("bucket"),
                prefix: text("prefix"),
                region: self.text(&path("region")).unwrap_or("us-east-1"),
                access_key_id: text("access_key_id"),
                secret_access_key: self.secret(&path("secret_access_key")),
            },
            _ => SinkTarget::File { path: Path::new(text("path")) },
        };
        Sink {
            target,
            runs: self.boolean(&path("runs")).unwrap_or(false),
            shape: match self.text(&path("shape")) {
                Some("insforge") => SinkShape::InsForge,
                _ => SinkShape::Punk,
            },
            environment: self.text(&path("environment")),
            allow_private: self.boolean(&path("allow_private")).unwrap_or(false),
            name,
        }
    }
}
