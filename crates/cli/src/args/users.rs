//! `punk users`: what can be typed.

use clap::Subcommand;
use identity::Role;
use schema::TenantId;

#[derive(Debug, Subcommand)]
pub(crate) enum UsersCommand {
    /// Make somebody who logs in; the password is asked for, or read from standard input
    Add {
        /// What they log in with
        email: String,
        /// What others call them
        #[arg(long)]
        name: Option<String>,
        /// What they are in the organisation
        #[arg(long, default_value = "owner")]
        role: Role,
        /// The organisation [default: the default one]
        #[arg(long, value_name = "TENANT")]
        tenant: Option<TenantId>,
    },
    /// Everybody who logs in, the newest first
    List,
    /// Give somebody another password, and log them out everywhere
    ResetPassword {
        /// What they log in with
        email: String,
    },
    /// Keep somebody out, at once and everywhere
    Disable {
        /// What they log in with
        email: String,
    },
    /// Let somebody in again
    Enable {
        /// What they log in with
        email: String,
    },
}
