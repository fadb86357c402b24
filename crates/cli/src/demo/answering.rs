//! The first steps: the model answers, and what was answered before is not asked again.

use egress::Method;
use serde_json::{Value, json};

use super::stage::{Facts, Scene};
use super::story::{Story, dollars, text, triage};
use super::ticket::ticket;
use crate::failure::Failure;

const LIVE: Scene = Scene {
    name: "live",
    title: "A ticket arrives, and the model is asked",
    text: "The agent sends an ordinary chat completion to Punk. It is judged by the policies, sent on to the model, and recorded \
           before the last byte of the answer leaves.",
};
const EXACT: Scene = Scene {
    name: "exact_cache",
    title: "The same ticket again",
    text: "The customer pressed the button twice. Nothing in the request is left to chance, so the same question has the same \
           answer, and no model is asked for it.",
};
const TOOL: Scene = Scene {
    name: "tool_cache",
    title: "A tool, once",
    text: "To answer, the agent looks an order up. Reading changes nothing, so what the tool gave is kept for ten minutes, and the \
           next agent that asks has it at once.",
};

pub(super) async fn tell(story: &mut Story) -> Result<(), Failure> {
    live(story).await?;
    exact(story).await?;
    tool(story).await
}

async fn live(story: &mut Story) -> Result<(), Failure> {
    story.open(&LIVE).await;
    story.at += 1;
    // Where something is learned already, the agent says that it wants the model itself.
    let fresh = [("cache-control", "no-cache")];
    let more = if story.learned.is_some() { &fresh[..] } else { &[] };
    let reply = story.chat(more, &triage(story.at)).await?.expect(200, "the first ticket")?;
    let run = story.get(&format!("/api/v1/runs/{}", reply.run)).await?;
    let facts = Facts::default()
        .and("ticket", ticket(story.at))
        .and("answer", reply.said())
        .and("route", format!("{}: {}", reply.route, text(&run["run"]["routeExplanation"]["reason"])))
        .and("cost", dollars(&run["run"]["costUsd"]))
        .and("run", reply.run);
    story.close(&LIVE, facts).await;
    Ok(())
}

async fn exact(story: &mut Story) -> Result<(), Failure> {
    story.open(&EXACT).await;
    let reply = story.chat(&[], &triage(story.at)).await?.expect(200, "the same ticket")?;
    let run = story.get(&format!("/api/v1/runs/{}", reply.run)).await?;
    let facts = Facts::default()
        .and("answer", reply.said())
        .and("route", format!("{}: {}", reply.route, text(&run["run"]["routeExplanation"]["reason"])))
        .and("cost", dollars(&run["run"]["costUsd"]))
        .and("saved", dollars(&run["run"]["savedUsd"]));
    story.close(&EXACT, facts).await;
    Ok(())
}

async fn tool(story: &mut Story) -> Result<(), Failure> {
    story.open(&TOOL).await;
    let call = json!({ "toolName": "orders.lookup", "args": { "order": format!("A-{}", 4_000 + story.at) } });
    let path = "/api/v1/tool-cache/check";
    let first = story.as_agent(path, &[], &call).await?.expect(200, path)?;
    // The agent's own tool: a lookup in a table, as far as Punk is concerned.
    let result = json!({ "customer": "C-1042", "status": "shipped", "total": 49.9 });
    let mut kept = call.clone();
    (kept["result"], kept["ttlSeconds"], kept["sideEffectLevel"]) = (result, json!(600), json!(1));
    let stored =
        story.as_agent("/api/v1/tool-cache/store", &[], &kept).await?.expect(200, "tool-cache/store")?;
    let second = story.as_agent(path, &[], &call).await?.expect(200, path)?;
    let word = |hit: &Value| if hit["hit"] == true { "hit" } else { "miss" };
    let stats = story.operate(Method::Get, "/api/v1/cache/stats", &Value::Null, 200).await?.json;
    let entries = stats["stats"].as_array().into_iter().flatten();
    let entries =
        entries.filter(|one| one["cacheType"] == "tool_result").filter_map(|one| one["entries"].as_u64());
    let facts = Facts::default()
        .and("call", format!("orders.lookup({})", call["args"]))
        .and(
            "first",
            format!(
                "{}; the tool is called, and its result kept: {}",
                word(&first.json),
                stored.json["stored"]
            ),
        )
        .and("then", format!("{}: {}", word(&second.json), second.json["result"]))
        .and("results kept", entries.sum::<u64>());
    story.close(&TOOL, facts).await;
    Ok(())
}
