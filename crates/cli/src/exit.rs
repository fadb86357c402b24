//! Exit codes: how a command ended, for scripts.

use std::process::ExitCode;

/// How a command ended. `docs/reference/cli.md` lists them from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0
    Success,
    /// 1
    No,
    /// 2
    Usage,
    /// 3
    Environment,
}

impl Exit {
    /// Every way to end.
    pub const ALL: [Self; 4] = [Self::Success, Self::No, Self::Usage, Self::Environment];

    /// The number that the shell sees.
    pub const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::No => 1,
            Self::Usage => 2,
            Self::Environment => 3,
        }
    }

    /// What it means.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Success => "Done, and the answer is yes.",
            Self::No => "Done, and the answer is no: a check failed, or there is no such thing.",
            Self::Usage => {
                "Not understood: the command line or the configuration is wrong. Nothing was done."
            }
            Self::Environment => "The environment is in the way: a file, the network, the operating system.",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
