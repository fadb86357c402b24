//! Answers: what a command found, for people and for machines.

use crate::exit::Exit;
use serde_json::Value;
use std::io::Write as _;

/// What a command found. Both forms say the same.
#[derive(Debug)]
pub(crate) struct Answer {
    /// For people; ends with a line end.
    pub(crate) text: String,
    /// For machines; null where the command has written its answer itself, because it is too long to hold.
    pub(crate) json: Value,
    /// How the command ended.
    pub(crate) exit: Exit,
}

impl Answer {
    /// The answer of a command that did what it should.
    pub(crate) fn success(text: impl Into<String>, json: Value) -> Self {
        Self { text: text.into(), json, exit: Exit::Success }
    }

    pub(crate) fn print(&self, json: bool) {
        if self.json.is_null() {
            return;
        }
        let mut out = std::io::stdout().lock();
        // A reader that has seen enough closes the pipe (`punk config | head -1`): that is no failure.
        let _ = if json { writeln!(out, "{:#}", self.json) } else { write!(out, "{}", self.text) };
        let _ = out.flush();
    }
}

/// Rows as aligned columns, two spaces apart, without trailing blanks.
pub(crate) fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> =
            row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}
