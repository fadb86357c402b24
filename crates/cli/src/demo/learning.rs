//! Repeated work is found, learned, proven, promoted and served.

use std::time::Duration;

use egress::Method;
use serde_json::{Value, json};

use super::stage::{Facts, Scene};
use super::story::{Story, dollars, text};
use super::ticket::ticket;
use crate::exit::Exit;
use crate::failure::Failure;

/// How many tickets it takes to see that they are of one kind, with room to spare.
const TO_SEE: u64 = 40;
/// How many tickets there are between two looks of the learner.
const ROUND: u64 = 60;
/// A proof takes some 330 comparisons; after so many rounds something is wrong.
const MOST_ROUNDS: u64 = 30;
/// How often a job is looked for that has been asked for, and how long it has in between.
const MOST_LOOKS: u32 = 240;
const BETWEEN_LOOKS: Duration = Duration::from_millis(250);
/// How many tickets are sorted with the help of what was learned.
const SERVED: u64 = 120;

const PATTERN: Scene = Scene {
    name: "pattern",
    title: "The work repeats itself",
    text: "Tickets keep coming, no two the same. The learner reads the ledger: the same model, the same instructions, answers of \
           one shape. That is a pattern.",
};
const SYNTHESIS: Scene = Scene {
    name: "synthesis",
    title: "A program is made of it",
    text: "From the live answers Punk makes a small program: data, not code, that runs within bounds and knows when to abstain. \
           Nobody may let it answer yet, and whoever tries is refused by the gates.",
};
const PROOF: Scene = Scene {
    name: "proof",
    title: "It is tried on the record, then beside the model",
    text: "Replay holds the program against recorded runs. In the shadow it answers every new ticket beside the model, which is \
           still the one that is heard. Each comparison is a wager against the program, until it is proven to differ in less than \
           one answer of a hundred.",
};
const PROMOTION: Scene = Scene {
    name: "promotion",
    title: "Every gate is passed, and somebody says yes",
    text: "Promotion is a decision, on record, with the evidence it was made on. It can be taken back with one call.",
};
const SERVING: Scene = Scene {
    name: "artifact",
    title: "The program answers",
    text: "From now on most tickets need no model. Some are still sent to it, and compared, for ever: were the model to change its \
           mind, the program would be back in the shadow.",
};

pub(super) async fn tell(story: &mut Story) -> Result<(), Failure> {
    let pattern = seen(story).await?;
    let artifact = made(story, &pattern).await?;
    proven(story, &pattern, &artifact).await?;
    promoted(story, &artifact).await?;
    serving(story).await
}

/// The pattern of the tickets.
async fn seen(story: &mut Story) -> Result<String, Failure> {
    story.open(&PATTERN).await;
    if story.learned.is_none() {
        tickets(story, TO_SEE, "tickets").await?;
        tick(story).await?;
    }
    let list = story.get("/api/v1/patterns").await?;
    let mut all = list["patterns"].as_array().into_iter().flatten();
    let pattern =
        all.find(|one| one["taskClass"] == "classification").ok_or_else(|| lost("no pattern was found"))?;
    let facts = Facts::default()
        .and("pattern", text(&pattern["name"]))
        .and("kind of work", text(&pattern["taskClass"]))
        .and("runs", pattern["runCount"].clone())
        .and("cost of one", dollars(&pattern["averageCostUsd"]))
        .and("why", pattern["reasons"].clone());
    story.close(&PATTERN, facts).await;
    Ok(text(&pattern["id"]))
}

/// The artifact of the pattern.
async fn made(story: &mut Story, pattern: &str) -> Result<String, Failure> {
    story.open(&SYNTHESIS).await;
    let path = format!("/api/v1/patterns/{pattern}");
    let mut detail = story.get(&path).await?;
    for _ in 0..MOST_ROUNDS {
        if detail["artifact"].is_object() {
            break;
        }
        tickets(story, ROUND / 3, "tickets").await?;
        tick(story).await?;
        detail = story.get(&path).await?;
    }
    let artifact = &detail["artifact"];
    let id = artifact["id"].as_str().ok_or_else(|| lost("nothing could be made of the pattern"))?.to_owned();
    let attempts = detail["attempts"].as_array().cloned().unwrap_or_default();
    let attempt = attempts.iter().find(|one| one["outcome"] == "synthesized");
    let reason = attempt.map_or_else(|| "learned before".to_owned(), |one| text(&one["reason"]));
    let mut facts = Facts::default().and("made", format!("{}: {reason}", text(&artifact["type"])));
    if story.learned.is_none() {
        let path = format!("/api/v1/artifacts/{id}/promote");
        let refused = story.client.send(Method::Post, &path, &[], &Value::Null).await?;
        let refused = refused.expect(409, "a promotion that comes too early")?;
        facts = facts.and("promote it now", refused.refusal());
    }
    story.close(&SYNTHESIS, facts.and("gates", gates(artifact))).await;
    Ok(id)
}

