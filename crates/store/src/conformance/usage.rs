//! What sums over runs promise.

use schema::{Day, Seq};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::subject::{erase, masters, named};
use super::{Corner, Story, at, limit};
use crate::{
    AgentRow, Append, Commit, RANGE_SEALED, Rebuilt, Seal, Settle, Store, UsageRow, UsageSums, sums_of,
};

/// A whole run that says this at its beginning and this at its end. Stories are of the first day there is.
fn told(story: &mut Story, started: Value, finished: Value) -> Append {
    let events = vec![story.event("run.started", started), story.event("run.finished", finished)];
    story.append(events, Settle::Leaf)
}

fn chat(story: &mut Story, agent: &str, cost: Option<u64>) -> Append {
    let started = json!({ "kind": "chat", "app": "shop", "agent": agent, "model": "small" });
    let finished = json!({
        "status": "completed", "route": "live", "costMicroUsd": cost, "savedMicroUsd": -3, "ghostSavedMicroUsd": 5,
        "savedMs": 7, "inputTokens": 100, "outputTokens": 20, "cacheReadTokens": 60, "reasoningTokens": 8, "latencyMs": 12.5,
    });
    told(story, started, finished)
}

fn row(kind: &str, route: &str, status: &str, sums: UsageSums) -> UsageRow {
    let (kind, route, status) = (kind.to_owned(), route.to_owned(), status.to_owned());
    UsageRow { day: Day::FIRST, kind, app: "shop".to_owned(), model: "small".to_owned(), route, status, sums }
}

async fn all(corner: &Corner) -> Vec<UsageRow> {
    corner.tenant.usage(Day::FIRST, Day::LAST).await.unwrap()
}

pub async fn a_run_is_counted_once_when_it_ends(store: &dyn Store) {
    let corner = Corner::of(store);
    assert_eq!(all(&corner).await, []);
    let mut open = corner.story();
    corner.append([open.go_on(2)]).await.unwrap();
    assert_eq!(all(&corner).await, [], "it has not ended");
    // All at once, and two in one commit.
    let (mut one, mut other) = (corner.story(), corner.story());
    corner.append([chat(&mut one, "helper", Some(40)), chat(&mut other, "helper", None)]).await.unwrap();
    let two = UsageSums {
        runs: 2,
        unpriced_runs: 1,
        input_tokens: 200,
        output_tokens: 40,
        cache_read_tokens: 120,
        reasoning_tokens: 16,
        cost_micro_usd: 40,
        saved_micro_usd: -6,
        ghost_saved_micro_usd: 10,
        saved_ms: 14,
        latency_ms: 26,
    };
    assert_eq!(all(&corner).await, [row("chat", "live", "completed", two)]);
    // What a run says after its end changes nothing, nor does a commit that is refused.
    let late = one.event("run.finished", json!({ "status": "failed", "costMicroUsd": 1_000 }));
    corner.append([one.append(vec![late], Settle::Leaf)]).await.unwrap();
    let stale = Story::new(corner.id, one.run).finish();
    corner.append([chat(&mut corner.story(), "helper", Some(1)), stale]).await.unwrap_err();
    assert_eq!(all(&corner).await, [row("chat", "live", "completed", two)]);
    // A run that goes on ends in its own row.
    corner.append([open.finish()]).await.unwrap();
    let alone = UsageSums { runs: 1, cost_micro_usd: 120, latency_ms: 13, ..UsageSums::default() };
    let rows = [row("chat", "live", "completed", two), row("chat", "provider", "completed", alone)];
    assert_eq!(all(&corner).await, rows);
    assert_eq!(corner.tenant.usage(Day::FIRST, Day::FIRST).await.unwrap(), rows);
    let tomorrow = Day::from_number(1).unwrap();
    assert_eq!(corner.tenant.usage(tomorrow, Day::LAST).await.unwrap(), []);
}

pub async fn no_claim_of_usage_is_too_large_to_be_counted(store: &dyn Store) {
    let corner = Corner::of(store);
    let long = "m".repeat(20_000);
    for _ in 0..3 {
        let started = json!({ "kind": "chat", "agent": long, "model": long, "app": "\u{0}" });
        let finished =
            json!({ "status": "completed", "costMicroUsd": 9_007_199_254_740_991_i64, "inputTokens": 1e21 });
        corner.append([told(&mut corner.story(), started, finished)]).await.unwrap();
    }
    let rows = all(&corner).await;
    assert_eq!((rows.len(), rows[0].sums.runs, &rows[0].model), (1, 3, &long));
    assert_eq!(corner.tenant.agent(&long).await.unwrap().unwrap().runs, 3);
}

