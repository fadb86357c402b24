//! What of the personal data in a labelled set is found, and what else: `cargo bench -p redaction --bench pii [-- FILE]`.
//!
//! The set is Presidio's (JSON: `full_text` and `spans` with `entity_type`, `start_position`, `end_position` in characters). A
//! labelled span is found if findings of its class cover at least half of it; a finding is right if labelled spans of its class
//! cover at least half of it. A finding of another class does not count. The bars hold for each class that is told by form and
//! has at least eight spans, and for all of them together; names, addresses and postcodes are told as they are. Afterwards the
//! findings in texts without labels are counted, by class, for a thousand lines, and the speed is told.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a bench reads the clock, and may fail as a test does"
)]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Instant;

use redaction::{Class, Detectors, Finding};
use serde_json::Value;

/// Where the sets are, from the crate.
const DATA: &str = "../../../shared/bench/data";
const PRECISION: f64 = 0.87;
const RECALL: f64 = 0.84;
/// With fewer spans than this a class of its own says nothing.
const ENOUGH: usize = 8;

/// What is measured.
const PERSONAL: [Class; 8] = [
    Class::Email,
    Class::Phone,
    Class::Card,
    Class::Iban,
    Class::NationalId,
    Class::IpAddress,
    Class::PostalAddress,
    Class::Person,
];

/// What a label of the set is, and whether its form tells it.
fn class_of(label: &str) -> Option<(Class, bool)> {
    Some(match label {
        "EMAIL_ADDRESS" => (Class::Email, true),
        "PHONE_NUMBER" => (Class::Phone, true),
        "CREDIT_CARD" => (Class::Card, true),
        "IBAN_CODE" => (Class::Iban, true),
        "US_SSN" | "US_DRIVER_LICENSE" | "US_PASSPORT" | "US_ITIN" | "UK_NHS" => (Class::NationalId, true),
        "IP_ADDRESS" => (Class::IpAddress, true),
        "STREET_ADDRESS" | "ZIP_CODE" => (Class::PostalAddress, false),
        "PERSON" => (Class::Person, false),
        _ => return None,
    })
}

/// Whether spans with this label may be within a finding of the class without making it wrong: towns and countries belong to
/// an address, though they are labelled apart.
fn belongs(label: &str, class: Class) -> bool {
    class_of(label).is_some_and(|(of_label, _)| of_label == class)
        || (class == Class::PostalAddress && label == "GPE")
}

#[derive(Default)]
struct Tally {
    labelled: usize,
    found: usize,
    findings: usize,
    right: usize,
}

impl Tally {
    fn recall(&self) -> f64 {
        self.found as f64 / self.labelled.max(1) as f64
    }

    fn precision(&self) -> f64 {
        if self.findings == 0 { 1.0 } else { self.right as f64 / self.findings as f64 }
    }

    fn add(&mut self, other: &Self) {
        self.labelled += other.labelled;
        self.found += other.found;
        self.findings += other.findings;
        self.right += other.right;
    }
}

fn main() {
    let verbose = std::env::args().any(|argument| argument == "--misses");
    let given = std::env::args().skip(1).find(|argument| !argument.starts_with("--")).map(PathBuf::from);
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join(DATA);
    let file = given.unwrap_or_else(|| data.join("presidio_synth/synth_dataset_v2_first1000.json"));
    let text = std::fs::read_to_string(&file)
        .unwrap_or_else(|error| panic!("{} is needed for this bench: {error}", file.display()));
    let samples: Vec<Value> = serde_json::from_str(&text).expect("a list of texts with spans");
    let detectors = Detectors::builder().classes(PERSONAL).build().expect("built-in rules fit");
    let mut tallies: BTreeMap<(bool, Class), Tally> = BTreeMap::new();
    for sample in &samples {
        measure(&detectors, sample, &mut tallies, verbose);
    }
    let met = report(samples.len(), &tallies);
    false_alarms(&detectors, &data, verbose);
    speed(&detectors, &data);
    if !met {
        std::process::exit(1);
    }
}

