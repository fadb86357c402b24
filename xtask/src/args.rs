//! The command line, parsed by hand: three commands and three flags do not pay for a parser crate.

use crate::step::STEPS;

/// What the caller asked for.
#[derive(Debug, PartialEq)]
pub(crate) enum Request {
    Help,
    Test { filter: Option<String> },
    Soak(Soak),
    Bench,
}

/// How long to soak, on what, and whether the new fuzz inputs stay.
#[derive(Debug, PartialEq)]
pub(crate) struct Soak {
    pub(crate) seconds: u64,
    pub(crate) keep: bool,
    pub(crate) json: bool,
    pub(crate) filter: Option<String>,
}

const SOAK_SECONDS: u64 = 600;
/// The flags that say how long, and how many seconds one of each is.
const UNITS: [(&str, u64); 2] = [("--seconds", 1), ("--minutes", 60)];

/// Reads the arguments after the program's name. An error says what was wrong with which argument.
pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Request, String> {
    let mut arguments = arguments.into_iter();
    let Some(command) = arguments.next() else {
        return Ok(Request::Help);
    };
    let rest: Vec<String> = arguments.collect();
    if rest.iter().any(|argument| argument == "--help" || argument == "-h") {
        return Ok(Request::Help);
    }
    match command.as_str() {
        "help" | "--help" | "-h" => Ok(Request::Help),
        "test" => Ok(Request::Test { filter: only_filter("test", rest)? }),
        "soak" => soak(rest).map(Request::Soak),
        "bench" => match rest.first() {
            Some(extra) => Err(format!("`bench` takes no arguments, and got `{extra}`")),
            None => Ok(Request::Bench),
        },
        other => Err(format!("no command `{other}`; the commands are test, soak, bench and help")),
    }
}

fn soak(rest: Vec<String>) -> Result<Soak, String> {
    let mut soak = Soak { seconds: SOAK_SECONDS, keep: false, json: false, filter: None };
    let mut others = Vec::new();
    let mut rest = rest.into_iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--keep" => soak.keep = true,
            "--json" => soak.json = true,
            flag => match UNITS.iter().find(|(name, _)| flag.split('=').next() == Some(name)) {
                Some((name, unit)) => {
                    let value = match flag.split_once('=') {
                        Some((_, value)) => value.to_owned(),
                        None => rest.next().ok_or(format!("`{name}` wants a number after it"))?,
                    };
                    soak.seconds = whole(name, &value)?.saturating_mul(*unit);
                }
                None => others.push(argument),
            },
        }
    }
    soak.filter = only_filter("soak", others)?;
    Ok(soak)
}

fn whole(flag: &str, value: &str) -> Result<u64, String> {
    match value.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(format!("`{flag}` wants a whole number above 0, and got `{value}`")),
    }
}

fn only_filter(command: &str, rest: Vec<String>) -> Result<Option<String>, String> {
    if let Some(flag) = rest.iter().find(|argument| argument.starts_with('-')) {
        return Err(format!("`{command}` has no flag `{flag}`"));
    }
    match rest.as_slice() {
        [_, extra, ..] => Err(format!("`{command}` takes one filter; `{extra}` is one too many")),
        _ => Ok(rest.into_iter().next()),
    }
}

/// The text of `cargo xtask help`; the steps are read from the list that runs them.
pub(crate) fn help() -> String {
    let mut text = String::from(
        "cargo xtask test            everything that CI checks; installs what is missing\n\
         cargo xtask test <step>     one step, by its name below\n\
         cargo xtask test <text>     only the Rust tests with <text> in their name\n\
         cargo xtask soak [--seconds N | --minutes N] [--keep] [--json] [<job or fuzz target>]\n\
         \x20                           long runs, N seconds each (600); the jobs are kill, mixed and fuzz;\n\
         \x20                           --keep adds new fuzz inputs to fuzz/seeds, --json sums mixed load up as JSON\n\
         cargo xtask bench           cargo bench over the workspace\n\nsteps:",
    );
    for step in STEPS {
        text.push_str(&format!("\n  {:<12} {}", step.name, step.about));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Request, String> {
        parse(line.split_whitespace().map(String::from))
    }

    #[test]
    fn a_bare_call_asks_for_help() {
        assert_eq!(parsed(""), Ok(Request::Help));
        assert_eq!(parsed("test --help"), Ok(Request::Help));
    }

    #[test]
    fn test_takes_at_most_one_filter() {
        assert_eq!(parsed("test"), Ok(Request::Test { filter: None }));
        assert_eq!(parsed("test clippy"), Ok(Request::Test { filter: Some("clippy".into()) }));
        assert_eq!(parsed("test a b").unwrap_err(), "`test` takes one filter; `b` is one too many");
    }

    #[test]
    fn soak_reads_its_seconds_both_ways() {
        let wanted = Soak { seconds: 30, keep: true, json: false, filter: Some("packet".into()) };
        let wanted = Request::Soak(wanted);
        assert_eq!(parsed("soak --seconds 30 --keep packet").as_ref(), Ok(&wanted));
        assert_eq!(parsed("soak packet --keep --seconds=30"), Ok(wanted));
        assert!(parsed("soak --seconds").is_err());
        assert!(parsed("soak --seconds 0").is_err());
        let hour = Soak { seconds: 3_600, keep: false, json: true, filter: Some("mixed".into()) };
        assert_eq!(parsed("soak mixed --minutes 60 --json"), Ok(Request::Soak(hour)));
    }

    #[test]
    fn what_is_unknown_is_named() {
        assert_eq!(parsed("test --fast").unwrap_err(), "`test` has no flag `--fast`");
        assert!(parsed("deploy").unwrap_err().contains("no command `deploy`"));
        assert!(parsed("bench x").is_err());
    }
}
