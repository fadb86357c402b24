//! How the story is told: for people on a terminal with colours, pauses and bars; for everybody else as plain lines; for
//! machines as one line of JSON a step.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Value, json};

/// How long a line is before it is broken.
const WIDTH: usize = 86;
/// How long a word takes to read.
const PER_WORD: Duration = Duration::from_millis(170);
/// How long somebody looks at what came of a step.
const TO_LOOK: Duration = Duration::from_millis(2_500);

/// Where the story is told.
pub(super) struct Stage {
    json: bool,
    watched: bool,
    colour: bool,
    /// Whether there is time to read.
    slow: bool,
    steps: u32,
}

/// What came of a step, in the order in which it is shown.
#[derive(Default)]
pub(super) struct Facts(Vec<(&'static str, Value)>);

impl Facts {
    /// One more.
    pub(super) fn and(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.0.push((name, value.into()));
        self
    }
}

/// What a step is called, and what is said before it.
pub(super) struct Scene {
    /// Its name for machines.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) text: &'static str,
}

impl Stage {
    pub(super) fn new(json: bool, fast: bool) -> Self {
        let watched = !json && std::io::stdout().is_terminal();
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { json, watched, colour: watched && !plain, slow: watched && !fast, steps: 0 }
    }

    /// Whether somebody looks on.
    pub(super) fn is_watched(&self) -> bool {
        self.watched
    }

    /// Says something outside of the steps.
    pub(super) fn say(&self, text: &str) {
        if !self.json {
            let gap = if self.steps > 0 { "\n" } else { "" };
            self.write(&format!("{gap}{}", wrapped(text, "")));
        }
    }

    /// Begins a step: its title, and what it is about, with time to read it.
    pub(super) async fn open(&mut self, scene: &Scene) {
        self.steps += 1;
        if self.json {
            return;
        }
        let title = self.painted("1", scene.title);
        self.write(&format!("\n{:>2}  {title}\n{}", self.steps, wrapped(scene.text, "    ")));
        self.rest(PER_WORD * u32::try_from(scene.text.split_whitespace().count()).unwrap_or(u32::MAX)).await;
    }

    /// Ends a step: what came of it.
    pub(super) async fn close(&self, scene: &Scene, facts: Facts) {
        if self.json {
            let facts: Map<String, Value> =
                facts.0.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
            let line =
                json!({ "step": scene.name, "number": self.steps, "title": scene.title, "facts": facts });
            self.write(&format!("{line}\n"));
            return;
        }
        let width = facts.0.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        let mut lines = String::from("\n");
        for (name, value) in &facts.0 {
            let name = format!("{name:width$}");
            for (place, line) in text_of(value).lines().enumerate() {
                let name = if place == 0 { self.painted("2", &name) } else { " ".repeat(width) };
                lines.push_str(&format!("      {name}  {}\n", self.coloured(line)));
            }
        }
        self.write(&lines);
        self.rest(TO_LOOK).await;
    }

    /// A bar for `length` calls. Nobody else sees one.
    pub(super) fn bar(&self, length: u64, what: &'static str) -> ProgressBar {
        if !self.watched {
            return ProgressBar::hidden();
        }
        let template = if self.colour {
            "      {bar:40.cyan/dim} {pos:>4} {msg}"
        } else {
            "      {bar:40} {pos:>4} {msg}"
        };
        // The template is ours; were it wrong, the plain bar would do.
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        ProgressBar::new(length).with_style(style.progress_chars("━╸─")).with_message(what)
    }

    /// Words that say how something ended, in the colour of that.
    fn coloured(&self, line: &str) -> String {
        let first = line.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
        match first {
            "live" => self.painted("34", line),
            "exact_cache" | "artifact" | "valid" | "promoted" | "approved" | "passed" | "hit" => {
                self.painted("32", line)
            }
            "403" | "409" | "broken" | "quarantined" | "rejected" => self.painted("31", line),
            _ if line.starts_with("exact_cache") => self.painted("32", line),
            _ => line.to_owned(),
        }
    }

    fn painted(&self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    async fn rest(&self, time: Duration) {
        if self.slow {
            tokio::time::sleep(time).await;
        }
    }

    fn write(&self, text: &str) {
        let mut out = std::io::stdout().lock();
        // Who closed standard output does not want to know.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

/// A value as people read it; a list is a line each. Some of it was chosen by whoever wrote a ticket, so nothing in it moves a
/// terminal's cursor.
fn text_of(value: &Value) -> String {
    match value {
        Value::Array(items) => items.iter().map(text_of).collect::<Vec<_>>().join("\n"),
        other => crate::gateway_client::text(other),
    }
}

/// A text in lines that fit, each behind `margin`.
fn wrapped(text: &str, margin: &str) -> String {
    let (mut lines, mut line) = (String::new(), String::new());
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + word.chars().count() >= WIDTH {
            lines.push_str(&format!("{margin}{line}\n"));
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push_str(&format!("{margin}{line}\n"));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_broken_between_words() {
        let text = wrapped(&"word ".repeat(40), "  ");
        assert!(
            text.lines().all(|line| line.starts_with("  word") && line.chars().count() <= WIDTH + 2),
            "{text}"
        );
        assert_eq!(text.split_whitespace().count(), 40);
    }

    #[test]
    fn a_list_is_a_line_each_and_moves_no_cursor() {
        assert_eq!(text_of(&json!(["a", 2, "c\u{1b}[2J"])), "a\n2\nc\u{fffd}[2J");
    }
}