/// Goes on until every gate is passed.
async fn proven(story: &mut Story, pattern: &str, artifact: &str) -> Result<(), Failure> {
    story.open(&PROOF).await;
    let path = format!("/api/v1/artifacts/{artifact}");
    let bar = story.stage.bar(ROUND * 7, "compared beside the model");
    let mut shown = story.get(&path).await?["artifact"].clone();
    for _ in 0..MOST_ROUNDS {
        if shown["state"] != "shadow" {
            break;
        }
        for _ in 0..ROUND {
            story.next_ticket().await?;
            bar.inc(1);
        }
        tick(story).await?;
        shown = story.get(&path).await?["artifact"].clone();
    }
    bar.finish_and_clear();
    if shown["state"] == "shadow" {
        return Err(lost(&format!("the pattern {pattern} was not proven")));
    }
    let replay = replayed(story, &path).await?;
    let (shadow, replay) = (&shown["shadow"], (&replay["answered"], &replay["disagreed"]));
    let facts = Facts::default()
        .and("replay", format!("{} recorded runs answered, {} differently", replay.0, replay.1))
        .and("shadow", format!("{} compared, {} differed", shadow["compared"], shadow["disagreed"]))
        .and("gates", gates(&shown))
        .and("state", text(&shown["state"]));
    story.close(&PROOF, facts).await;
    Ok(())
}

/// Has the artifact tried on recorded runs, which a job does, and waits for what comes of it.
async fn replayed(story: &Story, path: &str) -> Result<Value, Failure> {
    let before = story.get(path).await?["artifact"]["lastReplay"]["runId"].clone();
    story.operate(Method::Post, &format!("{path}/replay"), &Value::Null, 202).await?;
    for _ in 0..MOST_LOOKS {
        tick(story).await?;
        let last = story.get(path).await?["artifact"]["lastReplay"].clone();
        if last.is_object() && last["runId"] != before {
            return Ok(last);
        }
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
    Err(lost("the replay did not come to an end"))
}

async fn promoted(story: &mut Story, artifact: &str) -> Result<(), Failure> {
    story.open(&PROMOTION).await;
    let mut shown = story.get(&format!("/api/v1/artifacts/{artifact}")).await?["artifact"].clone();
    if shown["state"] != "promoted" {
        let path = format!("/api/v1/artifacts/{artifact}/promote");
        shown = story.operate(Method::Post, &path, &Value::Null, 200).await?.json["artifact"].clone();
    }
    let facts = Facts::default()
        .and("state", text(&shown["state"]))
        .and(
            "program",
            format!(
                "version {}, {} bytes, {}",
                shown["program"]["version"],
                shown["program"]["bytes"],
                text(&shown["program"]["digest"])
            ),
        )
        .and("take it back", format!("POST /api/v1/artifacts/{artifact}/rollback"));
    story.close(&PROMOTION, facts).await;
    Ok(())
}

async fn serving(story: &mut Story) -> Result<(), Failure> {
    story.open(&SERVING).await;
    let bar = story.stage.bar(SERVED, "tickets");
    let (mut by_program, mut live, mut last) = (0_u64, 0_u64, None);
    for _ in 0..SERVED {
        let reply = story.next_ticket().await?;
        bar.inc(1);
        if reply.route == "artifact" {
            by_program += 1;
            last = Some((story.at, reply));
        } else {
            live += 1;
        }
    }
    bar.finish_and_clear();
    let (at, reply) = last.ok_or_else(|| lost("the promoted artifact answered nothing"))?;
    let run = story.get(&format!("/api/v1/runs/{}", reply.run)).await?["run"].clone();
    story.proven_run = Some(reply.run.clone());
    let facts = Facts::default()
        .and("ticket", ticket(at))
        .and("answer", reply.said())
        .and("route", format!("{}: {}", reply.route, text(&run["routeExplanation"]["reason"])))
        .and("saved", dollars(&run["savedUsd"]))
        .and("all of them", format!("{by_program} by the program, {live} by the model to compare"));
    story.close(&SERVING, facts).await;
    Ok(())
}

async fn tickets(story: &mut Story, count: u64, what: &'static str) -> Result<(), Failure> {
    let bar = story.stage.bar(count, what);
    for _ in 0..count {
        story.next_ticket().await?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(())
}

/// Has the learner look now.
async fn tick(story: &Story) -> Result<(), Failure> {
    story.operate(Method::Post, "/api/v1/learning/tick", &Value::Null, 200).await.map(drop)
}

/// What has to hold, and whether it does, a line each.
fn gates(artifact: &Value) -> Value {
    let all = artifact["gates"].as_array().into_iter().flatten();
    let line = |gate: &Value| {
        let word = if gate["passed"] == true { "passed" } else { "not yet" };
        json!(format!("{word}  {}: {}", text(&gate["name"]), text(&gate["reason"])))
    };
    all.map(line).collect()
}

/// The story cannot go on.
fn lost(why: &str) -> Failure {
    Failure::new(Exit::Environment, "punk_demo_failed", why)
        .hint("the folder of an older demo may be in the way: name another with --data-dir, or delete it")
}
