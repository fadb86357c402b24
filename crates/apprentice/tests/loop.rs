//! The whole loop over the store in memory: runs in the log become patterns, artifacts, promotions and demotions, and the log alone says so.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

mod world;

use std::sync::Arc;

use apprentice::{
    Apprentice, Considered, Learned, Occasion, ReplayEvaluation, Shelf, StoredPattern, order, read,
};
use jobs::{Context, Handler as _};
use schema::{RunId, TenantId};
use serde_json::json;
use store::{JobState, RecordKind, View as _};
use wire::Wire;
use world::{ALL, CHOICE, World, clock, mail, request};

#[tokio::test]
async fn repeated_work_becomes_a_pattern_a_shadow_and_an_artifact_that_an_operator_promotes() {
    let mut world = World::new(false);
    world.live(0, 15).await;
    assert_eq!(world.tick().await.patterns_discovered, 1);
    assert_eq!(world.state().await, "observed");
    world.live(15, 20).await;
    world.tick().await;
    assert_eq!(world.state().await, "synthesizing");
    world.proven().await;
    let made = world.made().await;
    assert!(made.gates().all_pass() && made.confidence() >= 0.99, "{:?}", made.gates());
    assert!(
        world.records(RecordKind::Attempt).await.iter().any(|record| record.body["outcome"] == "synthesized")
    );
    world.order(order::PROMOTED, &made.id.to_string()).await;
    world.tick().await;
    assert_eq!(world.state().await, "promoted");

    let shelf = Shelf::new(CHOICE);
    assert_eq!(shelf.refresh(&*world.store, clock()).await.unwrap(), 1);
    let asked = Wire::Chat.read_request(&request("please paint the door number 7 red today")).unwrap();
    let mut served = 0;
    for at in 0..64_u8 {
        let run = RunId::new(1, [at; 10]);
        match shelf.consider(world.tenant, "gpt-4o", &asked, (run, false, clock())) {
            Considered::Serve(offered) => {
                served += 1;
                assert_eq!(offered.answer.text(), "red");
            }
            Considered::Audit(offered) => shelf.compared(&offered, true),
            other => panic!("{other:?}"),
        }
    }
    assert!((32..62).contains(&served), "the canary grows, and an audit stays: {served}");
    let other = TenantId::new(1, [1; 10]);
    assert!(matches!(
        shelf.consider(other, "gpt-4o", &asked, (RunId::NIL, false, clock())),
        Considered::Nothing
    ));
}

#[tokio::test]
async fn an_answer_that_is_always_the_same_is_a_constant_until_it_is_not() {
    let mut world = World::new(false);
    let mut at = 0;
    while at < 720 && (at < 60 || world.state().await != "eligible") {
        for _ in 0..60 {
            world.record(&mail(at).0, "live", "noted", None).await;
            at += 1;
        }
        world.tick().await;
    }
    let made = world.made().await;
    assert_eq!((world.state().await.as_str(), made.kind.as_str()), ("eligible", "program"));
    assert!(
        world.texts().await.iter().any(|text| text.contains("\"constant\"")),
        "{:?}",
        world.texts().await
    );
    world.order(order::PROMOTED, &made.id.to_string()).await;
    world.tick().await;
    let asked = Wire::Chat.read_request(&request("please paint the door number 7 red today")).unwrap();
    let (shelf, tenant) = (Shelf::new(CHOICE), world.tenant);
    shelf.refresh(&*world.store, clock()).await.unwrap();
    let answers = |shelf: &Shelf| -> Vec<String> {
        let run = |at: u8| RunId::new(1, [at; 10]);
        let considered = |at| shelf.consider(tenant, "gpt-4o", &asked, (run(at), false, clock()));
        let served = (0..32).filter_map(|at| match considered(at) {
            Considered::Serve(offered) => Some(offered.answer.text()),
            _ => None,
        });
        served.collect()
    };
    let constant = answers(&shelf);
    assert!(constant.len() > 8 && constant.iter().all(|said| said == "noted"), "{constant:?}");

    // From now on it depends on the colour, and a classifier learns it.
    world.live(at, at + 1).await;
    world.tick().await;
    assert_eq!(world.made().await.kind, "classifier");
    world.live(at + 1, at + 240).await;
    world.tick().await;
    shelf.refresh(&*world.store, clock()).await.unwrap();
    assert!(answers(&shelf).iter().all(|said| said == "red"), "{:?}", answers(&shelf));
}

