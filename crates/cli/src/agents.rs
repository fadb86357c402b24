//! `punk agents`: who has asked so far, how far each is trusted and why, and what an operator says of it.

use egress::Method;
use serde_json::{Value, json};

use crate::answer::{Answer, columns};
use crate::args::{AgentsCommand, Common};
use crate::failure::Failure;
use crate::gateway_client::{Gateway, segment, text};
use crate::{runtime, settings};

/// What a score is made of: the member, and what it says in words.
const COMPONENTS: [(&str, &str); 4] = [
    ("history", "how much of what it did in 30 days was good; what was denied or blocked weighs three times"),
    ("tenure", "on how many of 30 days it did something good"),
    ("feedback", "what people said of its answers; one half where nobody said anything"),
    ("calm", "1 where it did nothing that it may not; five such acts make it 0, and each week halves one"),
];

pub(crate) fn run(common: &Common, command: &AgentsCommand) -> Result<Answer, Failure> {
    let settings = settings::load(common)?;
    runtime::block_on(async {
        match command {
            AgentsCommand::List { gateway } => {
                let gateway = Gateway::new(&settings, gateway)?;
                Ok(listed(gateway.all("/api/v1/agents", "agents", "after").await?))
            }
            AgentsCommand::Show { name, gateway } => {
                let gateway = Gateway::new(&settings, gateway)?;
                Ok(detailed(gateway.ask(Method::Get, &path(name), None).await?))
            }
            AgentsCommand::Trust(args) => {
                let mut body = json!({ "trustTier": args.tier.said(), "reason": args.reason });
                // Without a word on tags it keeps those it has.
                if args.no_tags || !args.tags.is_empty() {
                    body["tags"] = json!(args.tags);
                }
                let gateway = Gateway::new(&settings, &args.gateway)?;
                let changed = gateway.ask(Method::Patch, &path(&args.name), Some(&body)).await?;
                let agent = &changed["agent"];
                let told = format!("{} is {}\n", text(&agent["name"]), tier(agent));
                Ok(Answer::success(told, changed))
            }
        }
    })
}

fn path(name: &str) -> String {
    format!("/api/v1/agents/{}", segment(name))
}

/// How far it is trusted, and whether somebody said so.
fn tier(agent: &Value) -> String {
    let how = if agent["override"].is_null() { "earned" } else { "said" };
    format!("{} ({how})", text(&agent["trustTier"]))
}

fn score(agent: &Value) -> String {
    format!("{:.3}", agent["trustScore"].as_f64().unwrap_or(0.0))
}

fn component(agent: &Value, name: &str) -> String {
    format!("{:.3}", agent["trustComponents"][name].as_f64().unwrap_or(0.0) / 1000.0)
}

fn listed(page: Value) -> Answer {
    let agents: Vec<Value> = page["agents"].as_array().cloned().unwrap_or_default();
    if agents.is_empty() {
        return Answer::success("nothing\n", page);
    }
    let head = ["NAME", "TIER", "SCORE", "HISTORY", "TENURE", "FEEDBACK", "CALM", "RUNS", "LAST SEEN"];
    let rows = agents.iter().map(|agent| {
        let [history, tenure, feedback, calm] = COMPONENTS.map(|(name, _)| component(agent, name));
        [
            text(&agent["name"]),
            tier(agent),
            score(agent),
            history,
            tenure,
            feedback,
            calm,
            text(&agent["runs"]),
            text(&agent["lastSeenAt"]),
        ]
    });
    let rows: Vec<_> = std::iter::once(head.map(str::to_owned)).chain(rows).collect();
    Answer::success(columns(&rows), page)
}

fn detailed(shown: Value) -> Answer {
    let agent = &shown["agent"];
    let tags: Vec<String> = agent["tags"].as_array().into_iter().flatten().map(text).collect();
    let tags = if tags.is_empty() { "-".to_owned() } else { tags.join(", ") };
    let mut rows = vec![
        ["agent".to_owned(), text(&agent["name"])],
        ["tier".to_owned(), tier(agent)],
        ["tags".to_owned(), tags],
        ["runs".to_owned(), text(&agent["runs"])],
        ["first seen".to_owned(), text(&agent["firstSeenAt"])],
        ["last seen".to_owned(), text(&agent["lastSeenAt"])],
    ];
    let said = &agent["override"];
    if !said.is_null() {
        let members = [("said", "trustTier"), ("because", "reason"), ("by", "by"), ("at", "at")];
        rows.extend(members.map(|(name, member)| [name.to_owned(), text(&said[member])]));
    }
    let parts =
        COMPONENTS.map(|(name, words)| [format!("  {name}"), component(agent, name), words.to_owned()]);
    let made = "calm × (0.45 × history + 0.35 × tenure + 0.20 × feedback)";
    let told =
        format!("{}\nits behaviour comes to {} = {made}\n{}", columns(&rows), score(agent), columns(&parts));
    Answer::success(told, shown)
}
