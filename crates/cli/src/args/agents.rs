//! `punk agents …`.

use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use schema::TrustTier;

use super::GatewayArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum AgentsCommand {
    /// List the agents that have asked so far, by name, and how far each is trusted
    List {
        #[command(flatten)]
        gateway: GatewayArgs,
    },
    /// Show one agent: what its score is made of, and what an operator said of it
    Show {
        /// The agent, by its name
        name: String,
        #[command(flatten)]
        gateway: GatewayArgs,
    },
    /// Say how far an agent is trusted, whatever it did, or leave that to its behaviour again
    Trust(TrustArgs),
}

/// What an operator says of an agent.
#[derive(Debug, ClapArgs)]
pub(crate) struct TrustArgs {
    /// The agent, by its name
    pub(crate) name: String,
    /// How far
    #[arg(long, value_enum)]
    pub(crate) tier: Tier,
    /// What policies select it by, instead of the tags it had; can be repeated
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// Take all tags from it
    #[arg(long, conflicts_with = "tags")]
    pub(crate) no_tags: bool,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
    #[command(flatten)]
    pub(crate) gateway: GatewayArgs,
}

/// How far somebody says that an agent is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Tier {
    /// Seen, nothing more
    Unverified,
    /// Known to somebody
    Verified,
    /// Has a good record
    Trusted,
    /// May do what few may
    Privileged,
    /// As far as its behaviour earns
    Earned,
}

impl Tier {
    /// What is said; nothing, where behaviour decides.
    pub(crate) fn said(self) -> Option<TrustTier> {
        match self {
            Self::Unverified => Some(TrustTier::Unverified),
            Self::Verified => Some(TrustTier::Verified),
            Self::Trusted => Some(TrustTier::Trusted),
            Self::Privileged => Some(TrustTier::Privileged),
            Self::Earned => None,
        }
    }
}
