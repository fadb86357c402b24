//! What share of secrets is found, and how often clean lines raise an alarm: `cargo bench -p redaction --bench secrets`.
//!
//! Samples are made from the expressions of a rules file in the format of gitleaks, from a fixed seed, and put into prose, configuration, JSON,
//! arguments of tools, base64 and percent signs, each once as the rule's expression demands and once with the bare secret under a name. Clean
//! lines are chats, tasks, sources and lock files. A bar that is missed makes the bench exit with 1.
//!
//! `found` is the share of secrets that a finding touches, to which the bar applies; `covered` the share of those that findings cover from the
//! first byte to the last. Some expressions take in what is no part of a secret (a delimiter, any character for a dot), which only the first forgives.
//!
//!     cargo bench -p redaction --bench secrets -- [--explain] [--seed N] [--rules RULES.toml] [CLEAN-FILE...]
//!
//! The data is `PUNK_BENCH_DATA`, or `../shared/bench/data`, seen from the workspace.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a bench may fail as a test does")]

#[path = "secrets/clean.rs"]
mod clean;
#[path = "secrets/forms.rs"]
mod forms;
#[path = "secrets/generate.rs"]
mod generate;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use forms::Form;
use generate::Random;
use redaction::{Class, Detectors, Finding};

/// What has to be reached: the share of secrets that are found in each form, and of clean lines that raise an alarm.
const RECALL: f64 = 0.99;
const ALARMS: f64 = 0.001;

/// How many samples are made of each rule.
const SAMPLES: usize = 20;

fn main() -> ExitCode {
    let options = Options::read();
    let rules = match generate::rules(&options.rules) {
        Ok(rules) => rules,
        Err(problem) => {
            eprintln!(
                "no rules to make samples from: {problem}\nset PUNK_BENCH_DATA, or name a file with --rules"
            );
            return ExitCode::FAILURE;
        }
    };
    let wanted = [Class::Secret, Class::PrivateKey, Class::ConnectionString];
    let detectors = Arc::new(Detectors::builder().classes(wanted).build().unwrap());
    let mut met = recall(&detectors, &rules, &options);
    met &= clean::alarms(&detectors, &options.clean, &options.data, ALARMS, options.explain);
    if met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Prints the recall of each form, and the rules that are missed.
fn recall(detectors: &Arc<Detectors>, rules: &[generate::Rule], options: &Options) -> bool {
    let mut random = Random(options.seed);
    let mut tallies: BTreeMap<Form, Tally> = BTreeMap::new();
    let mut missed: BTreeMap<&str, BTreeMap<Form, usize>> = BTreeMap::new();
    let mut held = Vec::new();
    let mut uneven = 0;
    for rule in rules {
        for _ in 0..SAMPLES {
            let Some(sample) = rule.sample(&mut random) else { continue };
            let bare = sample.text[sample.secret.clone()]
                .bytes()
                .all(|byte| byte.is_ascii_graphic() && byte != b'"');
            for form in Form::ALL.into_iter().filter(|form| bare || !form.is_bare()) {
                let (text, secret) = form.write(&sample, &mut random);
                let found = detectors.find(&text);
                let hit = found.iter().any(|finding| overlap(finding, &secret) > 0);
                let covered: usize = found.iter().map(|finding| overlap(finding, &secret)).sum();
                let whole = covered == secret.len();
                let tally = tallies.entry(form).or_default();
                tally.all += 1;
                tally.hit += usize::from(hit);
                tally.whole += usize::from(whole);
                uneven += usize::from(cut(detectors, &text, &mut random, &mut held) != found);
                if !whole {
                    *missed.entry(&rule.id).or_default().entry(form).or_default() += 1;
                    if options.explain {
                        println!(
                            "  {} {form:?} {} {text:?}\n      secret {:?}\n      {found:?}",
                            if hit { "PART" } else { "MISS" },
                            rule.id,
                            &text[secret.clone()]
                        );
                    }
                }
            }
        }
    }
    println!("{:<12} {:>8} {:>10} {:>10}", "form", "samples", "found", "covered");
    let mut met = uneven == 0;
    for (form, Tally { all, hit, whole }) in &tallies {
        let (hit, whole) = (*hit as f64 / *all as f64, *whole as f64 / *all as f64);
        let holds = hit >= RECALL;
        met &= holds;
        println!(
            "{:<12} {all:>8} {hit:>10.4} {whole:>10.4}  bar {RECALL} {}",
            format!("{form:?}"),
            if holds { "met" } else { "MISSED" }
        );
    }
    println!("texts whose findings change when they are cut: {uneven}");
    held.sort_unstable();
    let at = |share: f64| held[((held.len() - 1) as f64 * share) as usize];
    println!(
        "bytes held back after a piece: median {}, 90 % {}, 99 % {}, most {}",
        at(0.5),
        at(0.9),
        at(0.99),
        at(1.0)
    );
    println!("missed, by rule:");
    for (rule, forms) in missed {
        println!("  {rule:<44} {forms:?}");
    }
    met
}

#[derive(Default)]
struct Tally {
    all: usize,
    hit: usize,
    whole: usize,
}

fn overlap(finding: &Finding, secret: &std::ops::Range<usize>) -> usize {
    finding.range.end.min(secret.end).saturating_sub(finding.range.start.max(secret.start))
}

/// The findings in a text that is cut into random pieces; adds how much was held back after each.
fn cut(detectors: &Arc<Detectors>, text: &str, random: &mut Random, held: &mut Vec<usize>) -> Vec<Finding> {
    let mut stream = detectors.stream();
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let mut next = (at + 1 + random.below(12)).min(text.len());
        while !text.is_char_boundary(next) {
            next += 1;
        }
        stream.push(&text[at..next], &mut found);
        held.push(next - stream.settled());
        at = next;
    }
    stream.finish(&mut found);
    found
}

struct Options {
    explain: bool,
    seed: u64,
    data: PathBuf,
    rules: PathBuf,
    clean: Vec<PathBuf>,
}

impl Options {
    fn read() -> Self {
        let data = std::env::var_os("PUNK_BENCH_DATA").map_or_else(default_data, PathBuf::from);
        let rules = data.join("gitleaks_rules/gitleaks.toml");
        let mut options = Self { explain: false, seed: 20, data, rules, clean: Vec::new() };
        let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--explain" => options.explain = true,
                "--seed" => {
                    options.seed = arguments.next().and_then(|seed| seed.parse().ok()).expect("--seed N");
                }
                "--rules" => options.rules = arguments.next().expect("--rules RULES.toml").into(),
                file => options.clean.push(file.into()),
            }
        }
        options
    }
}

fn default_data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/bench/data")
}
