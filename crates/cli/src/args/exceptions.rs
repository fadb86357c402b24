//! `punk exceptions …`.

use clap::{Args as ClapArgs, Subcommand};
use schema::ExceptionId;

use super::GatewayArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum ExceptionsCommand {
    /// List the exceptions, newest first, those that have ended too
    List {
        #[command(flatten)]
        gateway: GatewayArgs,
    },
    /// Let a policy not hold for somebody, for a while, for a reason
    Add(AddExceptionArgs),
    /// End an exception now
    End {
        /// The exception
        #[arg(value_name = "ID")]
        id: ExceptionId,
        #[command(flatten)]
        gateway: GatewayArgs,
    },
}

/// What does not hold, for whom, for how long and why.
#[derive(Debug, ClapArgs)]
pub(crate) struct AddExceptionArgs {
    /// The policy that is not to hold
    #[arg(long, value_name = "NAME")]
    pub(crate) policy: String,
    /// The rule of it, counted from 0 [default: all of them]
    #[arg(long, value_name = "N")]
    pub(crate) rule: Option<u32>,
    /// For which actions, such as write:email or read:*; can be repeated
    #[arg(long = "action", value_name = "PATTERN", required = true)]
    pub(crate) actions: Vec<String>,
    /// For this agent alone
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// For this application alone
    #[arg(long, value_name = "NAME")]
    pub(crate) app: Option<String>,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
    /// For how many hours; 2160, which is 90 days, at most
    #[arg(long, value_name = "N")]
    pub(crate) hours: u32,
    #[command(flatten)]
    pub(crate) gateway: GatewayArgs,
}