#[tokio::test]
async fn requests_that_become_strange_are_noticed_and_on_record() {
    const NOTICED: &str = "requests are no longer what they were: more is compared";
    let mut world = World::new(false);
    world.proven().await;
    let made = world.made().await;
    world.order(order::PROMOTED, &made.id.to_string()).await;
    // What is usual is said by what comes first.
    world.live(10_000, 10_300).await;
    world.tick().await;
    let noticed = |made: apprentice::Made| made.changes.iter().any(|changed| changed.reason == NOTICED);
    assert!(!noticed(world.made().await), "nothing has changed yet");
    for at in 0..40 {
        world.record(&format!("zzgrk vlomp {at} qqxth brumf wexil"), "live", "red", None).await;
    }
    world.tick().await;
    assert!(noticed(world.made().await));
}

#[tokio::test]
async fn what_is_proven_is_promoted_by_itself_only_where_that_is_on_and_on_record() {
    let mut world = World::new(true);
    let mut promoted = Vec::new();
    for part in 0..12 {
        world.live(part * 60, part * 60 + 60).await;
        promoted.extend(world.tick().await.auto_promoted);
    }
    assert_eq!(promoted.len(), 1);
    assert_eq!(world.state().await, "promoted");
    assert!(world.made().await.changes.iter().any(|changed| changed.reason == "promoted by punk"));
}

#[tokio::test]
async fn wherever_ticks_cut_the_log_and_whatever_is_forgotten_the_same_is_learned() {
    let mut world = World::new(false);
    world.proven().await;
    let id = world.made().await.id.to_string();
    world.order(order::PROMOTED, &id).await;
    let (text, answer) = mail(9_000);
    let said = json!({ "artifactId": id, "version": 3, "said": "mauve" });
    world.record(&text, "live", answer, Some(("artifact.compared", said))).await;
    let executed = json!({ "artifactId": id, "version": 3, "artifact": "x", "engine": "y" });
    world.record(&text, "artifact", answer, Some(("artifact.executed", executed))).await;
    world.tick().await;
    let made = world.made().await;
    assert_eq!((made.served, made.course.audited().disagreed), (1, 1));

    let view = Learned(Arc::new(Apprentice::new(Arc::clone(&world.store), clock, CHOICE, false)));
    let rebuilt = view.rebuild(world.tenant).await.unwrap();
    assert_eq!(rebuilt.repaired, 0, "{rebuilt:?}");
    assert!(rebuilt.entries >= 3, "{rebuilt:?}");

    // Another process goes on from what the first has kept.
    let fresh = Apprentice::new(Arc::clone(&world.store), clock, CHOICE, false);
    world.live(9_001, 9_080).await;
    fresh.tick(world.tenant, &|| true).await.unwrap();
    assert_eq!(view.rebuild(world.tenant).await.unwrap().repaired, 0);
}

#[tokio::test]
async fn a_teacher_that_changes_its_mind_takes_the_artifact_out_of_service() {
    let mut world = World::new(false);
    world.proven().await;
    let id = world.made().await.id.to_string();
    world.order(order::PROMOTED, &id).await;
    for at in 5_000..5_030 {
        let (text, said) = mail(at);
        let compared = json!({ "artifactId": id, "version": 1, "said": said });
        world.record(&text, "live", "no paint today", Some(("artifact.compared", compared))).await;
    }
    let report = world.tick().await;
    assert_eq!(report.demoted.len(), 1, "{report:?}");
    let made = world.made().await;
    assert!(!made.gates().all_pass());
    assert_eq!(world.state().await, "shadow");
    let shelf = Shelf::new(CHOICE);
    assert_eq!(shelf.refresh(&*world.store, clock()).await.unwrap(), 0);
}

