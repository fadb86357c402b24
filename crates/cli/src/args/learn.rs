//! `punk learn …`.

use std::path::PathBuf;

use clap::Subcommand;
use schema::ArtifactId;

use super::GatewayArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum LearnCommand {
    /// What is learned: every pattern, where it stands, and what serves
    Status {
        #[command(flatten)]
        gateway: GatewayArgs,
    },
    /// Why a pattern or an artifact stands where it stands: its gates, attempts and comparisons
    Explain {
        /// The pattern (`pat_…`) or the artifact (`art_…`)
        #[arg(value_name = "ID")]
        id: String,
        #[command(flatten)]
        gateway: GatewayArgs,
    },
    /// Write an artifact as one signed file, with its proof
    Export {
        /// The artifact
        #[arg(value_name = "ID")]
        id: ArtifactId,
        /// The file to make; it must not exist yet
        #[arg(value_name = "FILE")]
        file: PathBuf,
        #[command(flatten)]
        gateway: GatewayArgs,
    },
    /// Bring an artifact from elsewhere, if somebody who is trusted vouches for it; it is proven anew here
    Import {
        /// The file
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Whose signatures count, as `punk keys trust` prints it where the file was made
        #[arg(long, value_name = "FILE")]
        trust: PathBuf,
        #[command(flatten)]
        gateway: GatewayArgs,
    },
}
