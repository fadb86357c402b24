//! Which gateway a command talks to, and with whose key.

use clap::Args as ClapArgs;
use std::path::PathBuf;

/// The gateway that is asked, and who asks.
#[derive(Debug, ClapArgs)]
pub(crate) struct GatewayArgs {
    /// The gateway's address [default: where the configuration has it listen]
    #[arg(long, value_name = "URL", env = "PUNK_GATEWAY_URL")]
    pub(crate) url: Option<String>,
    /// A file with your own API key [default: PUNK_APPROVER_KEY, then PUNK_API_KEY]
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
}
