//! The bars, and how each is measured.

use std::collections::BTreeSet;
use std::hint::black_box;
use std::time::Instant;

use artifact::fingerprint::Templates;
use artifact::program::Input;
use artifact::text::stable_hash;

use crate::data::{self, Labelled, draw, shuffled};
use crate::report::{Report, percent};
use crate::stream::{Log, classify, shares};
use crate::{Arguments, extraction, mail, promise, serving};

/// Measures everything.
pub(crate) fn measure(arguments: &Arguments) -> Result<Report, String> {
    let banking = data::banking(&arguments.data)?;
    let snips = data::snips(&arguments.data)?;
    let seeds: Vec<u64> = (0..if arguments.quick { 1 } else { arguments.shuffles.max(1) })
        .map(|at| arguments.seed + at)
        .collect();
    let mut report = Report::default();
    let told = |what: &str| eprintln!("measuring {what}");
    told("classification");
    let learned = classification(&mut report, &banking, &seeds);
    told("fields");
    fields(&mut report, &snips, &seeds);
    told("mails");
    mails(&mut report, arguments);
    told("a noisy teacher");
    noise(&mut report, &banking, arguments.seed);
    told("shift");
    shift(&mut report, &banking, &seeds);
    told("promises");
    lives(&mut report, arguments);
    told("costs");
    costs(&mut report, &banking, &learned, arguments);
    Ok(report)
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn classification(report: &mut Report, rows: &[Labelled], seeds: &[u64]) -> Log {
    let mut logs: Vec<Log> =
        seeds.iter().map(|seed| classify(shuffled(rows, *seed), Vec::new(), 0.01, *seed)).collect();
    let quarter = rows.len() * 3 / 4;
    report.at_least(
        "banking77: served of the whole stream",
        mean(logs.iter().map(|log| shares(&log.done).0)),
        0.45,
    );
    report.at_least(
        "banking77: served of the last quarter",
        mean(logs.iter().map(|log| shares(&log.done[quarter..]).0)),
        0.65,
    );
    report.at_least(
        "banking77: agreement of what was served",
        mean(logs.iter().map(|log| shares(&log.done).1)),
        0.99,
    );
    for (seed, log) in seeds.iter().zip(&logs) {
        let ((all, agreed), (last, last_agreed)) = (shares(&log.done), shares(&log.done[quarter..]));
        report.notes.push(format!(
            "banking77, seed {seed}, {} requests: promoted at {:?}, {} at {}; last quarter {} at {}; {} versions",
            log.done.len(), log.promoted, percent(all), percent(agreed), percent(last), percent(last_agreed), log.learner.version()
        ));
    }
    logs.swap_remove(0)
}

fn fields(report: &mut Report, rows: &[(String, Vec<learning::tag::Gold>)], seeds: &[u64]) {
    let runs: Vec<_> = seeds.iter().map(|seed| extraction::extract(&shuffled(rows, *seed), 0.01)).collect();
    report.at_least(
        "SNIPS: fields served",
        mean(runs.iter().map(|(all, served, ..)| *served as f64 / *all as f64)),
        0.5,
    );
    report.at_least(
        "SNIPS: precision of what was served",
        mean(runs.iter().map(|(_, served, wrong, _)| 1.0 - *wrong as f64 / (*served).max(1) as f64)),
        0.99,
    );
    for (seed, (all, served, wrong, _)) in seeds.iter().zip(&runs) {
        report
            .notes
            .push(format!("SNIPS, seed {seed}: {all} fields, {served} served, {wrong} of them wrong"));
    }
}

fn mails(report: &mut Report, arguments: &Arguments) {
    let (done, promoted, compiler) = mail::serve(arguments.seed, 20_000);
    let (served, agreed) = shares(&done);
    report.at_least("support mail: served", served, 0.9);
    report.at_least("support mail: agreement of what was served", agreed, 0.99);
    report.bounded(
        "support mail: requests before the first promotion",
        promoted.unwrap_or(usize::MAX) as f64,
        500.0,
        "requests",
    );
    if let Some(attempt) = compiler.attempts().last() {
        report.notes.push(format!("support mail, last attempt: {}", attempt.report.join("; ")));
    }
}

/// Live answers something else to every twentieth request.
fn noise(report: &mut Report, rows: &[Labelled], seed: u64) {
    let labels: Vec<String> =
        rows.iter().map(|(_, label)| label.clone()).collect::<BTreeSet<_>>().into_iter().collect();
    let noisy: Vec<Labelled> = shuffled(rows, seed)
        .into_iter()
        .zip(0..)
        .map(|((text, label), at)| {
            let other = labels[(draw(seed ^ 0xabc, at) * labels.len() as f64) as usize].clone();
            (text, if draw(seed ^ 0xdef, at) < 0.05 { other } else { label })
        })
        .collect();
    let strict = classify(noisy.clone(), Vec::new(), 0.01, seed);
    let none = strict.promoted.is_none();
    report.push(
        "noisy teacher, 1 % promised: promotions",
        usize::from(!none).to_string(),
        "0".to_owned(),
        none,
    );
    report.notes.push(format!("noisy teacher, 1 %: {}", strict.reason));
    let loose = classify(noisy, Vec::new(), 0.08, seed);
    let (served, agreed) = shares(&loose.done);
    report.at_most("noisy teacher, 8 % promised: disagreement", 1.0 - agreed, 0.08);
    report.notes.push(format!(
        "noisy teacher, 8 %: promoted at {:?}, {} served",
        loose.promoted,
        percent(served)
    ));
}

/// A fifth of the classes is only seen after promotion.
fn shift(report: &mut Report, rows: &[Labelled], seeds: &[u64]) {
    let logs: Vec<(Log, usize)> = seeds
        .iter()
        .map(|seed| {
            let mut labels: Vec<&String> =
                rows.iter().map(|(_, label)| label).collect::<BTreeSet<_>>().into_iter().collect();
            labels.sort_by_key(|label| stable_hash(*seed, label.as_bytes()));
            let late: BTreeSet<&String> = labels.iter().take(labels.len() / 5).copied().collect();
            let (held, known): (Vec<Labelled>, Vec<Labelled>) =
                shuffled(rows, *seed).into_iter().partition(|(_, label)| late.contains(label));
            let log = classify(known, held, 0.01, *seed);
            let from = log.promoted.unwrap_or(log.done.len());
            (log, from)
        })
        .collect();
    report.at_least(
        "shift, a fifth of the classes new: agreement",
        mean(logs.iter().map(|(log, from)| shares(&log.done[*from..]).1)),
        0.99,
    );
    report.at_least(
        "shift: served since promotion",
        mean(logs.iter().map(|(log, from)| shares(&log.done[*from..]).0)),
        0.4,
    );
    for (seed, (log, from)) in seeds.iter().zip(&logs) {
        let (served, agreed) = shares(&log.done[*from..]);
        report.notes.push(format!(
            "shift, seed {seed}: promoted at {:?}, since then {} at {}, demoted {} times",
            log.promoted,
            percent(served),
            percent(agreed),
            log.demoted
        ));
    }
}

fn lives(report: &mut Report, arguments: &Arguments) {
    let (streams, made_up) = if arguments.quick { (200, 24) } else { (500, 200) };
    let seeds = || (0..streams).map(|at| arguments.seed * 1000 + at);
    let jumps: Vec<_> = seeds()
        .map(|seed| promise::live(seed, 0.001, 0.3, 2000, 4000, 100_000))
        .filter(|life| life.promoted)
        .collect();
    let in_time = jumps.iter().filter(|life| life.until_demoted.is_some_and(|served| served <= 200)).count();
    report.at_least(
        "jump to 30 % disagreement: demoted within 200 served",
        in_time as f64 / jumps.len().max(1) as f64,
        0.95,
    );
    let mut delays: Vec<usize> = jumps.iter().filter_map(|life| life.until_demoted).collect();
    delays.sort_unstable();
    report.notes.push(format!(
        "jump: served until demotion, median {:?}, most {:?}, of {} streams",
        delays.get(delays.len() / 2),
        delays.last(),
        jumps.len()
    ));
    let sound: Vec<_> = seeds().map(|seed| promise::live(seed, 0.001, 0.01, 1, 10_000, 200_000)).collect();
    let sound: Vec<_> = sound
        .into_iter()
        .chain(seeds().map(|seed| promise::live(seed ^ 0xffff, 0.001, 0.005, 1, 10_000, 200_000)))
        .filter(|life| life.promoted)
        .collect();
    let demoted = sound.iter().filter(|life| life.until_demoted.is_some()).count();
    report.at_most(
        "sound artifacts demoted in 10,000 served",
        demoted as f64 / sound.len().max(1) as f64,
        0.01,
    );
    let known: Vec<_> = seeds()
        .map(|seed| promise::live(seed, 0.0002 * 250_f64.powf(draw(seed, 7)), 0.0, usize::MAX, 5000, 8000))
        .collect();
    let promoted = known.iter().filter(|life| life.served > 0).count();
    let kept = known.iter().filter(|life| life.wrong as f64 <= 0.01 * life.served as f64).count();
    report.at_least(
        &format!("the promise, {streams} artifacts of any disagreement ({promoted} promoted)"),
        kept as f64 / known.len() as f64,
        0.95,
    );
    let learned: Vec<Log> = (0..made_up)
        .map(|at| classify(promise::made_up(arguments.seed * 777 + at, 3000), Vec::new(), 0.01, at))
        .collect();
    let served = learned.iter().filter(|log| log.promoted.is_some()).count();
    let kept = learned.iter().filter(|log| shares(&log.done).1 >= 0.99).count();
    report.at_least(
        &format!("the promise, {made_up} made-up tasks learned ({served} promoted)"),
        kept as f64 / learned.len() as f64,
        0.95,
    );
    report.notes.push(format!(
        "made-up tasks: {} served on average",
        percent(mean(learned.iter().map(|log| shares(&log.done).0)))
    ));
}

fn costs(report: &mut Report, banking: &[Labelled], learned: &Log, arguments: &Arguments) {
    let (_, _, compiler) = mail::serve(arguments.seed, 1000);
    if let Some(artifact) = compiler.artifact() {
        let inputs: Vec<String> = (0..2000).map(|at| mail::mail(arguments.seed ^ 0xbeef, at).input).collect();
        let cost = serving::median(&inputs, |input| {
            black_box(artifact.answer(&Input::new(input.as_str())));
        });
        report.bounded("an answer of a program, median", cost, 50.0, "µs");
    }
    let classifier = learned.learner.classifier();
    let cost = serving::median(&banking[..2000.min(banking.len())], |(text, _)| {
        black_box(classifier.judge(text));
    });
    report.bounded("an answer of a classifier, median", cost, 200.0, "µs");
    let begun = Instant::now();
    let (done, ..) = mail::serve(arguments.seed + 1, 100_000);
    let mut templates = Templates::default();
    for at in 0..100_000 {
        black_box(templates.observe("support", &mail::mail(arguments.seed, at).input));
    }
    report.bounded(
        "100,000 new runs: patterns, answers, comparisons",
        begun.elapsed().as_secs_f64(),
        30.0,
        "s",
    );
    report.notes.push(format!(
        "{} templates from 100,000 mails; {} of 100,000 served",
        templates.all().len(),
        percent(shares(&done).0)
    ));
}
