//! `punk vault …`.

use clap::{Subcommand, ValueEnum};
use serde::Serialize;

use super::GatewayArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum VaultCommand {
    /// List the secrets, without their values
    List {
        #[command(flatten)]
        gateway: GatewayArgs,
    },
    /// Add a secret; its value comes from standard input, or is asked for
    Add {
        /// What it is called: settings say `cred:NAME` in its place
        #[arg(value_name = "NAME")]
        name: String,
        /// What it is for
        #[arg(long, value_enum)]
        kind: KindArg,
        #[command(flatten)]
        gateway: GatewayArgs,
    },
    /// Give a secret another value, from standard input or asked for; the next use has it
    Replace {
        /// Its name
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        gateway: GatewayArgs,
    },
    /// Remove a secret
    Remove {
        /// Its name
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        gateway: GatewayArgs,
    },
    /// Bring every secret under a new master key, or finish that; works on the database itself
    #[command(visible_alias = "rotate-master")]
    Rotate,
}

/// What a secret is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum KindArg {
    /// The key of a model provider
    Provider,
    /// What a tool shows to whom it calls
    Tool,
    /// What messages are signed or sent with
    Webhook,
    /// Anything else
    Other,
}
