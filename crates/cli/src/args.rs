//! What can be typed. Commands with many words have a file of their own beside this one.

mod agents;
mod approvals;
mod audit;
mod budgets;
mod demo;
mod exceptions;
mod gateway;
mod learn;
mod policy;
mod users;
mod vault;

use crate::answer::Answer;
use crate::exit::Exit;
use crate::failure::Failure;
use clap::error::ErrorKind;
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use config::Flag;
use crypto::keyring::{KeyId, Purpose};
use schema::{Seq, TenantId};
use serde_json::json;
use std::ffi::OsString;
use std::path::PathBuf;

pub(crate) use agents::AgentsCommand;
pub(crate) use approvals::{ApprovalsCommand, Status};
pub(crate) use audit::{AuditCommand, AuditCompareArgs, AuditExportArgs, AuditVerifyArgs};
pub(crate) use budgets::{AddBudgetArgs, BudgetsCommand};
pub(crate) use demo::DemoArgs;
pub(crate) use exceptions::{AddExceptionArgs, ExceptionsCommand};
pub(crate) use gateway::GatewayArgs;
pub(crate) use learn::LearnCommand;
pub(crate) use policy::{DiffArgs, ExplainArgs, PolicyCommand, TestArgs};
pub(crate) use users::UsersCommand;
pub(crate) use vault::VaultCommand;

/// An adaptive, governed runtime for AI agents.
#[derive(Debug, Parser)]
#[command(name = "punk", version, max_term_width = 100, disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the gateway: agents point their OpenAI client at it
    Serve,
    /// See what Punk does in two minutes: a support agent from its first call to its proof, offline
    Demo(DemoArgs),
    /// Work on jobs in the background, beside any number of others on one Postgres database
    Worker,
    /// Check an evidence packet, or a whole ledger, offline
    Verify(VerifyArgs),
    /// Take values out of an evidence packet; the rest still verifies
    Withhold(WithholdArgs),
    /// Copy the database to a file and verify the copy, also while `punk serve` runs
    Backup {
        /// The file to make; it must not exist yet
        file: PathBuf,
    },
    /// Put a backup in the place of the database; `punk serve` must not run
    Restore(RestoreArgs),
    /// Write everything a tenant has as JSON lines that any tool can read and check
    Export(ExportArgs),
    /// Make what is derived from events again, and say what was different
    Rebuild,
    /// What agents may do: check policies, test them, ask why, see what a change would change
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// What the governor asks people, and their answers
    #[command(subcommand)]
    Approvals(ApprovalsCommand),
    /// Who has asked so far, and how far each is trusted
    #[command(subcommand)]
    Agents(AgentsCommand),
    /// Where a policy does not hold, for a while and for a reason
    #[command(subcommand)]
    Exceptions(ExceptionsCommand),
    /// How much may be spent on models, and how much of it is
    #[command(subcommand)]
    Budgets(BudgetsCommand),
    /// What is learned from repeated work, why it may serve or not, and artifacts as files
    #[command(subcommand)]
    Learn(LearnCommand),
    /// The audit trail: what operators changed and what was held back, with its proof
    #[command(subcommand)]
    Audit(AuditCommand),
    /// The people who log in, in the store itself: for the first one, and for whoever is locked out
    #[command(subcommand)]
    Users(UsersCommand),
    /// The keys that sign the ledger and seal secrets
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Secrets of providers and tools, sealed at rest and referred to as `cred:NAME`
    #[command(subcommand)]
    Vault(VaultCommand),
    /// What is configured, and where each setting comes from
    Config(ConfigArgs),
    /// Whether this machine is ready to run Punk, and what to do if not
    Doctor,
    /// Which Punk this is
    Version,
    /// A completion script for a shell, on standard output
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// What to verify, and whose word to take.
#[derive(Debug, ClapArgs)]
pub(crate) struct VerifyArgs {
    /// The evidence packet
    #[arg(value_name = "PACKET", required_unless_present = "ledger", conflicts_with = "ledger")]
    pub(crate) packet: Option<PathBuf>,
    /// Whose signatures count: a C2SP tlog-policy file, as `punk keys trust` prints it
    #[arg(long, value_name = "FILE", required_unless_present_any = ["ledger", "chain"])]
    pub(crate) trust: Option<PathBuf>,
    /// Check only that the packet's events follow each other, not that anybody signed for them
    #[arg(long, conflicts_with_all = ["trust", "ledger"])]
    pub(crate) chain: bool,
    /// Check every event, leaf and row of this database instead of one packet
    #[arg(long, value_name = "FILE", conflicts_with = "trust")]
    pub(crate) ledger: Option<PathBuf>,
}

