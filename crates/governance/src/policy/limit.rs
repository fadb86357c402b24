//! How much of something may be done: so much money, or so often.

use schema::{MicroUsd, Timestamp};
use serde::{Deserialize, Serialize};

/// So much money in a window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct BudgetLimit {
    /// How much, in dollars.
    pub limit_usd: MicroUsd,
    /// Whose spending is added up.
    #[serde(default)]
    pub per: Per,
    /// Over which time.
    #[serde(default)]
    pub window: Window,
    /// Whether it only warns.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub soft: bool,
}

/// So often in a window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct RateLimit {
    /// How often.
    pub limit: u32,
    /// Whose actions are counted.
    #[serde(default)]
    pub per: Per,
    /// Over which time.
    #[serde(default)]
    pub window: Window,
}

/// Whose share is counted apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Per {
    /// All of the tenant's together.
    Tenant,
    /// Each application's.
    App,
    /// Each agent's.
    #[default]
    Agent,
    /// Each API key's.
    Key,
    /// Each end user's.
    Subject,
    /// Each run's.
    Run,
}

/// Over which time something is added up. Windows begin at round moments of UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Window {
    /// A minute.
    Minute,
    /// An hour.
    Hour,
    /// A day.
    #[default]
    Day,
    /// A month of the calendar.
    Month,
    /// All time.
    Total,
}

impl Window {
    /// When the window that `now` is in began, in milliseconds; 0 for all time.
    #[must_use]
    pub fn start(self, now: Timestamp) -> i64 {
        let millis = now.as_millis();
        let start = match self {
            Self::Minute => millis - millis % 60_000,
            Self::Hour => millis - millis % 3_600_000,
            Self::Day => millis - millis % 86_400_000,
            Self::Month => month(now),
            Self::Total => 0,
        };
        i64::try_from(start).unwrap_or(i64::MAX)
    }
}

/// The first moment of the month.
fn month(now: Timestamp) -> u64 {
    // A moment is written `2026-11-15T…`, so its month is its first seven letters.
    let text = now.to_string();
    let first = text.get(..7).and_then(|month| format!("{month}-01T00:00:00.000Z").parse().ok());
    first.map_or(0, |first: Timestamp| first.as_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_begins_at_a_round_moment() {
        let now: Timestamp = "2026-11-16T14:53:27.123Z".parse().unwrap();
        for (window, start) in [
            (Window::Minute, "2026-11-16T14:53:00.000Z"),
            (Window::Hour, "2026-11-16T14:00:00.000Z"),
            (Window::Day, "2026-11-16T00:00:00.000Z"),
            (Window::Month, "2026-11-01T00:00:00.000Z"),
            (Window::Total, "1970-01-01T00:00:00.000Z"),
        ] {
            let start: Timestamp = start.parse().unwrap();
            assert_eq!(window.start(now), i64::try_from(start.as_millis()).unwrap(), "{window:?}");
        }
    }
}
