//! `punk policy …`.

use clap::{Args as ClapArgs, Subcommand};
use schema::TenantId;
use std::num::NonZeroU32;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Whether policies can be read, and what they are; the first mistake with its line and column
    Check {
        /// A folder of policies, or files of them [default: governance.policies_dir]
        #[arg(value_name = "FOLDER|FILE")]
        paths: Vec<PathBuf>,
    },
    /// Whether policies decide as grids of expected decisions say
    Test(TestArgs),
    /// Why an action would be allowed, asked about or denied
    Explain(Box<ExplainArgs>),
    /// What of the decisions on record would come out differently under other policies
    Diff(DiffArgs),
}

/// Which grids, and what they are held against.
#[derive(Debug, ClapArgs)]
pub(crate) struct TestArgs {
    /// The grids [default: the files that end in .grid beside the policies]
    #[arg(value_name = "FILE")]
    pub(crate) grids: Vec<PathBuf>,
    /// The folder of the policies [default: governance.policies_dir]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) policies: Option<PathBuf>,
    /// Write what is decided into the grids, where it is not what they expect
    #[arg(long)]
    pub(crate) update: bool,
}

/// What somebody would do, and what is known of them.
#[derive(Debug, ClapArgs)]
pub(crate) struct ExplainArgs {
    /// A folder of policies, or files of them [default: governance.policies_dir]
    #[arg(value_name = "FOLDER|FILE")]
    pub(crate) paths: Vec<PathBuf>,
    /// What they want to do, as verb:resource
    #[arg(long)]
    action: String,
    /// The name of the agent [default: anonymous]
    #[arg(long)]
    agent: Option<String>,
    /// unverified, verified, trusted or privileged [default: unverified]
    #[arg(long)]
    tier: Option<String>,
    /// A tag of the agent; can be repeated
    #[arg(long)]
    tag: Vec<String>,
    /// How the agent has behaved, from 0 to 1 [default: 0]
    #[arg(long)]
    score: Option<String>,
    /// The application
    #[arg(long)]
    app: Option<String>,
    /// The model that is asked, or was asked for the action [default: not known]
    #[arg(long)]
    model: Option<String>,
    /// The tool that would act [default: not known]
    #[arg(long)]
    tool: Option<String>,
    /// How much the action changes, from 0 to 4 [default: 0]
    #[arg(long)]
    level: Option<String>,
    /// What it is expected to cost, in dollars [default: not known]
    #[arg(long)]
    cost: Option<String>,
    /// What the data is known to be; can be repeated
    #[arg(long)]
    label: Vec<String>,
    /// The hour of the day in UTC [default: 12]
    #[arg(long)]
    hour: Option<String>,
    /// The day of the week in UTC, such as mon [default: mon]
    #[arg(long)]
    weekday: Option<String>,
    /// Anything else that a grid can say, such as used:office#6=3; can be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) with: Vec<String>,
}

impl ExplainArgs {
    /// What is said by a flag of its own, by the name that grids have for it.
    pub(crate) fn said(&self) -> Vec<(&'static str, String)> {
        let one = [
            ("agent", &self.agent),
            ("tier", &self.tier),
            ("score", &self.score),
            ("app", &self.app),
            ("model", &self.model),
            ("tool", &self.tool),
            ("level", &self.level),
            ("cost", &self.cost),
            ("hour", &self.hour),
            ("weekday", &self.weekday),
        ];
        let mut said = vec![("action", self.action.clone())];
        said.extend(one.into_iter().filter_map(|(name, value)| Some((name, value.clone()?))));
        for (name, values) in [("tags", &self.tag), ("labels", &self.label)] {
            if !values.is_empty() {
                said.push((name, values.join(",")));
            }
        }
        said
    }
}

/// Whose decisions, how many, and what to put them to.
#[derive(Debug, ClapArgs)]
pub(crate) struct DiffArgs {
    /// The folder of the other policies, or files of them
    #[arg(value_name = "FOLDER|FILE", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// How many decisions, the newest first
    #[arg(long, value_name = "N", default_value = "1000")]
    pub(crate) last: NonZeroU32,
    /// The tenant [default: the default tenant]
    #[arg(long, value_name = "TENANT")]
    pub(crate) tenant: Option<TenantId>,
}
