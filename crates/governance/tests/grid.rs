//! The golden grid: callers and tiers against kinds of actions, drawn as text. A changed rule shows as a changed cell.

mod common;

use common::{facts, set};
use expect_test::expect_file;
use governance::{Facts, decide};
use schema::{Effect, SideEffectLevel, TrustTier};

const ACTIONS: &[(&str, SideEffectLevel)] = &[
    ("model:chat", SideEffectLevel::Pure),
    ("model:embed", SideEffectLevel::Pure),
    ("read:crm", SideEffectLevel::Read),
    ("read:web", SideEffectLevel::Read),
    ("write:calendar", SideEffectLevel::ReversibleWrite),
    ("write:email", SideEffectLevel::VisibleWrite),
    ("write:web", SideEffectLevel::VisibleWrite),
    ("write:payment", SideEffectLevel::HighImpact),
    ("delete:file", SideEffectLevel::HighImpact),
    ("delete:calendar", SideEffectLevel::HighImpact),
    ("execute:shell", SideEffectLevel::VisibleWrite),
];

const TIERS: [TrustTier; 4] =
    [TrustTier::Unverified, TrustTier::Verified, TrustTier::Trusted, TrustTier::Privileged];

#[test]
fn the_golden_grid_of_callers_and_actions() {
    let office = set();
    let mut grid = String::new();
    type Change = fn(&mut Facts);
    let callers: &[(&str, Change)] = &[
        ("anybody", |_| {}),
        ("tagged batch", |facts| facts.tags = vec!["batch".into()]),
        ("named night", |facts| facts.agent = "night".into()),
        ("at ten in the evening", |facts| facts.hour = 22),
        ("for a dollar", |facts| facts.cost_micro_usd = Some(1_000_000)),
        ("for nobody knows what", |facts| facts.cost_micro_usd = None),
        ("with secret data", |facts| facts.labels = vec!["secret".into()]),
        ("with its limits used up", |facts| {
            facts.meters.iter_mut().for_each(|meter| meter.used = meter.limit);
        }),
        ("with limits that nobody read", |facts| facts.meters.clear()),
        ("shaped by untrusted text", common::shape),
        ("with a tripped wire", |facts| facts.barred = vec!["tripwire:canary".into()]),
        ("denied elsewhere", |facts| facts.remote = Some(common::remote(Effect::Deny))),
        ("excepted from office rule 0", |facts| facts.exceptions = vec![common::excepted("office", Some(0))]),
        ("approved for office rule 2", |facts| {
            facts.hour = 22;
            facts.approvals = vec![common::granted("office", Some(2))];
        }),
    ];
    for (caller, change) in callers {
        for (action, level) in ACTIONS {
            let mut cells: Vec<(Vec<TrustTier>, String)> = Vec::new();
            for tier in TIERS {
                let mut facts = facts();
                (facts.trust_tier, facts.level) = (tier, *level);
                change(&mut facts);
                let verdict = decide(&office, &facts, &action.parse().unwrap());
                let rule = verdict.rule.map_or_else(String::new, |rule| format!(" rule {rule}"));
                let effect = match verdict.effect {
                    Effect::Allow => "allow",
                    Effect::Ask => "ASK",
                    Effect::Deny => "DENY",
                };
                let cell = format!("{effect} by {}{rule}", verdict.policy);
                match cells.last_mut() {
                    Some((tiers, same)) if *same == cell => tiers.push(tier),
                    _ => cells.push((vec![tier], cell)),
                }
            }
            let cells: Vec<String> = cells
                .into_iter()
                .map(|(tiers, cell)| {
                    if tiers.len() == TIERS.len() { cell } else { format!("{tiers:?} {cell}").to_lowercase() }
                })
                .collect();
            grid += &format!("{caller:30} {action:16} {}\n", cells.join(" | "));
        }
        grid.push('\n');
    }
    expect_file!["matrix.txt"].assert_eq(&grid);
}
