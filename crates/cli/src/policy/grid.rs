//! A grid: a text of situations and the decisions that are expected for them, which people read and write.
//!
//! ```text
//! # What the office may do at night.
//! agent  tier        action       with                    → expected
//! ada    unverified  model:chat   cost=0.60 model=gpt-4o  → deny office#3
//! ada    trusted     write:email  hour=22                 → ask office#2   # a person reads it first
//! ```
//!
//! The first line that is no comment names the columns; without one they are `agent tier action with`. Everything that a
//! [`Situation`] can be told may be a column, with `-` in a cell that says nothing; after the columns come pairs. An
//! expectation is an effect, and a policy or a rule if it matters who decides. What `"` encloses is one cell.
//!
//! - What is rewritten is the expectation and nothing else: comments, order and columns stay as they were.

use super::situation::{Situation, effect_of};
use super::{named, parse_named, word};
use schema::{Effect, Verdict};
use std::fmt;

const COLUMNS: [&str; 4] = ["agent", "tier", "action", "with"];
const ARROWS: [&str; 2] = ["→", "->"];
/// A cell that says nothing.
const NOTHING: &str = "-";

/// A grid as it is written.
#[derive(Debug)]
pub(super) struct Grid {
    lines: Vec<Line>,
}

#[derive(Debug)]
enum Line {
    /// Kept as it is.
    Other(String),
    Row(Box<Row>),
}

/// One situation and what is expected of it.
#[derive(Debug)]
pub(super) struct Row {
    /// Counted from 1.
    pub(super) line: usize,
    pub(super) situation: Situation,
    pub(super) expected: Option<Expected>,
    /// Up to and including the arrow and the blanks after it.
    before: String,
    /// The expectation as it is written.
    written: String,
    /// Blanks, a comment, the end of the line.
    after: String,
}

/// What is expected: an effect, and by whom if that is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Expected {
    effect: Effect,
    by: Option<(String, Option<u32>)>,
}

/// Where a text is no grid, and why.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct GridError {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) message: String,
}

impl Grid {
    pub(super) fn parse(text: &str) -> Result<Self, GridError> {
        let mut columns: Vec<String> = COLUMNS.map(str::to_owned).into();
        let mut lines = Vec::new();
        for (number, line) in (1..).zip(text.split_inclusive('\n')) {
            if line.trim_start().is_empty() || line.trim_start().starts_with('#') {
                lines.push(Line::Other(line.to_owned()));
                continue;
            }
            let told = |(at, message): (usize, String)| {
                let column = line.get(..at).map_or(0, |before| before.chars().count()) + 1;
                GridError { line: number, column, message }
            };
            let parts = Parts::of(line).map_err(told)?;
            if parts.expected == "expected" {
                columns = names(&parts.cells).map_err(told)?;
                lines.push(Line::Other(line.to_owned()));
                continue;
            }
            lines.push(Line::Row(Box::new(row(number, line, &parts, &columns).map_err(told)?)));
        }
        Ok(Self { lines })
    }

    pub(super) fn rows_mut(&mut self) -> impl Iterator<Item = &mut Row> {
        self.lines.iter_mut().filter_map(|line| match line {
            Line::Row(row) => Some(&mut **row),
            Line::Other(_) => None,
        })
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines.iter().try_for_each(|line| match line {
            Line::Other(text) => f.write_str(text),
            Line::Row(row) => write!(f, "{}{}{}", row.before, row.written, row.after),
        })
    }
}

impl Row {
    /// The situation as it is written.
    pub(super) fn shown(&self) -> &str {
        let before = self.before.trim_end();
        ARROWS.iter().find_map(|arrow| before.strip_suffix(arrow)).unwrap_or(before).trim()
    }

    /// Expects what was decided, as exactly as it expected something before.
    pub(super) fn expect(&mut self, verdict: &Verdict) {
        let exact = Expected { effect: verdict.effect, by: Some((verdict.policy.clone(), verdict.rule)) };
        let expected = match &self.expected {
            Some(Expected { by: None, .. }) => Expected { by: None, ..exact },
            _ => exact,
        };
        let written = expected.to_string();
        // A comment stays in its column, if there is room for it.
        let blanks = self.after.len() - self.after.trim_start_matches(' ').len();
        if blanks > 0 && self.after.trim_start().starts_with('#') {
            let place = self.written.chars().count() + blanks;
            let blanks = place.saturating_sub(written.chars().count()).max(2);
            self.after = format!("{}{}", " ".repeat(blanks), self.after.trim_start_matches(' '));
        }
        if ARROWS.iter().any(|arrow| self.before.ends_with(arrow)) {
            self.before.push(' ');
        }
        (self.expected, self.written) = (Some(expected), written);
    }
}

