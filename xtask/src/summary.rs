//! The end of a run, for people and for machines: a table, the slowest tests, one line that counts.

use std::fmt::Write;
use std::time::Duration;

use crate::junit::TestCase;
use crate::step::{Ending, Outcome};

const SLOWEST: usize = 10;

/// A step that ran.
pub(crate) struct Finished {
    pub(crate) name: String,
    pub(crate) took: Duration,
    pub(crate) outcome: Outcome,
}

/// How many tests and other steps passed and failed. A step whose tests can be counted counts as its tests.
pub(crate) fn count(finished: &[Finished]) -> (usize, usize) {
    let (mut passed, mut failed) = (0, 0);
    for Finished { outcome, .. } in finished {
        let failing = outcome.tests.iter().filter(|test| test.failed).count();
        passed += outcome.tests.len() - failing;
        failed += failing;
        match outcome.ending {
            Ending::Passed if outcome.tests.is_empty() => passed += 1,
            // A failure beyond its tests (it did not compile, it was cut short) must not be lost.
            Ending::Failed(_) if failing == 0 => failed += 1,
            _ => {}
        }
    }
    (passed, failed)
}

/// The whole text. The last line is the count, alone.
pub(crate) fn text(finished: &[Finished]) -> String {
    let mut text = format!("\n{:<12} {:<8} {:>8}\n", "step", "result", "seconds");
    for Finished { name, took, outcome } in finished {
        let (result, reason) = match &outcome.ending {
            Ending::Passed => ("ok", ""),
            Ending::Skipped(reason) => ("skipped", reason.as_str()),
            Ending::Failed(reason) => ("FAILED", reason.as_str()),
        };
        let line = format!("{name:<12} {result:<8} {:>8.1}  {reason}", took.as_secs_f64());
        let _ = writeln!(text, "{}", line.trim_end());
    }
    let mut tests: Vec<&TestCase> = finished.iter().flat_map(|step| &step.outcome.tests).collect();
    if !tests.is_empty() {
        tests.sort_by(|one, two| two.seconds.total_cmp(&one.seconds));
        let _ = writeln!(text, "\nslowest tests");
        for test in tests.iter().take(SLOWEST) {
            let _ = writeln!(text, "{:>8.2} s  {}", test.seconds, test.name);
        }
    }
    for test in tests.iter().filter(|test| test.failed) {
        let _ = writeln!(text, "\nfailed test: {}", test.name);
    }
    for note in finished.iter().flat_map(|step| &step.outcome.notes) {
        let _ = writeln!(text, "\n{note}");
    }
    let (passed, failed) = count(finished);
    let _ = write!(text, "\n{passed} passed, {failed} failed");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(name: &str, ending: Ending, tests: &[(&str, f64, bool)]) -> Finished {
        let tests =
            tests.iter().map(|&(name, seconds, failed)| TestCase { name: name.into(), seconds, failed });
        let outcome = Outcome { ending, tests: tests.collect(), notes: vec![format!("{name}: a note")] };
        Finished { name: name.into(), took: Duration::from_millis(1500), outcome }
    }

    #[test]
    fn tests_count_for_their_step() {
        let tests = [("a", 0.1, false), ("b", 2.0, true)];
        let steps = [
            step("fmt", Ending::Passed, &[]),
            step("rust", Ending::Failed("1 of 2".into()), &tests),
            step("fuzz", Ending::Skipped("none".into()), &[]),
        ];
        assert_eq!(count(&steps), (2, 1));
    }

    #[test]
    fn a_step_that_fails_beyond_its_tests_is_counted() {
        assert_eq!(count(&[step("rust", Ending::Failed("does not compile".into()), &[])]), (0, 1));
        assert_eq!(count(&[step("rust", Ending::Failed("cut short".into()), &[("a", 0.1, false)])]), (1, 1));
    }

    #[test]
    fn the_count_stands_alone_on_the_last_line() {
        let text = text(&[step("rust", Ending::Passed, &[("quick", 0.1, false), ("slow", 2.0, false)])]);
        assert_eq!(text.lines().last(), Some("2 passed, 0 failed"));
        assert!(text.contains("rust         ok            1.5\n"), "{text}");
        assert!(text.find("slow\n") < text.find("quick\n"), "{text}");
        assert!(text.contains("\nrust: a note\n"), "{text}");
    }
}
