//! The instructions of a request, counted by callgrind over the whole process: a guard against regressions that does not
//! depend on how busy the machine is.
//!
//! The real binary serves with everything on, under callgrind, with one worker; each cell is warmed up and then asked so often
//! that what happens now and then (a checkpoint of the database) counts with its share. Figures are on record in
//! `instructions.toml`, for each profile: those of an unoptimised build are other figures, and guard as well. That one is what
//! tests build anyway; an optimised one would take minutes more.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use crate::args::Instructions;
use crate::cell::{C1, Cell, HIT1, S1, X1};
use crate::compare::{build, start_upstream};
use crate::load::Until;
use crate::process;
use crate::proof;
use crate::target::Target;
use crate::target::ours::Setup;

/// An unoptimised build needs twenty times as many instructions, and callgrind a second for four of its requests.
const COUNTED: u64 = if cfg!(debug_assertions) { 30 } else { 300 };
const WARM: u64 = COUNTED / 3;
/// How many percent more than on record are let pass.
const TOLERANCE: u64 = 10;

const COUNTS: [(&str, &Cell); 4] = [("proxied", &C1), ("stream", &S1), ("hit", &HIT1), ("translated", &X1)];

const ON_RECORD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/instructions.toml");
const HEADER: &str = "# Instructions of one request, by the profile of the build.\n\
                      # Written by `cargo run -p gateway-bench -- instructions --accept`, with `--release` for that profile.\n\n";

/// Instructions by what was asked.
type Counts = BTreeMap<String, u64>;

