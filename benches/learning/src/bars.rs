//! The bars, and how each is measured.

use std::collections::BTreeSet;
use std::hint::black_box;
use std::time::Instant;

use artifact::fingerprint::{Templates, skeleton};
use artifact::program::{Input, Limits, run};
use artifact::text::stable_hash;
use learning::tag::Gold;

use crate::data::{self, Labelled, draw, shuffled};
use crate::report::{Report, percent};
use crate::stream::{Log, classify, ideal, served_after_jump, shares};
use crate::{Arguments, extraction, mail, promise, serving};

/// Measures everything.
pub(crate) fn measure(arguments: &Arguments) -> Result<Report, String> {
    let banking = data::banking(&arguments.data)?;
    let utterances = data::utterances(&arguments.data.join("snips2017"))?;
    let snips: Vec<(String, Vec<Gold>)> =
        utterances.iter().map(|one| (one.text.clone(), one.gold.clone())).collect();
    let intents: Vec<Labelled> =
        utterances.iter().map(|one| (one.text.clone(), one.intent.clone())).collect();
    let seeds: Vec<u64> = (0..if arguments.quick { 1 } else { arguments.shuffles.max(1) })
        .map(|at| arguments.seed + at)
        .collect();
    let mut report = Report::default();
    let wanted = |part: &str| {
        let all =
            arguments.only.is_empty() || arguments.only.iter().any(|only| part.starts_with(only.as_str()));
        if all {
            eprintln!("measuring {part}");
        }
        all
    };
    let mut learned = None;
    if wanted("classification") {
        learned = Some(classification(&mut report, "banking77", &banking, &seeds, (0.45, 0.65)));
    }
    if wanted("fields") {
        fields(&mut report, "SNIPS", &snips, &seeds);
        answers(&mut report, &utterances, &seeds);
    }
    if wanted("others") {
        classification(&mut report, "SNIPS intents", &intents, &seeds[..1], (0.45, 0.65));
        for path in &arguments.classification {
            let rows = data::classification(path)?;
            classification(&mut report, &path.display().to_string(), &rows, &seeds, (0.45, 0.65));
            shift(&mut report, &path.display().to_string(), &rows, &seeds);
        }
        for path in &arguments.extraction {
            let rows: Vec<_> = data::utterances(path)?.into_iter().map(|one| (one.text, one.gold)).collect();
            fields(&mut report, &path.display().to_string(), &rows, &seeds);
        }
    }
    if wanted("mails") {
        mails(&mut report, &seeds);
    }
    if wanted("noise") {
        noise(&mut report, &banking, arguments.seed);
    }
    if wanted("shift") {
        shift(&mut report, "banking77", &banking, &seeds);
    }
    if wanted("jumps") {
        jumps(&mut report, &banking, &seeds);
    }
    if wanted("lives") {
        lives(&mut report, arguments);
    }
    if wanted("tasks") {
        tasks(&mut report, arguments);
    }
    if wanted("costs") {
        let learned =
            learned.unwrap_or_else(|| classify(shuffled(&banking, seeds[0]), Vec::new(), 0.01, seeds[0]));
        costs(&mut report, &banking, &learned, arguments);
    }
    Ok(report)
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// A stream to classify, with what is wanted of the whole and of its last quarter.
fn classification(
    report: &mut Report,
    name: &str,
    rows: &[Labelled],
    seeds: &[u64],
    wanted: (f64, f64),
) -> Log {
    let mut logs: Vec<Log> =
        seeds.iter().map(|seed| classify(shuffled(rows, *seed), Vec::new(), 0.01, *seed)).collect();
    let quarter = rows.len() * 3 / 4;
    let of = |figure: fn(&Log, usize) -> f64| logs.iter().map(|log| figure(log, quarter)).collect::<Vec<_>>();
    report.middle_at_least(
        &format!("{name}: served of the whole stream"),
        of(|log, _| shares(&log.done).0),
        wanted.0,
    );
    report.middle_at_least(
        &format!("{name}: served of the last quarter"),
        of(|log, quarter| shares(&log.done[quarter..]).0),
        wanted.1,
    );
    report.middle_at_least(
        &format!("{name}: agreement of what was served"),
        of(|log, _| shares(&log.done).1),
        0.99,
    );
    for (seed, log) in seeds.iter().zip(&logs) {
        let ((all, agreed), (last, last_agreed)) = (shares(&log.done), shares(&log.done[quarter..]));
        report.notes.push(format!(
            "{name}, seed {seed}, {} requests: promoted at {:?}, {} at {}; last quarter {} at {}; {} versions",
            log.done.len(), log.promoted, percent(all), percent(agreed), percent(last), percent(last_agreed), log.learner.version()
        ));
        let quarters = log.done.chunks(log.done.len().div_ceil(4)).map(|part| {
            let (served, agreed) = shares(part);
            format!("{} at {} (ideal {})", percent(served), percent(agreed), percent(ideal(part, 0.99)))
        });
        report.notes.push(format!("  by quarter: {}", quarters.collect::<Vec<_>>().join(", ")));
    }
    logs.swap_remove(0)
}

fn fields(report: &mut Report, name: &str, rows: &[(String, Vec<Gold>)], seeds: &[u64]) {
    let runs: Vec<_> = seeds.iter().map(|seed| extraction::extract(&shuffled(rows, *seed), 0.01)).collect();
    report.middle_at_least(
        &format!("{name}: fields served"),
        runs.iter().map(|(all, served, ..)| *served as f64 / (*all).max(1) as f64).collect(),
        0.5,
    );
    report.middle_at_least(
        &format!("{name}: precision of what was served"),
        runs.iter().map(|(_, served, wrong, _)| 1.0 - *wrong as f64 / (*served).max(1) as f64).collect(),
        0.99,
    );
    for (seed, (all, served, wrong, _)) in seeds.iter().zip(&runs) {
        report
            .notes
            .push(format!("{name}, seed {seed}: {all} fields, {served} served, {wrong} of them wrong"));
    }
}

/// Whole answers, one kind of work for each intent, as the loop serves them.
fn answers(report: &mut Report, utterances: &[data::Utterance], seeds: &[u64]) {
    let intents: BTreeSet<&str> = utterances.iter().map(|one| one.intent.as_str()).collect();
    let (mut all, mut served, mut wrong) = (0, 0, 0);
    let mut slowest = 0.0_f64;
    for intent in intents {
        let rows = utterances.iter().filter(|one| one.intent == intent);
        let rows: Vec<_> = rows.map(|one| (one.text.clone(), one.gold.clone())).collect();
        for seed in seeds {
            let log = extraction::answer(&shuffled(&rows, *seed), 0.01);
            (all, served, wrong) = (all + log.all, served + log.served, wrong + log.wrong);
            let program = log.extractor.program();
            let cost = serving::median(&rows, |(text, _)| {
                black_box(run(&program, &Input::new(text.as_str()), Limits::default()));
            });
            slowest = slowest.max(cost);
            report.notes.push(format!(
                "SNIPS, whole answers of {intent}, seed {seed}: {} of {} served, {} of them wrong, promoted at {:?}",
                log.served, log.all, log.wrong, log.promoted
            ));
        }
    }
    report.bounded("an answer of a tagger, median of the slowest kind", slowest, 200.0, "µs");
    report.notes.push(format!(
        "SNIPS, whole answers: {} served, {} of those agree",
        percent(f64::from(served as u32) / f64::from(all.max(1) as u32)),
        percent(1.0 - f64::from(wrong as u32) / f64::from(served.max(1) as u32)),
    ));
}

fn mails(report: &mut Report, seeds: &[u64]) {
    let runs: Vec<_> = seeds.iter().map(|seed| mail::serve(*seed, 20_000)).collect();
    let shares_of =
        |one: fn((f64, f64)) -> f64| runs.iter().map(|run| one(shares(&run.0))).collect::<Vec<_>>();
    report.middle_at_least("support mail: served", shares_of(|(served, _)| served), 0.9);
    report.middle_at_least(
        "support mail: agreement of what was served",
        shares_of(|(_, agreed)| agreed),
        0.99,
    );
    let latest = runs.iter().map(|(_, promoted, _)| promoted.unwrap_or(usize::MAX)).max().unwrap_or(0);
    report.bounded(
        "support mail: requests before the first promotion, latest",
        latest as f64,
        500.0,
        "requests",
    );
    if let Some(attempt) = runs.first().and_then(|(.., compiler)| compiler.attempts().last()) {
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
    let tried = loose.promoted.is_some();
    report.push(
        "noisy teacher, 8 % promised: promotions, so that the promise is tried",
        usize::from(tried).to_string(),
        "1".to_owned(),
        tried,
    );
    report.notes.push(format!(
        "noisy teacher, 8 %: promoted at {:?}, {} served",
        loose.promoted,
        percent(served)
    ));
}

/// A fifth of the classes is only seen after promotion.
fn shift(report: &mut Report, name: &str, rows: &[Labelled], seeds: &[u64]) {
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
    report.middle_at_least(
        &format!("{name}, a fifth of the classes new: agreement"),
        logs.iter().map(|(log, from)| shares(&log.done[*from..]).1).collect(),
        0.99,
    );
    report.middle_at_least(
        &format!("{name}, a fifth of the classes new: served since promotion"),
        logs.iter().map(|(log, from)| shares(&log.done[*from..]).0).collect(),
        0.4,
    );
    for (seed, (log, from)) in seeds.iter().zip(&logs) {
        let (served, agreed) = shares(&log.done[*from..]);
        report.notes.push(format!(
            "{name}, shift, seed {seed}: promoted at {:?}, since then {} at {}, demoted {} times, strange {} times",
            log.promoted,
            percent(served),
            percent(agreed),
            log.demoted,
            log.strange
        ));
    }
}

/// Live changes what it says, to a classifier that serves.
fn jumps(report: &mut Report, rows: &[Labelled], seeds: &[u64]) {
    let places = [5, 6, 8].map(|tenths| rows.len() * tenths / 10);
    let served: Vec<usize> = seeds
        .iter()
        .flat_map(|seed| places.map(|from| served_after_jump(rows, *seed, from, 0.3)))
        .flatten()
        .collect();
    let in_time = served.iter().filter(|served| **served <= 200).count();
    report.at_least(
        "banking77, jump to 30 % disagreement: demoted within 200 served",
        in_time as f64 / served.len().max(1) as f64,
        1.0,
    );
    report.notes.push(format!(
        "banking77, jump: served until demotion, most {:?}, of {} streams",
        served.iter().max(),
        served.len()
    ));
}

fn lives(report: &mut Report, arguments: &Arguments) {
    let streams = if arguments.quick { 200 } else { 500 };
    let seeds = || (0..streams).map(|at| arguments.seed * 1000 + at);
    let jumps: Vec<_> = seeds()
        .map(|seed| promise::live(seed, 0.001, 0.3, 2000, 4000, 100_000))
        .filter(|life| life.promoted)
        .collect();
    let in_time = jumps.iter().filter(|life| life.until_demoted.is_some_and(|served| served <= 200)).count();
    report.at_least(
        "jump to 30 % disagreement: demoted within 200 served",
        in_time as f64 / jumps.len().max(1) as f64,
        1.0,
    );
    let mut delays: Vec<usize> = jumps.iter().filter_map(|life| life.until_demoted).collect();
    delays.sort_unstable();
    report.notes.push(format!(
        "jump: served until demotion, median {:?}, most {:?}, of {} streams",
        delays.get(delays.len() / 2),
        delays.last(),
        jumps.len()
    ));
    // Audits become fewer with age: what jumps late is told beside what jumps young.
    let late: Vec<_> = seeds()
        .map(|seed| promise::live(seed, 0.001, 0.3, 6000, 8000, 100_000))
        .filter(|life| life.promoted && life.served >= 6000)
        .collect();
    let in_time = late.iter().filter(|life| life.until_demoted.is_some_and(|served| served <= 200)).count();
    report.notes.push(format!(
        "jump after 6,000 served: {in_time} of {} streams demoted within 200 served",
        late.len()
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
    let promoted: Vec<_> = known.iter().filter(|life| life.served > 0).collect();
    let kept = promoted.iter().filter(|life| life.wrong as f64 <= 0.01 * life.served as f64).count();
    report.at_least(
        &format!("the promise, {} promoted of {streams} artifacts of any disagreement", promoted.len()),
        kept as f64 / promoted.len().max(1) as f64,
        0.95,
    );
}

/// Small tasks that no data set knows, some of which have a teacher that contradicts itself more often than is promised.
fn tasks(report: &mut Report, arguments: &Arguments) {
    let made_up = if arguments.quick { 40 } else { 200 };
    let learned: Vec<Log> = (0..made_up)
        .map(|at| classify(promise::made_up(arguments.seed * 777 + at, 3000), Vec::new(), 0.01, at))
        .collect();
    let promoted = learned.iter().filter(|log| log.promoted.is_some()).count();
    let broken: Vec<(usize, &Log)> =
        learned.iter().enumerate().filter(|(_, log)| shares(&log.done).1 < 0.99).collect();
    report.at_least(
        &format!("the promise, over {made_up} made-up tasks"),
        1.0 - broken.len() as f64 / made_up as f64,
        0.95,
    );
    // Whoever is never promoted keeps a promise that nobody heard.
    report.notes.push(format!(
        "made-up tasks: {promoted} promoted, of which {} kept the promise",
        percent(1.0 - broken.len() as f64 / promoted.max(1) as f64)
    ));
    for (at, log) in broken {
        let served = log.done.iter().filter(|one| one.served).count();
        let wrong = log.done.iter().filter(|one| one.served && !one.right).count();
        report.notes.push(format!(
            "made-up task {at}: promoted at {:?}, {wrong} of {served} served differed",
            log.promoted
        ));
    }
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
        black_box(templates.observe("support", skeleton(&mail::mail(arguments.seed, at).input)));
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
