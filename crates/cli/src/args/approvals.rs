//! `punk approvals …`.

use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use schema::ApprovalId;

use super::GatewayArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsCommand {
    /// List what people are asked, newest first
    List(ListArgs),
    /// Show one question: what exactly would be done, and what was answered so far
    Show(OneArgs),
    /// Say yes, with a key that has the scope `approve`
    Approve(DecideArgs),
    /// Say no, and why
    Reject(DecideArgs),
}

/// Which questions.
#[derive(Debug, ClapArgs)]
pub(crate) struct ListArgs {
    /// Those that stand like this
    #[arg(long, value_enum, default_value_t = Status::Pending)]
    pub(crate) status: Status,
    #[command(flatten)]
    pub(crate) gateway: GatewayArgs,
}

/// Where a question stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Status {
    /// Waits for an answer
    Pending,
    /// Approved, not used yet
    Approved,
    /// Rejected
    Rejected,
    /// Nobody answered, or nobody used it, in time
    Expired,
    /// Approved and done
    Used,
    /// All of them
    All,
}

/// Which question.
#[derive(Debug, ClapArgs)]
pub(crate) struct OneArgs {
    /// The approval
    #[arg(value_name = "ID")]
    pub(crate) id: ApprovalId,
    #[command(flatten)]
    pub(crate) gateway: GatewayArgs,
}

/// Which question, and why the answer is what it is.
#[derive(Debug, ClapArgs)]
pub(crate) struct DecideArgs {
    /// The approval
    #[arg(value_name = "ID")]
    pub(crate) id: ApprovalId,
    /// Why; a rejection wants one
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) gateway: GatewayArgs,
}