#[tokio::test]
async fn a_correction_quarantines_and_names_the_version_until_an_operator_releases() {
    let mut world = World::new(false);
    world.proven().await;
    let id = world.made().await.id.to_string();
    world.order(order::PROMOTED, &id).await;
    let executed = json!({ "artifactId": id, "version": 4, "artifact": "x", "engine": "y" });
    let (text, answer) = mail(1);
    let run = world.record(&text, "artifact", answer, Some(("artifact.executed", executed))).await;
    world.feedback(run, json!({ "type": "rating", "rating": -1, "correction": "mauve" })).await;
    assert_eq!(world.tick().await.quarantined.len(), 1);
    let made = world.made().await;
    assert_eq!((made.corrections[0].run, made.corrections[0].version), (run, 4));
    assert_eq!(world.state().await, "quarantined");
    world.order(order::RELEASED, &id).await;
    world.tick().await;
    assert_eq!(world.state().await, "shadow");
}

#[tokio::test]
async fn what_somebody_does_not_like_counts_as_a_comparison_that_differed_and_goes_live() {
    let mut world = World::new(false);
    world.proven().await;
    let made = world.made().await;
    world.order(order::PROMOTED, &made.id.to_string()).await;
    world.tick().await;
    let version = world.made().await.program.unwrap().version;
    let executed = json!({ "artifactId": made.id, "version": version, "artifact": "x", "engine": "y" });
    let mut run = None;
    for at in 1..20 {
        let (text, answer) = mail(at);
        let beside = Some(("artifact.executed", executed.clone()));
        run = Some((world.record(&text, "artifact", answer, beside).await, text));
    }
    let (run, text) = run.unwrap();
    world.feedback(run, json!({ "type": "rating", "rating": 1 })).await;
    world.tick().await;
    assert_eq!(world.made().await.course.audited().compared, 0, "praise proves nothing");
    world.feedback(run, json!({ "type": "rating", "rating": -1 })).await;
    world.tick().await;
    let made = world.made().await;
    assert_eq!((made.course.audited().compared, made.course.audited().disagreed), (1, 1));
    let last = made.evaluations.back().unwrap();
    assert_eq!((last.run, last.kind, last.version), (run, Occasion::Feedback, version));

    let shelf = Shelf::new(CHOICE);
    shelf.refresh(&*world.store, clock()).await.unwrap();
    let asked = Wire::Chat.read_request(&request(&text)).unwrap();
    let now = schema::Timestamp::from_millis(1_700_000_100_000).unwrap();
    let considered = shelf.consider(world.tenant, "gpt-4o", &asked, (RunId::NIL, false, now));
    assert!(
        matches!(&considered, Considered::Pass(why) if why.contains("live said something else")),
        "{considered:?}"
    );
}

#[tokio::test]
async fn a_version_tells_what_it_was_made_of_and_one_that_never_served_is_not_kept_for_ever() {
    let mut world = World::new(false);
    // A day passes between any two runs, so that nothing lingers.
    world.pace = 24 * 3_600_000;
    world.proven().await;
    let made = world.made().await;
    world.order(order::PROMOTED, &made.id.to_string()).await;
    world.tick().await;
    let served = world.made().await.program.unwrap().version;
    let executed = json!({ "artifactId": made.id, "version": served, "artifact": "x", "engine": "y" });
    let (text, answer) = mail(1);
    world.record(&text, "artifact", answer, Some(("artifact.executed", executed))).await;
    world.live(2_000, 2_160).await;
    world.tick().await;
    let made = world.made().await;
    assert!(made.version > served + 3, "there are newer versions: {}", made.version);
    let kept: Vec<(u32, u64)> = made.versions.iter().map(|one| (one.program.version, one.served)).collect();
    assert_eq!(kept.first(), Some(&(served, 1)), "what has served stays: {kept:?}");
    assert_eq!(kept.last().map(|last| last.0), made.program.map(|program| program.version), "{kept:?}");
    assert!(kept.len() <= 3, "{kept:?}");
    assert_eq!(world.texts().await.len(), kept.len(), "a text for each version that is kept, and no other");
    let version = made.versions[0];
    assert!(
        version.samples >= 340 && version.proof.compared >= 300 && version.proof.disagreed == 0,
        "{version:?}"
    );

    let view = Learned(Arc::new(Apprentice::new(Arc::clone(&world.store), clock, CHOICE, false)));
    assert_eq!(view.rebuild(world.tenant).await.unwrap().repaired, 0);
    assert_eq!(world.texts().await.len(), kept.len(), "nor after everything was made again");
}