/// Counts what is found in one text.
fn measure(
    detectors: &Detectors,
    sample: &Value,
    tallies: &mut BTreeMap<(bool, Class), Tally>,
    verbose: bool,
) {
    let text = sample["full_text"].as_str().unwrap();
    let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let spans: Vec<(&str, Range<usize>)> = sample["spans"]
        .as_array()
        .unwrap()
        .iter()
        .map(|span| {
            let place = |field: &str| places[span[field].as_u64().unwrap() as usize];
            (span["entity_type"].as_str().unwrap(), place("start_position")..place("end_position"))
        })
        .collect();
    let findings = detectors.find(text);
    for (label, span) in &spans {
        let Some((class, form)) = class_of(label) else { continue };
        let tally = tallies.entry((!form, class)).or_default();
        tally.labelled += 1;
        let of_class = findings.iter().filter(|found| found.class == class).map(|found| &found.range);
        if covered(span, of_class) {
            tally.found += 1;
        } else if verbose && form {
            println!("missed {class:?} {:?} in {text:?}", &text[span.clone()]);
        }
    }
    for Finding { range, class, rule, .. } in &findings {
        let form = !matches!(class, Class::PostalAddress | Class::Person);
        let tally = tallies.entry((!form, *class)).or_default();
        tally.findings += 1;
        let of_class = spans.iter().filter(|(label, _)| belongs(label, *class)).map(|(_, range)| range);
        if covered(range, of_class) {
            tally.right += 1;
        } else if verbose {
            println!("wrong {class:?} by {rule}: {:?} in {text:?}", &text[range.clone()]);
        }
    }
}

/// Whether the others cover at least half of `range`.
fn covered<'r>(range: &Range<usize>, others: impl Iterator<Item = &'r Range<usize>>) -> bool {
    let shared: usize =
        others.map(|other| other.end.min(range.end).saturating_sub(other.start.max(range.start))).sum();
    shared * 2 >= range.len()
}

/// Prints the table, and tells whether the bars are met.
fn report(samples: usize, tallies: &BTreeMap<(bool, Class), Tally>) -> bool {
    println!("{samples} texts; at least half of a span, of the right class\n");
    println!("{:<22}{:>9}{:>9}{:>11}{:>9}", "class", "labelled", "found", "precision", "recall");
    let mut met = true;
    let mut pooled = Tally::default();
    let mut row = |name: &str, tally: &Tally, held: bool| {
        let holds = tally.precision() >= PRECISION && tally.recall() >= RECALL;
        met &= holds || !held;
        let verdict = if !held {
            ""
        } else if holds {
            "  met"
        } else {
            "  MISSED"
        };
        println!(
            "{name:<22}{:>9}{:>9}{:>11.3}{:>9.3}{verdict}",
            tally.labelled,
            tally.found,
            tally.precision(),
            tally.recall()
        );
    };
    for ((apart, class), tally) in tallies {
        if !apart {
            pooled.add(tally);
        }
        row(&format!("{class:?}"), tally, !apart && tally.labelled >= ENOUGH);
    }
    row("told by form, pooled", &pooled, true);
    println!("bars: precision {PRECISION}, recall {RECALL}\n");
    met
}

/// Counts findings in texts in which there should be few.
fn false_alarms(detectors: &Detectors, data: &Path, verbose: bool) {
    println!("{:<14}{:>9}{:>12}   findings by class", "texts", "lines", "per 1,000");
    for set in ["banking77", "snips2017", "gsm8k", "bfcl_v4", "tau_bench"] {
        let mut lines = 0;
        let mut counts: BTreeMap<Class, usize> = BTreeMap::new();
        let mut total = 0;
        for file in std::fs::read_dir(data.join(set)).into_iter().flatten() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            for line in String::from_utf8_lossy(&bytes).lines() {
                lines += 1;
                for Finding { range, class, rule, .. } in detectors.find(line) {
                    total += 1;
                    *counts.entry(class).or_default() += 1;
                    if verbose {
                        let start = line.floor_char_boundary(range.start.saturating_sub(40));
                        println!(
                            "{set} {rule}: {:?} after {:?}",
                            &line[range.clone()],
                            &line[start..range.start]
                        );
                    }
                }
            }
        }
        println!("{set:<14}{lines:>9}{:>12.2}   {counts:?}", total as f64 * 1000.0 / f64::from(lines.max(1)));
    }
}

/// How fast the rules for personal data go over conversations, beside a scan that looks for nothing but e-mail.
fn speed(detectors: &Detectors, data: &Path) {
    let email = Detectors::builder().classes([Class::Email]).build().expect("built-in rules fit");
    println!();
    for set in ["banking77/train.csv", "tau_bench/gpt-4o-airline.trajectories.json"] {
        let Ok(text) = std::fs::read_to_string(data.join(set)) else { continue };
        let rate = |detectors: &Detectors| {
            let best = (0..5).map(|_| {
                let began = Instant::now();
                black_box(detectors.find(&text));
                began.elapsed()
            });
            text.len() as f64 / best.min().unwrap().as_secs_f64() / 1e6
        };
        println!("{set:<46} {:>6.0} MB/s, e-mail alone {:>6.0} MB/s", rate(detectors), rate(&email));
    }
}
