//! `punk audit …`.

use clap::{Args as ClapArgs, Subcommand};
use schema::{TenantId, Timestamp};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Write the audit trail of a tenant, with its proof, also while `punk serve` runs
    Export(AuditExportArgs),
    /// Check an audit trail offline
    Verify(AuditVerifyArgs),
    /// Hold the ledger against the copies of its heads that a sink has
    Compare(AuditCompareArgs),
}

/// Whose trail, of which time, and where it goes.
#[derive(Debug, ClapArgs)]
pub(crate) struct AuditExportArgs {
    /// The tenant [default: the default tenant]
    #[arg(long, value_name = "TENANT")]
    pub(crate) tenant: Option<TenantId>,
    /// Runs that began then or later: a day, or a moment in UTC [default: the beginning]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) from: Option<Timestamp>,
    /// Runs that began before then [default: now]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) to: Option<Timestamp>,
    /// The file to make; it must not exist yet [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// What to check, and whose word to take.
#[derive(Debug, ClapArgs)]
pub(crate) struct AuditVerifyArgs {
    /// The trail, as `punk audit export` writes it
    #[arg(value_name = "FILE")]
    pub(crate) trail: PathBuf,
    /// Whose signatures count: a C2SP tlog-policy file, as `punk keys trust` prints it
    #[arg(long, value_name = "FILE")]
    pub(crate) trust: PathBuf,
}

/// What to hold the ledger against, and whose word to take.
#[derive(Debug, ClapArgs)]
pub(crate) struct AuditCompareArgs {
    /// What a sink was sent, a document a line
    #[arg(value_name = "FILE")]
    pub(crate) copy: PathBuf,
    /// Whose signatures count: a C2SP tlog-policy file, as `punk keys trust` prints it
    #[arg(long, value_name = "FILE")]
    pub(crate) trust: PathBuf,
}

fn moment(text: &str) -> Result<Timestamp, &'static str> {
    let day = format!("{text}T00:00:00.000Z");
    text.parse()
        .or_else(|_| day.parse())
        .map_err(|_| "write a day such as 2026-11-16, or a moment such as 2026-11-16T14:00:00.000Z")
}
