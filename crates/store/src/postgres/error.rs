//! From the driver's errors to ours. A password is never in them: neither the driver's messages nor ours repeat the URL.

use std::path::PathBuf;

use deadpool_postgres::PoolError;
use tokio_postgres::error::{Severity, SqlState};

use crate::commit::CommitError;
use crate::error::{BoxError, StoreError};

/// Why a database could not be opened. Nothing was changed, except that migrations before a failed one are in.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The URL cannot be read. Its text is not repeated here, for it holds a password.
    #[error(
        "the database URL cannot be read; write postgres://user:password@host:5432/database, with special characters of \
         the password as %XX, and only parameters that tokio-postgres knows"
    )]
    Url,
    /// The URL's `sslmode` is not one of ours.
    #[error(
        "the database URL has an sslmode that is not known; say disable, prefer, require, verify-ca or verify-full"
    )]
    SslMode,
    /// The URL names authorities, and a mode that asks none.
    #[error(
        "the database URL has an sslrootcert, and its sslmode checks no certificate; say sslmode=verify-full, or leave \
         sslrootcert out"
    )]
    UselessRoots,
    /// The URL has a client certificate.
    #[error(
        "the database URL has sslcert, sslkey, sslpassword or sslcrl, and punk has no client certificates; log in with \
         a password, and leave them out"
    )]
    Parameter,
    /// The file of trusted authorities cannot be read.
    #[error("the database URL's sslrootcert, {}, cannot be read; it must hold certificates as PEM", path.display())]
    Roots {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: BoxError,
    },
    /// The operating system trusts nobody.
    #[error(
        "this machine has no certificates of authorities; install its ca-certificates, or name a PEM file in the \
         database URL with sslrootcert=/path/to/ca.pem"
    )]
    NoSystemRoots,
    /// TLS cannot be set up.
    #[error("TLS cannot be set up")]
    TlsSetup(#[source] rustls::Error),
    /// No connection that the URL's `sslmode` allows.
    #[error("no trusted connection to Postgres at {at}: {advice}")]
    Untrusted {
        /// Host, port and database.
        at: String,
        /// What is wrong and what to do.
        advice: &'static str,
        /// What the driver says.
        #[source]
        cause: tokio_postgres::Error,
    },
    /// No connection.
    #[error(
        "cannot connect to Postgres at {at}; check that it runs there, and the URL's user, password and database"
    )]
    Unreachable {
        /// Host, port and database.
        at: String,
        /// What the driver says.
        #[source]
        cause: tokio_postgres::Error,
    },
    /// A newer program has been here.
    #[error(
        "the database has schema version {found} and this program knows versions up to {known}; start a punk that knows \
         version {found}, or restore a backup from before the upgrade"
    )]
    Newer {
        /// What the database has.
        found: i64,
        /// What the program has.
        known: i64,
    },
    /// An applied migration is not the one this program has.
    #[error(
        "migration {version} of the database ({name}) is not the one in this program; start the build that made the \
         database, for no build changes a migration once it is applied"
    )]
    Changed {
        /// Which.
        version: i64,
        /// Its name in the database.
        name: String,
    },
    /// A migration failed and was rolled back.
    #[error("migration {version} ({name}) failed and was rolled back; the next start tries it again")]
    Migration {
        /// Which.
        version: i64,
        /// Its name.
        name: &'static str,
        /// What the driver says.
        #[source]
        cause: tokio_postgres::Error,
    },
    /// The table of migrations cannot be read or made.
    #[error(
        "the table schema_migrations cannot be read or made; the URL's user needs the right to create tables"
    )]
    Schema(#[source] tokio_postgres::Error),
    /// The connections cannot be set up.
    #[error("the connection pool cannot be made")]
    Pool(#[source] deadpool_postgres::BuildError),
}

impl From<tokio_postgres::Error> for StoreError {
    fn from(cause: tokio_postgres::Error) -> Self {
        match cause.code() {
            Some(&SqlState::DISK_FULL) => Self::Full(cause.into()),
            _ => Self::unavailable(cause),
        }
    }
}

impl From<PoolError> for StoreError {
    fn from(cause: PoolError) -> Self {
        Self::unavailable(cause)
    }
}

/// Lets `?` work on the driver inside a commit.
impl From<tokio_postgres::Error> for CommitError {
    fn from(cause: tokio_postgres::Error) -> Self {
        Self::Store(cause.into())
    }
}

/// What the driver said, where an error comes from it.
pub(super) trait FromDriver {
    /// The driver's error.
    fn driver(&self) -> Option<&tokio_postgres::Error>;

    /// Whether the server gave the transaction up for the sake of another, so that nothing of it is there and the same
    /// transaction can be tried again.
    fn gave_way(&self) -> bool {
        let code = self.driver().and_then(tokio_postgres::Error::code);
        code.is_some_and(|code| {
            [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED].contains(code)
        })
    }

    /// Whether the connection it came by is of no more use. What the server says by the way leaves it as it was.
    fn ended_connection(&self) -> bool {
        self.driver().is_some_and(|error| match error.as_db_error() {
            Some(said) => matches!(said.parsed_severity(), Some(Severity::Fatal | Severity::Panic)),
            None => true,
        })
    }
}

impl FromDriver for tokio_postgres::Error {
    fn driver(&self) -> Option<&tokio_postgres::Error> {
        Some(self)
    }
}

impl FromDriver for StoreError {
    fn driver(&self) -> Option<&tokio_postgres::Error> {
        match self {
            Self::Unavailable(cause) | Self::Full(cause) => cause.downcast_ref(),
            Self::Damaged(_) => None,
        }
    }
}

impl FromDriver for CommitError {
    fn driver(&self) -> Option<&tokio_postgres::Error> {
        match self {
            Self::Store(error) => error.driver(),
            Self::Moved { .. }
            | Self::Refused { .. }
            | Self::NoSubject(_)
            | Self::NoKey(_)
            | Self::KeyTaken(_)
            | Self::RecordMoved { .. }
            | Self::RecordUnfit { .. } => None,
        }
    }
}