/// What to put in the place of what.
#[derive(Debug, ClapArgs)]
pub(crate) struct RestoreArgs {
    /// The file that `punk backup` made; it is left as it is
    #[arg(value_name = "FILE")]
    pub(crate) backup: PathBuf,
    /// Replace an existing database, which is kept under another name
    #[arg(long)]
    pub(crate) replace: bool,
}

/// Whose records to write, and where.
#[derive(Debug, ClapArgs)]
pub(crate) struct ExportArgs {
    /// The tenant [default: the default tenant]
    #[arg(long, value_name = "TENANT")]
    pub(crate) tenant: Option<TenantId>,
    /// The file to make; it must not exist yet [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// What to take out of which packet.
#[derive(Debug, ClapArgs)]
pub(crate) struct WithholdArgs {
    /// The evidence packet; it is left as it is
    pub(crate) packet: PathBuf,
    /// The fields to withhold, as EVENT.FIELD, such as 1.subject
    #[arg(required = true, value_name = "EVENT.FIELD", value_parser = place)]
    pub(crate) fields: Vec<(Seq, String)>,
    /// Where to write the new packet [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

fn place(text: &str) -> Result<(Seq, String), &'static str> {
    const WANTED: &str = "write EVENT.FIELD, such as 1.subject";
    let (event, field) = text.split_once('.').ok_or(WANTED)?;
    Ok((Seq(event.parse().map_err(|_| WANTED)?), field.to_owned()))
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Every key of the ring
    List,
    /// Make the first keys; without a purpose, all that are missing
    Generate {
        /// What the key is for
        purpose: Option<PurposeArg>,
    },
    /// Make a new key and retire the one before, which stays to verify and open what it made
    Rotate {
        /// What the key is for
        purpose: PurposeArg,
    },
    /// The trust file for `punk verify`: the public keys of a tenant's log
    Trust {
        /// The tenant [default: the default tenant]
        #[arg(long, value_name = "TENANT")]
        tenant: Option<TenantId>,
    },
    /// One key, without its secret
    Show {
        /// The id, as `punk keys list` shows it
        id: KeyId,
    },
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ConfigCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Only say whether the configuration is right; exit code 2 when it is not
    Check,
}

/// A purpose of keys, by its name.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum PurposeArg {
    /// Signs the checkpoints of transparency logs
    Log,
    /// Seals secrets at rest
    Seal,
    /// Signs the tokens that say who somebody is
    Token,
}

impl From<PurposeArg> for Purpose {
    fn from(purpose: PurposeArg) -> Self {
        match purpose {
            PurposeArg::Log => Self::Log,
            PurposeArg::Seal => Self::Seal,
            PurposeArg::Token => Self::Token,
        }
    }
}

/// What every command understands.
#[derive(Debug, ClapArgs)]
pub(crate) struct Common {
    /// Answer in JSON, errors included
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// The configuration file [default: punk.toml]
    #[arg(long, global = true, value_name = "FILE", help_heading = "Settings")]
    pub(crate) config: Option<OsString>,
    /// server.host
    #[arg(long, global = true, value_name = "ADDRESS", help_heading = "Settings")]
    host: Option<String>,
    /// server.port
    #[arg(long, global = true, value_name = "PORT", help_heading = "Settings")]
    port: Option<String>,
    /// store.data_dir
    #[arg(long, global = true, value_name = "FOLDER", help_heading = "Settings")]
    data_dir: Option<String>,
    /// Any other setting, by its key; can be repeated
    #[arg(long, global = true, value_name = "KEY=VALUE", help_heading = "Settings", value_parser = assignment)]
    set: Vec<(String, String)>,
}

impl Common {
    /// The settings that the command line makes.
    pub(crate) fn flags(&self) -> Vec<Flag> {
        let named = [
            ("--host", "server.host", &self.host),
            ("--port", "server.port", &self.port),
            ("--data-dir", "store.data_dir", &self.data_dir),
        ];
        let named = named.into_iter().filter_map(|(name, path, value)| Some((name, path, value.as_ref()?)));
        let set = self.set.iter().map(|(path, value)| ("--set", path.as_str(), value));
        named
            .chain(set)
            .map(|(name, path, value)| Flag { name: name.into(), path: path.into(), value: value.clone() })
            .collect()
    }
}

fn assignment(text: &str) -> Result<(String, String), &'static str> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE, such as server.port=5000")?;
    Ok((key.to_owned(), value.to_owned()))
}

/// Help and version are answers; everything else that clap stops at is a mistake on the command line.
pub(crate) fn answer(error: &clap::Error) -> Result<Answer, Failure> {
    let text = error.render().to_string();
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return Ok(Answer::success(text.clone(), json!({ "text": text })));
    }
    let text = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
    Err(Failure::new(Exit::Usage, "punk_usage", text).hint("`punk --help` lists what can be typed"))
}