pub async fn concurrent_runs_are_all_counted(store: &dyn Store) {
    const MANY: usize = 16;
    const EACH: usize = 5;
    let corner = Corner::of(store);
    let mut tasks = JoinSet::new();
    for task in 0..MANY {
        let tenant = store.tenant(corner.id);
        let mut stories: Vec<Story> = (0..EACH * 2).map(|_| corner.story()).collect();
        tasks.spawn(async move {
            for pair in stories.chunks_mut(2) {
                let [one, other] = pair else { continue };
                // Two agents at once, in either order.
                let names = if task % 2 == 0 { ["a", "b"] } else { ["b", "a"] };
                let appends = vec![chat(one, names[0], Some(1)), chat(other, names[1], Some(1))];
                tenant.commit(Commit { appends, ..Commit::default() }).await.unwrap();
            }
        });
    }
    tasks.join_all().await;
    let rows = all(&corner).await;
    assert_eq!((rows.len(), rows[0].sums.runs, rows[0].sums.cost_micro_usd), (1, 160, 160));
    let agents = corner.tenant.agents(None, limit(9)).await.unwrap();
    assert_eq!(
        agents.iter().map(|agent| (agent.name.as_str(), agent.runs)).collect::<Vec<_>>(),
        [("a", 80), ("b", 80)]
    );
}

pub async fn agents_are_seen_when_their_runs_begin(store: &dyn Store) {
    let (corner, stranger) = (Corner::of(store), Corner::of(store));
    assert_eq!(corner.tenant.agents(None, limit(9)).await.unwrap(), []);
    for name in ["crawler", "älter", "buyer", "crawler"] {
        let mut story = corner.story();
        let started = story.event("run.started", json!({ "kind": "chat", "agent": name }));
        corner.append([story.append(vec![started], Settle::Open)]).await.unwrap();
        corner.append([story.finish()]).await.unwrap();
    }
    let record = told(&mut corner.story(), json!({ "kind": "audit", "agent": "retention" }), json!({}));
    corner.append([record]).await.unwrap();
    let moment = at(1_000_000);
    let seen = |name: &str, runs| AgentRow {
        name: name.to_owned(),
        first_seen_at: moment,
        last_seen_at: moment,
        runs,
    };
    let agents = [seen("buyer", 1), seen("crawler", 2), seen("älter", 1)];
    assert_eq!(corner.tenant.agents(None, limit(9)).await.unwrap(), agents, "records show no agent");
    assert_eq!(corner.tenant.agents(None, limit(1)).await.unwrap(), agents[..1]);
    assert_eq!(corner.tenant.agents(Some("buyer"), limit(9)).await.unwrap(), agents[1..]);
    assert_eq!(corner.tenant.agent("crawler").await.unwrap().as_ref(), Some(&agents[1]));
    assert_eq!(corner.tenant.agent("craw").await.unwrap(), None);
    assert_eq!(stranger.tenant.agent("crawler").await.unwrap(), None);
}

pub async fn sums_made_again_are_equal_also_after_runs_were_given_up(store: &dyn Store) {
    store.seal_with(masters());
    let corner = Corner::of(store);
    let mut stories = Vec::new();
    for name in ["ada", "bob", "ada"] {
        let mut story = corner.story();
        let append = chat(&mut story, name, Some(9));
        corner.append([Append { subject: named(name), ..append }]).await.unwrap();
        stories.push(story);
    }
    corner.append([corner.story().finish()]).await.unwrap();
    let (usage, agents) = (all(&corner).await, corner.tenant.agents(None, limit(9)).await.unwrap());
    assert_eq!((usage.len(), usage[0].sums.runs, agents.len()), (2, 3, 2));
    let check = async |when: &str| {
        for view in store.views().into_iter().filter(|view| ["usage", "agents"].contains(&view.name())) {
            let rebuilt = view.rebuild(corner.id).await.unwrap();
            // The records of what was given up are runs of their own.
            assert_eq!(rebuilt.repaired, 0, "{when}: {}", view.name());
        }
        let kept: Vec<UsageRow> = all(&corner).await.into_iter().filter(|row| row.kind != "audit").collect();
        assert_eq!(kept, usage, "{when}");
        assert_eq!(corner.tenant.agents(None, limit(9)).await.unwrap(), agents, "{when}");
    };
    check("as it is").await;
    erase(&corner, "ada").await.unwrap();
    check("after an erasure").await;

    let mut rows = Vec::new();
    for story in &stories[..2] {
        rows.push(corner.tenant.run(story.run).await.unwrap().unwrap());
    }
    let (gone, seen, _) = sums_of(&rows.iter().collect::<Vec<_>>(), Vec::new());
    let mut record = corner.story();
    let events = vec![
        record.event("run.started", json!({ "kind": "audit", "agent": "retention" })),
        record
            .event(RANGE_SEALED, json!({ "runs": [rows[0].id, rows[1].id], "usage": gone, "agents": seen })),
        record.event("run.finished", json!({ "status": "completed", "costMicroUsd": 0 })),
    ];
    let seal = rows.iter().map(|row| Seal { run: row.id, expected: Seq(2) }).collect();
    let commit = Commit { appends: vec![record.append(events, Settle::Leaf)], seal, ..Commit::default() };
    corner.tenant.commit(commit).await.unwrap();
    check("after runs were given up").await;
    let usage = store.views().into_iter().find(|view| view.name() == "usage").unwrap();
    assert_eq!(usage.rebuild(corner.id).await.unwrap(), Rebuilt { entries: 3, repaired: 0 });
}