impl Expected {
    /// Whether a verdict is what is expected.
    pub(super) fn fits(&self, verdict: &Verdict) -> bool {
        let by = self.by.as_ref().is_none_or(|(policy, rule)| {
            *policy == verdict.policy && (rule.is_none() || *rule == verdict.rule)
        });
        self.effect == verdict.effect && by
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.by {
            None => f.write_str(word(self.effect)),
            Some((policy, rule)) => write!(f, "{} {}", word(self.effect), named(policy, *rule)),
        }
    }
}

/// A byte of a line, and what is wrong there.
type Wrong = (usize, String);

/// A line taken apart.
struct Parts<'l> {
    /// What stands before the arrow, each with the byte it begins at.
    cells: Vec<(usize, String)>,
    expected: &'l str,
    /// Where the expectation begins and ends.
    place: (usize, usize),
}

impl<'l> Parts<'l> {
    fn of(line: &'l str) -> Result<Self, Wrong> {
        let mut cells = Vec::new();
        let mut at = 0;
        while let Some((begin, end, cell)) = cell(line, at)? {
            at = end;
            if !ARROWS.contains(&&line[begin..end]) {
                cells.push((begin, cell));
                continue;
            }
            let rest = &line[end..];
            // A comment begins with a number sign of its own: `office#3` has none.
            let comment = rest
                .match_indices('#')
                .find(|(at, _)| rest[..*at].chars().next_back().is_none_or(char::is_whitespace));
            let rest = comment.map_or(rest, |(at, _)| &rest[..at]);
            let expected = rest.trim();
            let from = if expected.is_empty() { end } else { end + rest.len() - rest.trim_start().len() };
            return Ok(Self { cells, expected, place: (from, from + expected.len()) });
        }
        Err((line.trim_end().len(), "expected `→` or `->`, and what is to be decided".to_owned()))
    }
}

/// The cell at or after a byte: where it begins and ends, and what it says without its quotes.
fn cell(line: &str, from: usize) -> Result<Option<(usize, usize, String)>, Wrong> {
    let rest = &line[from..];
    let begin = from + (rest.len() - rest.trim_start().len());
    let (mut text, mut quoted) = (String::new(), None);
    for (at, letter) in line[begin..].char_indices() {
        match letter {
            '"' => quoted = if quoted.is_some() { None } else { Some(begin + at) },
            _ if quoted.is_none() && letter.is_whitespace() => return Ok(Some((begin, begin + at, text))),
            _ => text.push(letter),
        }
    }
    match quoted {
        Some(at) => Err((at, "this quotation mark has no other".to_owned())),
        None if begin == line.len() => Ok(None),
        None => Ok(Some((begin, line.len(), text))),
    }
}

/// The columns that a header names.
fn names(cells: &[(usize, String)]) -> Result<Vec<String>, Wrong> {
    let first = cells.first().map_or(0, |(at, _)| *at);
    if !cells.iter().any(|(_, name)| name == "action") {
        return Err((first, "one of the columns must be `action`".to_owned()));
    }
    if let Some((at, _)) = cells.iter().rev().skip(1).find(|(_, name)| name == "with") {
        return Err((*at, "`with` is the last column, if it is one".to_owned()));
    }
    Ok(cells.iter().map(|(_, name)| name.clone()).collect())
}

fn row(number: usize, line: &str, parts: &Parts<'_>, columns: &[String]) -> Result<Row, Wrong> {
    let mut situation = Situation::default();
    let columns: Vec<&String> = columns.iter().filter(|name| *name != "with").collect();
    for (place, (at, cell)) in parts.cells.iter().enumerate() {
        let said = match columns.get(place) {
            Some(_) if cell == NOTHING => Ok(()),
            Some(name) => situation.say(name, cell),
            None => situation.say_pair(cell),
        };
        said.map_err(|message| (*at, message))?;
    }
    let end = line.find(ARROWS[0]).or_else(|| line.find(ARROWS[1])).unwrap_or(0);
    if let Some(missing) = columns.get(parts.cells.len()) {
        return Err((end, format!("the column `{missing}` has no cell; `-` says nothing")));
    }
    if situation.action().is_none() {
        return Err((end, "the column `action` must say what is to be done".to_owned()));
    }
    let (from, to) = parts.place;
    let expected = expectation(parts.expected).map_err(|message| (from, message))?;
    let (before, after) = (line[..from].to_owned(), line[to..].to_owned());
    Ok(Row { line: number, situation, expected, before, written: parts.expected.to_owned(), after })
}

