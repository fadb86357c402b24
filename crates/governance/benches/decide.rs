//! What a verdict costs, and what loading does: `cargo bench -p governance`.
//!
//! Prints one table; a bar that is not met makes the bench exit with 1. Cedar's rows are there with the feature `cedar`.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench reads the clock, and may fail as a test does"
)]

#[path = "../tests/common/mod.rs"]
mod common;

use std::hint::black_box;
use std::time::Instant;

use common::{facts, file};
use governance::{Action, Facts, PolicySet, decide, load};
use schema::TrustTier;

fn main() {
    let mut met = true;
    let mut bar = |name: &str, figure: f64, unit: &str, limit: f64| {
        let holds = figure <= limit;
        met &= holds;
        let verdict = if holds { "met" } else { "MISSED" };
        println!("{name:<66} {figure:>9.2} {unit:<3} bar {limit:>5} {verdict}");
    };
    let (facts, action): (Facts, Action) = (asking(), "write:email".parse().unwrap());

    let yaml = load(&[file("rules.yaml", &rules(200))]).unwrap();
    bar("YAML: a verdict over 200 rules", micros(|| decide(&yaml, &facts, &action)), "µs", 2.0);
    let text = rules(10_000);
    let began = Instant::now();
    let many = load(&[file("rules.yaml", &text)]).unwrap();
    bar("YAML: loading 10,000 rules", began.elapsed().as_secs_f64(), "s", 1.0);
    println!("{:<66} {:>9.2} µs", "YAML: a verdict over them", micros(|| decide(&many, &facts, &action)));

    if cfg!(feature = "cedar") {
        let office = cedar(&office());
        bar("Cedar: a verdict over 200 statements", micros(|| decide(&office, &facts, &action)), "µs", 40.0);
        let nothing = cedar("permit (principal in Punk::Tag::\"nobody\", action, resource);");
        let question = micros(|| decide(&nothing, &facts, &action));
        println!("{:<66} {question:>9.2} µs", "Cedar: of that, putting the question");
        let sets = [10, 100, 500, 2_000].map(|count| {
            let began = Instant::now();
            let set = cedar(&of_which_ten_can_apply(count));
            (count, set, began.elapsed().as_secs_f64() * 1e3)
        });
        let verdicts = medians(&sets.each_ref().map(|(_, set, _)| || decide(set, &facts, &action)));
        for ((count, _, loading), verdict) in sets.iter().zip(&verdicts) {
            let name = format!("Cedar: ten of {count} statements can apply");
            println!("{name:<66} {verdict:>9.2} µs, loaded in {loading:.0} ms");
        }
        bar("Cedar: ten of 2,000 beside ten of 10", verdicts[3] / verdicts[0], "×", 1.3);
    }
    if !met {
        std::process::exit(1);
    }
}

/// An agent of an office, as it usually asks.
fn asking() -> Facts {
    let mut facts = facts();
    facts.tags = vec!["batch".to_owned(), "mail".to_owned()];
    facts.labels = vec!["internal".to_owned()];
    facts.tool = Some("send_email".to_owned());
    (facts.trust_tier, facts.trust_score_milli) = (TrustTier::Trusted, 720);
    facts
}

/// The median of many calls, in microseconds.
fn micros<T>(work: impl Fn() -> T) -> f64 {
    medians(&[work])[0]
}

/// The same of several things, in turn, so that a busy neighbour counts for all of them. Each figure is of a hundred calls,
/// so that the clock does not count.
fn medians<T>(works: &[impl Fn() -> T]) -> Vec<f64> {
    let mut figures = vec![Vec::new(); works.len()];
    for _ in 0..300 {
        for (work, figures) in works.iter().zip(&mut figures) {
            let began = Instant::now();
            for _ in 0..100 {
                black_box(work());
            }
            figures.push(began.elapsed().as_secs_f64() * 1e6 / 100.0);
        }
    }
    let median = |mut figures: Vec<f64>| {
        figures.sort_by(f64::total_cmp);
        figures[figures.len() / 2]
    };
    figures.into_iter().map(median).collect()
}

/// Rules of which one in ten is about the action, and only the last decides.
fn rules(count: usize) -> String {
    let mut text = "name: office\nversion: '1'\ndefaultEffect: deny\nrules:\n".to_owned();
    for n in 1..count {
        let (actions, when) = match n % 10 {
            0 => ("'write:*'".to_owned(), "{costUsd: '> 900', model: ['gpt-4*']}"),
            1 => (format!("'read:thing-{n}', 'write:thing-{n}'"), "{sideEffectLevel: '>= 3'}"),
            _ => (format!("'write:thing-{n}'"), "{hour: '8-18', tags: [batch]}"),
        };
        text += &format!("  - {{effect: deny, actions: [{actions}], when: {when}}}\n");
    }
    text + "  - {effect: allow, actions: ['write:email']}\n"
}

fn cedar(text: &str) -> PolicySet {
    load(&[file("office.cedar", text)]).unwrap()
}

/// Statements as an office has them: by tag, tier, agent, action and resource, a few for everybody.
fn office() -> String {
    let verbs = ["read", "write", "delete", "execute", "model"];
    let statement = |n: usize| {
        let verb = verbs[n % verbs.len()];
        match n % 8 {
            0 if n.is_multiple_of(40) => {
                "forbid (principal, action, resource) when { context.labels.contains(\"secret\") };"
                    .to_owned()
            }
            0 | 1 => format!(
                "permit (principal in Punk::Tag::\"team-{n}\", action == Punk::Action::\"{verb}\", resource);"
            ),
            2 => format!(
                "permit (principal in Punk::Tier::\"trusted\", action == Punk::Action::\"{verb}\", resource) \
                 when {{ context.hour >= 8 && context.hour < 18 && principal.scoreMilli > {n} }};"
            ),
            3 => format!(
                "forbid (principal, action == Punk::Action::\"{verb}\", resource == Punk::Resource::\"thing-{n}\") \
                 when {{ context.sideEffectLevel >= 3 }};"
            ),
            4 => format!("permit (principal == Punk::Agent::\"agent-{n}\", action, resource);"),
            5 => format!(
                "@requiresApproval(\"true\") permit (principal in Punk::App::\"app-{n}\", \
                 action in [Punk::Action::\"write\", Punk::Action::\"delete\"], resource);"
            ),
            6 => format!(
                "permit (principal in Punk::Tag::\"batch\", action == Punk::Action::\"{verb}\", resource) \
                 unless {{ context has costMicroUsd && context.costMicroUsd > {n}00000 }};"
            ),
            _ => format!(
                "forbid (principal in Punk::Tag::\"team-{n}\", action, resource) when {{ context.weekday == \"sun\" }};"
            ),
        }
    };
    (0..200).map(|n| statement(n) + "\n").collect()
}

/// Ten statements that can apply, among others that are for somebody or something else.
fn of_which_ten_can_apply(count: usize) -> String {
    let mut text = String::new();
    for n in 0..count {
        text += &match n * 10 % count {
            0..10 => format!(
                "permit (principal in Punk::Tag::\"mail\", action == Punk::Action::\"write\", resource == \
                 Punk::Resource::\"email\") when {{ context.hour != {} && principal.scoreMilli > {} }};\n",
                n % 24 + 24,
                n % 500
            ),
            _ => format!(
                "permit (principal in Punk::Tag::\"team-{n}\", action == Punk::Action::\"write\", resource) \
                 when {{ context.hour > 8 }};\n"
            ),
        };
    }
    text
}
