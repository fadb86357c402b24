//! What is told: a row for each bar, with the figure, what is allowed, and whether it is met.

use serde::Serialize;

/// One bar.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Row {
    pub(crate) what: String,
    pub(crate) figure: String,
    pub(crate) allowed: String,
    pub(crate) met: bool,
}

/// All of them.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Report {
    pub(crate) rows: Vec<Row>,
    pub(crate) notes: Vec<String>,
}

impl Report {
    /// A share that must be at least `least`.
    pub(crate) fn at_least(&mut self, what: &str, share: f64, least: f64) {
        self.push(what, percent(share), format!("≥ {}", percent(least)), share >= least);
    }

    /// A share that must be at most `most`.
    pub(crate) fn at_most(&mut self, what: &str, share: f64, most: f64) {
        self.push(what, percent(share), format!("≤ {}", percent(most)), share <= most);
    }

    /// A share of each of several streams, of which the middle one must be at least `least`; the worst is told with it.
    pub(crate) fn middle_at_least(&mut self, what: &str, mut shares: Vec<f64>, least: f64) {
        shares.sort_by(f64::total_cmp);
        let (Some(worst), Some(middle)) =
            (shares.first().copied(), shares.get((shares.len().max(1) - 1) / 2).copied())
        else {
            return;
        };
        let figure = format!("{} (worst {})", percent(middle), percent(worst));
        self.push(what, figure, format!("≥ {}", percent(least)), middle >= least);
    }

    /// A number with its unit that must be at most `most`.
    pub(crate) fn bounded(&mut self, what: &str, number: f64, most: f64, unit: &str) {
        self.push(what, format!("{number:.1} {unit}"), format!("≤ {most} {unit}"), number <= most);
    }

    pub(crate) fn push(&mut self, what: &str, figure: String, allowed: String, met: bool) {
        self.rows.push(Row { what: what.to_owned(), figure, allowed, met });
    }

    pub(crate) fn holds(&self) -> bool {
        self.rows.iter().all(|row| row.met)
    }

    pub(crate) fn text(&self) -> String {
        let width =
            |of: fn(&Row) -> &str| self.rows.iter().map(|row| of(row).chars().count()).max().unwrap_or(0);
        let (what, figure, allowed) =
            (width(|row| &row.what), width(|row| &row.figure), width(|row| &row.allowed));
        let lines = self.rows.iter().map(|row| {
            let met = if row.met { "met" } else { "MISSED" };
            format!("{:what$}  {:>figure$}  {:>allowed$}  {met}", row.what, row.figure, row.allowed)
        });
        lines.chain(self.notes.iter().map(|note| format!("  {note}"))).collect::<Vec<_>>().join("\n")
    }
}

pub(crate) fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}