/// Counts, compares with what is on record, and says what to do where they differ.
pub(crate) fn run(wanted: &Instructions) -> Result<ExitCode, String> {
    let profile = if cfg!(debug_assertions) { "dev" } else { "release" };
    let punk = wanted.punk.clone().map_or_else(|| build(profile), Ok)?;
    let counted = count(&punk, wanted.dumps.as_deref())?;
    let mut on_record = read(Path::new(ON_RECORD))?;
    if wanted.accept {
        on_record.insert(profile.to_owned(), counted.clone());
        let text = toml::to_string(&on_record).map_err(|error| error.to_string())?;
        fs::write(ON_RECORD, format!("{HEADER}{text}")).map_err(|error| format!("{ON_RECORD}: {error}"))?;
    }
    let (text, holds) = compare(&counted, on_record.get(profile).unwrap_or(&Counts::new()));
    println!("instructions of one request, {profile} build:\n{text}");
    if !holds {
        println!("Make it cheaper; or, where it is worth its price, accept it and say why in the commit:");
        let release = if profile == "dev" { "" } else { " --release" };
        println!("    cargo run{release} -p gateway-bench -- instructions --accept");
    }
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn read(path: &Path) -> Result<BTreeMap<String, Counts>, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// A line for each, and whether none needs a tenth more than it did.
fn compare(counted: &Counts, on_record: &Counts) -> (String, bool) {
    let (mut text, mut holds) = (String::new(), true);
    for (name, now) in counted {
        let Some(before) = on_record.get(name) else {
            text += &format!("{name:<11} {now:>10}, not on record\n");
            holds = false;
            continue;
        };
        let change = (*now as f64 / *before as f64 - 1.0) * 100.0;
        let regression = now * 100 > before * (100 + TOLERANCE);
        let better = now * 100 < before * (100 - TOLERANCE);
        let said = match (regression, better) {
            (true, _) => ": REGRESSION",
            (_, true) => ": better, worth accepting",
            _ => "",
        };
        holds &= !regression;
        text += &format!("{name:<11} {now:>10}, on record {before:>10}, {change:+.1} %{said}\n");
    }
    (text, holds)
}

fn count(punk: &Path, dumps: Option<&Path>) -> Result<Counts, String> {
    let folder = tempfile::Builder::new().prefix("gateway-bench").tempdir();
    let folder = folder.map_err(|error| format!("no temporary folder: {error}"))?;
    let folder = folder.path();
    let punk = fs::canonicalize(punk).map_err(|error| format!("{}: {error}", punk.display()))?;
    let (_upstream, upstream) = start_upstream(folder)?;
    let dumps = dumps.unwrap_or(folder);
    fs::create_dir_all(dumps).map_err(|error| format!("{}: {error}", dumps.display()))?;
    let dumps = fs::canonicalize(dumps).map_err(|error| format!("{}: {error}", dumps.display()))?;
    let out = dumps.join("callgrind.out");
    let under = [
        "valgrind",
        "--tool=callgrind",
        // Starting takes far more instructions than everything that is counted.
        "--instr-atstart=no",
        &format!("--callgrind-out-file={}", out.display()),
    ]
    .map(str::to_owned);
    let ours = folder.join("ours");
    let setup = Setup {
        under: &under,
        // One worker: how often several wake each other depends on the machine.
        environment: &[("TOKIO_WORKER_THREADS", "1")],
        patience: Duration::from_secs(180),
        ..Setup::new(&punk, ours.clone(), upstream)
    };
    let target = setup
        .start()
        .map_err(|error| format!("{error}; valgrind is needed (Debian: `apt-get install valgrind`)"))?;
    proof::prove(&target, &punk, &ours)?;
    let callgrind =
        Callgrind { id: target.process.as_ref().map(|process| process.id()).unwrap_or_default(), out };
    callgrind.say(&["instrumentation", "on"])?;
    let mut counts = Counts::new();
    for (part, (name, cell)) in COUNTS.into_iter().enumerate() {
        ask(&target, cell, WARM)?;
        callgrind.say(&["zero"])?;
        ask(&target, cell, COUNTED)?;
        callgrind.say(&["dump", name])?;
        counts.insert(name.to_owned(), callgrind.dumped(part + 1)? / COUNTED);
        eprintln!("counted {name}");
    }
    Ok(counts)
}

fn ask(target: &Target, cell: &Cell, requests: u64) -> Result<(), String> {
    let figures = target.measure(cell, Until::Requests(requests)).ok_or("ours cannot be asked")??;
    match figures.first_error {
        Some(error) => Err(format!("{}: {error}", cell.name)),
        None => Ok(()),
    }
}

/// A process under callgrind that can be told what to do.
struct Callgrind {
    id: u32,
    out: PathBuf,
}

impl Callgrind {
    fn say(&self, words: &[&str]) -> Result<(), String> {
        process::run(Command::new("vgdb").arg(format!("--pid={}", self.id)).args(words)).map(drop)
    }

    /// What was counted between the last `zero` and the dump of this number.
    fn dumped(&self, part: usize) -> Result<u64, String> {
        let path = format!("{}.{part}", self.out.display());
        let text = fs::read(&path).map_err(|error| format!("{path}: {error}"))?;
        total(&String::from_utf8_lossy(&text)).ok_or_else(|| format!("{path} has no sum"))
    }
}

fn total(dump: &str) -> Option<u64> {
    dump.lines().find_map(|line| line.strip_prefix("summary:"))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn counts(pairs: &[(&str, u64)]) -> Counts {
        pairs.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }

    #[test]
    fn a_tenth_more_is_a_regression_and_what_is_new_must_be_accepted() {
        let before = counts(&[("a", 1000), ("b", 1000), ("c", 1000)]);
        let (text, holds) = compare(&counts(&[("a", 1100), ("b", 1101), ("c", 800), ("d", 5)]), &before);
        expect![[r#"
            a                 1100, on record       1000, +10.0 %
            b                 1101, on record       1000, +10.1 %: REGRESSION
            c                  800, on record       1000, -20.0 %: better, worth accepting
            d                    5, not on record
        "#]]
        .assert_eq(&text);
        assert!(!holds);
        assert!(compare(&counts(&[("a", 1050), ("c", 1)]), &before).1);
    }

    #[test]
    fn the_sum_of_a_dump_is_read() {
        assert_eq!(total("events: Ir\nsummary: 2637810\n\nfn=(1)\n"), Some(2_637_810));
        assert_eq!(total("events: Ir\n"), None);
    }

    #[test]
    fn the_figures_on_record_can_be_read_and_name_every_count() {
        let on_record = read(Path::new(ON_RECORD)).unwrap();
        for (profile, counts) in on_record {
            for (name, _) in COUNTS {
                assert!(counts.contains_key(name), "{name} in {profile}");
            }
        }
    }
}
