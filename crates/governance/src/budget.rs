//! Budgets that operators set: how much money may be spent, by whom and in which time.

use schema::{BudgetId, MicroUsd, Timestamp};
use serde::{Deserialize, Serialize};

use crate::policy::{Per, Window};

/// A bound to spending.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Budget {
    /// Its id.
    pub id: BudgetId,
    /// What people call it.
    pub name: String,
    /// How much there is for a window.
    pub limit_usd: MicroUsd,
    /// Whose spending is added up.
    pub per: Per,
    /// Of this one alone, by its name or id; of each, when absent.
    pub only: Option<String>,
    /// Over which time.
    pub window: Window,
    /// Whether going over it is refused (`true`), or only told.
    pub hard: bool,
    /// Who set it.
    pub created_by: String,
    /// When.
    pub created_at: Timestamp,
}

/// Whoever spends, in every way in which spending is added up.
#[derive(Debug, Clone, Copy)]
pub struct Spender<'a> {
    /// The application.
    pub app: &'a str,
    /// The agent.
    pub agent: &'a str,
    /// The key; `installation` when there is none.
    pub key: &'a str,
    /// The end user; empty when there is none.
    pub subject: &'a str,
    /// The run.
    pub run: &'a str,
}

impl Per {
    /// Whose share it is that is counted.
    #[must_use]
    pub fn whose<'a>(self, spender: Spender<'a>) -> &'a str {
        match self {
            Self::Tenant => "",
            Self::App => spender.app,
            Self::Agent => spender.agent,
            Self::Key => spender.key,
            Self::Subject => spender.subject,
            Self::Run => spender.run,
        }
    }
}

impl Budget {
    /// Whose share of it somebody spends from; nothing, if it is not about them.
    #[must_use]
    pub fn share<'a>(&self, spender: Spender<'a>) -> Option<&'a str> {
        let whose = self.per.whose(spender);
        self.only.as_deref().is_none_or(|only| only == whose).then_some(whose)
    }

    /// What verdicts name it by.
    #[must_use]
    pub fn policy(&self) -> String {
        format!("budget:{}", self.id)
    }
}
