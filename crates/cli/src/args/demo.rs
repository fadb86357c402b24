//! `punk demo`.

use clap::Args as ClapArgs;

/// How the demo is told.
///
/// It reads neither punk.toml nor the environment, so no provider is ever asked; its data is in data/demo unless
/// --data-dir names another folder, and stays there: a second run begins with what the first one learned.
#[derive(Debug, ClapArgs)]
pub(crate) struct DemoArgs {
    /// Without pauses for reading
    #[arg(long)]
    pub(crate) fast: bool,
    /// End after the last step; otherwise, on a terminal, the dashboard stays until Ctrl-C
    #[arg(long)]
    pub(crate) exit: bool,
}
