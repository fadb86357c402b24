//! The example policies load, each alone and all together, and decide as they say.

#![cfg(feature = "cedar")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on may stop")]

mod common;

use std::fs;
use std::path::Path;

use common::facts;
use expect_test::expect_file;
use governance::{Facts, Meter, PolicyFile, decide, limits, load};
use schema::{Effect, SideEffectLevel, TrustTier};

fn examples() -> Vec<PolicyFile> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/policies");
    let mut files: Vec<PolicyFile> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml" || extension == "cedar"))
        .map(|path| PolicyFile {
            name: path.file_name().unwrap().to_string_lossy().into_owned(),
            text: fs::read_to_string(&path).unwrap(),
        })
        .collect();
    files.sort_by(|one, other| one.name.cmp(&other.name));
    files
}

#[test]
fn every_example_loads_alone_and_all_load_together() {
    let files = examples();
    assert!(files.len() >= 7, "{}", files.len());
    for file in &files {
        load(std::slice::from_ref(file)).unwrap();
    }
    load(&files).unwrap();
}

type Change = fn(&mut Facts);
const CALLERS: [(&str, Change); 10] = [
    ("unverified", |_| {}),
    ("verified", |facts| facts.trust_tier = TrustTier::Verified),
    ("verified, score 0.3", |facts| {
        (facts.trust_tier, facts.trust_score_milli) = (TrustTier::Verified, 300);
    }),
    ("trusted", |facts| facts.trust_tier = TrustTier::Trusted),
    ("trusted, at night", |facts| (facts.trust_tier, facts.hour) = (TrustTier::Trusted, 22)),
    ("read-only", |facts| facts.tags = vec!["read-only".into()]),
    ("for a dollar", |facts| facts.cost_micro_usd = Some(1_000_000)),
    ("for who knows what", |facts| facts.cost_micro_usd = None),
    ("with secrets", |facts| facts.labels = vec!["secret".into()]),
    ("with personal data", |facts| facts.labels = vec!["pii".into()]),
];

/// What each caller may do, with a question mark where somebody is asked first.
fn grid(file: &PolicyFile) -> String {
    let set = load(std::slice::from_ref(file)).unwrap();
    let mut grid = format!("{}\n", file.name);
    for (caller, change) in CALLERS {
        let cells: Vec<String> = [
            ("model:chat", SideEffectLevel::Pure),
            ("read:crm", SideEffectLevel::Read),
            ("write:note", SideEffectLevel::ReversibleWrite),
            ("write:email", SideEffectLevel::VisibleWrite),
            ("write:payment", SideEffectLevel::HighImpact),
        ]
        .map(|(action, level)| {
            let mut facts = facts();
            (facts.level, facts.trust_score_milli) = (level, 600);
            change(&mut facts);
            let action = action.parse().unwrap();
            facts.meters = limits(&set, &facts, &action)
                .map(|limit| Meter {
                    policy: limit.policy.to_owned(),
                    rule: Some(limit.rule),
                    limit: limit.limit,
                    used: 0,
                    amount: Some(1),
                    hard: limit.hard,
                })
                .collect();
            match decide(&set, &facts, &action).effect {
                Effect::Allow => format!("{action}"),
                Effect::Ask => format!("{action}?"),
                Effect::Deny => String::new(),
            }
        })
        .into_iter()
        .filter(|cell| !cell.is_empty())
        .collect();
        grid += format!("  {caller:20} {}", cells.join(" ")).trim_end();
        grid.push('\n');
    }
    grid
}

#[test]
fn they_decide_as_they_say() {
    let grids: Vec<String> = examples().iter().map(grid).collect();
    expect_file!["../../../examples/policies/verdicts.txt"].assert_eq(&grids.join("\n"));
}
