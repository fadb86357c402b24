//! `punk budgets …`.

use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use schema::{BudgetId, MicroUsd};
use serde::Serialize;

use super::GatewayArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum BudgetsCommand {
    /// List the budgets that hold, and what is left of them
    List {
        #[command(flatten)]
        gateway: GatewayArgs,
    },
    /// Bound what may be spent on models
    Add(AddBudgetArgs),
    /// End a budget
    End {
        /// The budget
        #[arg(value_name = "ID")]
        id: BudgetId,
        #[command(flatten)]
        gateway: GatewayArgs,
    },
}

/// How much, for whom, in which time.
#[derive(Debug, ClapArgs)]
pub(crate) struct AddBudgetArgs {
    /// What people call it
    #[arg(long)]
    pub(crate) name: String,
    /// How much there is for a window, in dollars such as 5 or 0.25
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub(crate) limit: MicroUsd,
    /// Whose spending is added up
    #[arg(long, value_enum)]
    pub(crate) per: PerArg,
    /// Of this one alone, by its name or id [default: of each]
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Option<String>,
    /// Over which time; windows begin at round moments of UTC
    #[arg(long, value_enum)]
    pub(crate) window: WindowArg,
    /// Refuse nothing, only tell
    #[arg(long)]
    pub(crate) soft: bool,
    #[command(flatten)]
    pub(crate) gateway: GatewayArgs,
}

/// Whose spending is added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PerArg {
    /// All of the tenant's together
    Tenant,
    /// Each application's
    App,
    /// Each agent's
    Agent,
    /// Each API key's
    Key,
    /// Each end user's
    Subject,
    /// Each run's
    Run,
}

/// Over which time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WindowArg {
    /// A minute
    Minute,
    /// An hour
    Hour,
    /// A day
    Day,
    /// A month of the calendar
    Month,
    /// All time
    Total,
}

fn dollars(text: &str) -> Result<MicroUsd, &'static str> {
    const WANTED: &str = "write dollars such as 5 or 0.25, with at most 6 digits after the point";
    let micros = crate::policy::decimal(text, 6).and_then(|micros| i64::try_from(micros).ok());
    micros.map(MicroUsd).ok_or(WANTED)
}