/// What is expected; nothing, if it is yet to be written.
fn expectation(text: &str) -> Result<Option<Expected>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let (effect, by) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let effect = effect_of(effect).ok_or_else(|| format!("expected allow, ask or deny, not `{effect}`"))?;
    let by = Some(by.trim()).filter(|by| !by.is_empty()).map(|by| {
        let (policy, rule) = parse_named(by);
        (policy.to_owned(), rule)
    });
    Ok(Some(Expected { effect, by }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn verdict(effect: Effect, policy: &str, rule: Option<u32>) -> Verdict {
        Verdict { effect, policy: policy.to_owned(), rule }
    }

    const GRID: &str = "\
# A comment stays.

agent  tier     action      with          → expected
ada    trusted  model:chat  cost=0.60     → deny office#3   # dear
ada    -        write:email               → ask
\"a b\"  -        read:crm    \"app=x y\"     -> allow
bob    -        read:crm                  →
";

    #[test]
    fn what_is_rewritten_is_the_expectation_and_nothing_else() {
        let mut grid = Grid::parse(GRID).unwrap();
        assert_eq!(grid.to_string(), GRID);
        let first = grid.rows_mut().next().unwrap();
        assert_eq!(first.shown(), "ada    trusted  model:chat  cost=0.60");
        for row in grid.rows_mut() {
            row.expect(&verdict(Effect::Allow, "night shift", Some(12)));
        }
        expect![[r##"
            # A comment stays.

            agent  tier     action      with          → expected
            ada    trusted  model:chat  cost=0.60     → allow night shift#12  # dear
            ada    -        write:email               → allow
            "a b"  -        read:crm    "app=x y"     -> allow
            bob    -        read:crm                  → allow night shift#12
        "##]]
        .assert_eq(&grid.to_string());
    }

    #[test]
    fn an_expectation_says_as_much_as_matters() {
        let decided = verdict(Effect::Deny, "office", Some(3));
        for (text, fits) in [
            ("deny", true),
            ("deny office", true),
            ("deny office#3", true),
            ("ask office#3", false),
            ("deny office#4", false),
            ("deny home", false),
        ] {
            assert_eq!(expectation(text).unwrap().unwrap().fits(&decided), fits, "{text}");
        }
        let by_default = verdict(Effect::Deny, "office", None);
        assert!(!expectation("deny office#3").unwrap().unwrap().fits(&by_default));
    }

    #[test]
    fn what_is_no_grid_is_told_with_line_and_column() {
        let refused: String = [
            "ada trusted model:chat cost=1",
            "ada trusted model:chat hour=25 → allow",
            "# ok\nada trusted → allow",
            "ada trusted chat → allow",
            "ada trusted - → allow",
            "ada trusted model:chat → perhaps",
            "ada trusted \"model:chat → allow",
            "agent tier → expected",
            "action with agent → expected",
            "action colour → expected\nread:crm red → allow",
        ]
        .map(|text| {
            let GridError { line, column, message } = Grid::parse(text).unwrap_err();
            format!("{line}:{column}: {message}\n")
        })
        .concat();
        expect![[r#"
            1:30: expected `→` or `->`, and what is to be decided
            1:24: `hour` wants an hour from 0 to 23, not `25`
            2:13: the column `action` has no cell; `-` says nothing
            1:13: `action` wants an action such as write:email, not `chat`
            1:15: the column `action` must say what is to be done
            1:26: expected allow, ask or deny, not `perhaps`
            1:13: this quotation mark has no other
            1:1: one of the columns must be `action`
            1:8: `with` is the last column, if it is one
            2:10: `colour` is nothing that can be said; there are action, agent, tier, score, tags, app, mode, model, tool, level, cost, labels, hour, weekday, shaped, remote, barred, exception, approved, used:POLICY#RULE, budget:NAME, tenant and key
        "#]].assert_eq(&refused);
    }
}