#[tokio::test]
async fn a_replay_is_a_job_whose_outcome_is_on_record_and_it_can_only_compare() {
    let mut world = World::new(false);
    world.proven().await;
    let artifact = world.made().await.id;
    let store = world.store.tenant(world.tenant);
    let job = ReplayEvaluation::job(artifact, "ann", clock(), [3; 10]);
    let (id, again) = (job.id, ReplayEvaluation::job(artifact, "ann", clock(), [4; 10]));
    store.commit(store::Commit { jobs: vec![job, again], ..store::Commit::default() }).await.unwrap();
    assert_eq!(store.jobs(None, None, ALL).await.unwrap().len(), 1, "one at a time");
    let runs = world.store.tenant(world.tenant).log_size().await.unwrap();

    let handler = ReplayEvaluation(Arc::clone(&world.apprentice));
    let job = store.job(id).await.unwrap().unwrap();
    assert_eq!((job.state, job.kind.as_str()), (JobState::Waiting, handler.kind()));
    handler.handle(&job, &Context::held()).await.unwrap();
    let replay = world.made().await.last_replay.unwrap();
    assert!(replay.report.answered > 50 && replay.report.disagreed == 0, "{replay:?}");
    assert_eq!(replay.report.known, 0);
    let events = store.events(replay.run, schema::Seq::START, ALL).await.unwrap();
    assert!(events.iter().any(|event| event.r#type == "audit.artifact_replayed"), "{events:?}");
    assert_eq!(store.log_size().await.unwrap(), runs + 1, "nothing else happened");
    // Done again, as after a crash, it finds what it knows.
    handler.handle(&job, &Context::held()).await.unwrap();
    let replay = world.made().await.last_replay.unwrap();
    assert_eq!(replay.report.known, replay.report.runs);

    let view = Learned(Arc::new(Apprentice::new(Arc::clone(&world.store), clock, CHOICE, false)));
    assert_eq!(view.rebuild(world.tenant).await.unwrap().repaired, 0, "the log says so, too");
    let nobody = store::Job { payload: json!({ "artifactId": "nobody" }), ..job };
    assert!(matches!(handler.handle(&nobody, &Context::held()).await, Err(jobs::Failure::GiveUp(_))));
}

#[tokio::test]
async fn answers_are_compared_as_somebody_declared_and_what_was_proven_otherwise_is_proven_anew() {
    let mut world = World::new(false);
    world.proven().await;
    let (pattern, made) = (world.pattern().await.study.id.to_string(), world.made().await);
    world.order(order::PROMOTED, &made.id.to_string()).await;
    let by = json!({ "by": "words", "least": 0.5 });
    world.order_with(order::COMPARATOR, &pattern, json!({ "comparator": by })).await;
    world.tick().await;
    assert_eq!(world.state().await, "shadow");
    assert_eq!(json!(world.pattern().await.study.comparator), by);
    // Live is wordier from now on, which is the same by what was declared.
    for at in 3_000..3_040 {
        let (text, colour) = mail(at);
        world.record(&text, "live", &format!("{colour} paint"), None).await;
    }
    world.tick().await;
    let evaluations = world.made().await.evaluations;
    assert!(evaluations.len() > 20 && evaluations.iter().all(|one| one.agreed), "{evaluations:?}");
    let view = Learned(Arc::new(Apprentice::new(Arc::clone(&world.store), clock, CHOICE, false)));
    assert_eq!(view.rebuild(world.tenant).await.unwrap().repaired, 0);
}

#[tokio::test]
async fn an_operator_retires_a_pattern_and_it_stays_so() {
    let mut world = World::new(false);
    world.live(0, 30).await;
    world.tick().await;
    let pattern = world.pattern().await;
    world.order(order::RETIRED, &pattern.study.id.to_string()).await;
    world.live(30, 90).await;
    world.tick().await;
    assert_eq!(world.state().await, "retired");
}

#[tokio::test]
async fn of_two_who_read_the_same_log_one_counts() {
    let mut world = World::new(false);
    world.live(0, 40).await;
    let other = Apprentice::new(Arc::clone(&world.store), clock, CHOICE, false);
    let (one, two) =
        tokio::join!(world.apprentice.tick(world.tenant, &|| true), other.tick(world.tenant, &|| true));
    assert_eq!(one.unwrap().lessons + two.unwrap().lessons, 40);
    let pattern: StoredPattern = read(&world.records(RecordKind::Pattern).await[0]).unwrap();
    assert_eq!(pattern.study.pattern.run_count, 40);
}

/// What compares must not be able to act: there is no way from here to a permit, a model or the network.
#[test]
fn nothing_here_can_act() {
    let manifest = include_str!("../Cargo.toml");
    let needs = manifest.split("[dependencies]").nth(1).unwrap().split("[dev-dependencies]").next().unwrap();
    for able in ["governance", "providers", "egress", "gateway", "outbox", "hyper"] {
        assert!(!needs.lines().any(|line| line.starts_with(able)), "`{able}` can act");
    }
}

/// Paint as ever, but for a rare wish that the first versions have hardly seen: they are wrong about it, later ones know.
fn rare_wish(at: u64) -> (String, String) {
    let (text, colour) = mail(at);
    match at % 36 {
        35 => (format!("{text} in matt finish"), "matt".to_owned()),
        _ => (text, colour.to_owned()),
    }
}

#[tokio::test]
async fn what_the_shadow_has_not_proven_yet_is_proven_by_what_is_recorded_and_on_record() {
    let mut world = World::new(false);
    let mut eligible = Vec::new();
    for at in 0..1_000 {
        let (text, answer) = rare_wish(at);
        world.record(&text, "live", &answer, None).await;
        if at % 50 == 49 {
            eligible.extend(world.tick().await.promotions_eligible);
            if !eligible.is_empty() {
                break;
            }
        }
    }
    let made = world.made().await;
    assert_eq!(eligible, [made.id], "{}", made.gates());
    let last = made.changes.back().unwrap();
    assert_eq!(last.reason, "every gate is passed, by what is recorded", "{:?}", made.changes);
    assert_eq!(made.course.proof().number, 0, "the attempt that counts is the replay: {}", made.gates());
    assert!(made.program.is_some(), "whoever is to decide can look at it");
    world.tick().await;
    let store = world.store.tenant(world.tenant);
    let mut told = Vec::new();
    for row in store.feed(0, ALL).await.unwrap() {
        let events = store.events(row.run, schema::Seq::START, ALL).await.unwrap();
        told.extend(events.into_iter().filter(|event| event.r#type == "audit.artifact_changed"));
    }
    let told = format!("{:?}", told.last().unwrap());
    assert!(told.contains("every gate is passed, by what is recorded"), "{told}");
    let view = Learned(Arc::new(Apprentice::new(Arc::clone(&world.store), clock, CHOICE, false)));
    assert_eq!(view.rebuild(world.tenant).await.unwrap().repaired, 0);
}
