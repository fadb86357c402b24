//! What is promised of what agents did.

use ledger::Event;
use schema::{Day, Timestamp};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::subject::{erase, masters, named};
use super::{Corner, Story, at};
use crate::{
    Append, Commit, ConductRow, RANGE_SEALED, Rebuilt, Seal, Settle, Store, View, conduct_of, sums_of,
};

/// The middle of a day.
fn noon(day: u64) -> Timestamp {
    at(day * 86_400_000 + 43_200_000)
}

fn day(number: u32) -> Day {
    Day::from_number(number).unwrap()
}

/// The run's next events, all of this moment.
fn tell(story: &mut Story, moment: Timestamp, told: &[(&str, Value)]) -> Vec<Event> {
    told.iter().map(|(r#type, fields)| story.event_at(moment, r#type, fields.clone())).collect()
}

pub(super) fn started(agent: &str) -> (&'static str, Value) {
    ("run.started", json!({ "kind": "chat", "agent": agent }))
}

pub(super) fn decided(effect: &str) -> (&'static str, Value) {
    ("policy.decided", json!({ "verdict": { "effect": effect, "policy": "default", "rule": 0 } }))
}

/// Denied for what the agent cannot help.
fn denied_for(policy: &str) -> (&'static str, Value) {
    ("policy.decided", json!({ "verdict": { "effect": "deny", "policy": policy, "rule": null } }))
}

fn finished(status: &str) -> (&'static str, Value) {
    ("run.finished", json!({ "status": status }))
}

fn rated(rating: i64) -> (&'static str, Value) {
    ("feedback.recorded", json!({ "type": "rating", "rating": rating, "correction": "not so" }))
}

/// One of everything on its first day, and more on the next.
async fn live(corner: &Corner, agent: &str, subject: Option<&str>) -> Story {
    let mut story = corner.story();
    let subject = subject.and_then(named);
    let first = [
        started(agent),
        decided("allow"),
        decided("approval_required"),
        decided("deny"),
        denied_for("budget:bud_1"),
        denied_for("remote:away"),
        ("side_effect.planned", json!({ "sideEffect": "a", "toolName": "mail" })),
        ("side_effect.executed", json!({ "sideEffect": "a" })),
        ("side_effect.blocked", json!({ "sideEffect": "b", "reason": "too much" })),
    ];
    let events = tell(&mut story, noon(3), &first);
    let append = Append { subject: subject.clone(), ..story.append(events, Settle::Open) };
    corner.append([append]).await.unwrap();
    let next = [decided("allow"), decided("allow"), finished("failed"), rated(1), rated(-1), rated(-1)];
    let events = tell(&mut story, noon(4), &next);
    corner.append([Append { subject, ..story.append(events, Settle::Leaf) }]).await.unwrap();
    story
}

/// What [`live`] comes to, so many times.
fn lived(agent: &str, times: i64) -> [ConductRow; 2] {
    let first = ConductRow {
        allowed: times,
        asked: times,
        denied: times,
        executed: times,
        blocked: times,
        ..ConductRow::new(agent.to_owned(), day(3))
    };
    let next = ConductRow {
        allowed: 2 * times,
        failed: times,
        praised: times,
        corrected: 2 * times,
        ..ConductRow::new(agent.to_owned(), day(4))
    };
    [first, next]
}

async fn all(corner: &Corner, agent: &str) -> Vec<ConductRow> {
    corner.tenant.conduct(agent, Day::FIRST).await.unwrap()
}

pub async fn what_an_agent_did_adds_up_day_by_day(store: &dyn Store) {
    let (corner, stranger) = (Corner::of(store), Corner::of(store));
    assert_eq!(all(&corner, "helper").await, []);
    let mut story = live(&corner, "helper", None).await;
    assert_eq!(all(&corner, "helper").await, lived("helper", 1));
    live(&corner, "helper", None).await;
    live(&corner, "helper \u{0} é", None).await;
    assert_eq!(all(&corner, "helper").await, lived("helper", 2));
    assert_eq!(all(&corner, "helper \u{0} é").await, lived("helper \u{0} é", 1));
    assert_eq!(all(&corner, "help").await, []);
    assert_eq!(corner.tenant.conduct("helper", day(4)).await.unwrap(), lived("helper", 2)[1..]);
    assert_eq!(corner.tenant.conduct("helper", day(5)).await.unwrap(), []);
    assert_eq!(all(&stranger, "helper").await, [], "another tenant's");

    // A run fails once; what is said later counts on its own day.
    let late = tell(&mut story, noon(9), &[finished("failed"), rated(1)]);
    corner.append([story.append(late, Settle::Leaf)]).await.unwrap();
    let praised = ConductRow { praised: 1, ..ConductRow::new("helper".to_owned(), day(9)) };
    assert_eq!(corner.tenant.conduct("helper", day(5)).await.unwrap(), [praised]);
    // What no agent did, what is no deed, records of the ledger about itself, and what is refused count for nobody.
    let before = all(&corner, "helper").await;
    let mut nobody = corner.story();
    let told = [("run.started", json!({ "kind": "chat" })), decided("deny"), finished("failed")];
    let events = tell(&mut nobody, noon(3), &told);
    corner.append([nobody.append(events, Settle::Leaf)]).await.unwrap();
    let mut record = corner.story();
    let told = [("run.started", json!({ "kind": "audit", "agent": "helper" })), decided("deny")];
    let events = tell(&mut record, noon(3), &told);
    corner.append([record.append(events, Settle::Leaf)]).await.unwrap();
    let mut idle = corner.story();
    let told = [
        started("helper"),
        ("policy.decided", json!({ "verdict": "allow" })),
        ("policy.decided", json!({ "verdict": { "effect": "maybe" } })),
        ("feedback.recorded", json!({ "rating": "good" })),
        rated(0),
        ("note", json!({ "rating": 1, "verdict": { "effect": "deny" } })),
        finished("completed"),
    ];
    let events = tell(&mut idle, noon(3), &told);
    corner.append([idle.append(events, Settle::Leaf)]).await.unwrap();
    let mut refused = corner.story();
    let events = tell(&mut refused, noon(3), &[started("helper"), decided("deny")]);
    let stale = Story::new(corner.id, story.run).finish();
    corner.append([refused.append(events, Settle::Leaf), stale]).await.unwrap_err();
    assert_eq!(all(&corner, "helper").await, before);
}

pub async fn concurrent_deeds_are_all_counted(store: &dyn Store) {
    const MANY: usize = 16;
    const EACH: usize = 5;
    let corner = Corner::of(store);
    let mut tasks = JoinSet::new();
    for task in 0..MANY {
        let tenant = store.tenant(corner.id);
        let mut stories: Vec<Story> = (0..EACH * 2).map(|_| corner.story()).collect();
        tasks.spawn(async move {
            for pair in stories.chunks_mut(2) {
                // Two agents at once, in either order.
                let names = if task % 2 == 0 { ["a", "b"] } else { ["b", "a"] };
                let appends = pair.iter_mut().zip(names).map(|(story, name)| {
                    let mut events = tell(story, noon(4), &[started(name), decided("allow")]);
                    events.extend(tell(story, noon(3), &[decided("deny")]));
                    story.append(events, Settle::Leaf)
                });
                let appends = appends.collect();
                tenant.commit(Commit { appends, ..Commit::default() }).await.unwrap();
            }
        });
    }
    tasks.join_all().await;
    let times = i64::try_from(MANY * EACH).unwrap();
    for name in ["a", "b"] {
        let denied = ConductRow { denied: times, ..ConductRow::new(name.to_owned(), day(3)) };
        let allowed = ConductRow { allowed: times, ..ConductRow::new(name.to_owned(), day(4)) };
        assert_eq!(all(&corner, name).await, [denied, allowed]);
    }
}

pub async fn conduct_made_again_is_equal_also_after_an_erasure_and_after_runs_were_given_up(
    store: &dyn Store,
) {
    store.seal_with(masters());
    let corner = Corner::of(store);
    let mut stories = Vec::new();
    for (agent, subject) in [("helper", Some("ada")), ("helper", Some("bob")), ("crawler", None)] {
        stories.push(live(&corner, agent, subject).await);
    }
    let view = view(store);
    let check = async |when: &str| {
        let rebuilt = view.rebuild(corner.id).await.unwrap();
        assert_eq!(rebuilt, Rebuilt { entries: 4, repaired: 0 }, "{when}");
        assert_eq!(all(&corner, "helper").await, lived("helper", 2), "{when}");
        assert_eq!(all(&corner, "crawler").await, lived("crawler", 1), "{when}");
    };
    check("as it is").await;
    erase(&corner, "ada").await.unwrap();
    // What it was is gone, what became of it is not.
    let said = corner.read(stories[0].run).await;
    let feedback = said.iter().find(|event| event.r#type == "feedback.recorded").unwrap();
    assert_eq!(feedback.payload["correction"].value(), None);
    assert_eq!(feedback.payload["rating"].value(), Some(&json!(1)));
    check("after an erasure").await;

    let (mut rows, mut conduct) = (Vec::new(), Vec::new());
    for story in &stories[..2] {
        rows.push(corner.tenant.run(story.run).await.unwrap().unwrap());
        conduct.extend(conduct_of(story.run, &corner.read(story.run).await));
    }
    let (usage, agents, conduct) = sums_of(&rows.iter().collect::<Vec<_>>(), conduct);
    assert_eq!(conduct, lived("helper", 2));
    let mut record = corner.story();
    let runs = [rows[0].id, rows[1].id];
    let told = [
        ("run.started", json!({ "kind": "audit", "agent": "retention" })),
        (RANGE_SEALED, json!({ "runs": runs, "usage": usage, "agents": agents, "conduct": conduct })),
        finished("completed"),
    ];
    let events = tell(&mut record, noon(90), &told);
    let seal = rows.iter().map(|row| Seal { run: row.id, expected: row.seq }).collect();
    let commit = Commit { appends: vec![record.append(events, Settle::Leaf)], seal, ..Commit::default() };
    corner.tenant.commit(commit).await.unwrap();
    check("after runs were given up").await;
}

fn view(store: &dyn Store) -> Box<dyn View> {
    store.views().into_iter().find(|view| view.name() == "conduct").unwrap()
}
