//! Small worlds of our own: what a user asked, what was read, and the verdict on each call that could follow.
//!
//! Nothing is declared; everything is inferred. To add a case, add it to `scenarios.json`: the expected reasons are named as
//! they are recorded.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use provenance::{Call, Conversation, Finding, Settings, Tool, Trace, Turn, Undeclared};
use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Deserialize)]
struct World {
    world: String,
    tools: Vec<Tool>,
    user: String,
    reads: Vec<Read>,
    proposals: Vec<Proposal>,
}

#[derive(Deserialize)]
struct Read {
    tool: String,
    arguments: Map<String, Value>,
    output: Value,
}

#[derive(Deserialize)]
struct Proposal {
    tool: String,
    arguments: Map<String, Value>,
    expect: String,
}

fn worlds() -> Vec<(Conversation, World)> {
    let worlds: Vec<World> = serde_json::from_str(include_str!("scenarios.json")).unwrap();
    let with_conversation = |world: World| {
        let mut turns = vec![Turn::User { text: world.user.clone() }];
        for read in &world.reads {
            let call = Call { id: None, tool: read.tool.clone(), arguments: read.arguments.clone() };
            turns.push(Turn::Assistant { calls: vec![call] });
            turns.push(Turn::Result {
                call: None,
                tool: read.tool.clone(),
                output: read.output.clone(),
                digest: None,
            });
        }
        (Conversation { tools: world.tools.clone(), turns, influences: Vec::new() }, world)
    };
    worlds.into_iter().map(with_conversation).collect()
}

fn inferring() -> Settings {
    Settings { undeclared: Undeclared::Infer, ..Settings::default() }
}

#[test]
fn what_the_user_asked_for_is_clean_and_what_a_stranger_asked_for_is_not() {
    let settings = inferring();
    let mut wrong = Vec::new();
    for (conversation, world) in worlds() {
        let trace = Trace::read(&settings, &conversation);
        for proposal in &world.proposals {
            let call = Call { id: None, tool: proposal.tool.clone(), arguments: proposal.arguments.clone() };
            let judgement = trace.judge(&call);
            let found = match &judgement.finding {
                Finding::Clean => "clean".to_owned(),
                Finding::Shaped { reasons, .. } => {
                    let name =
                        |reason| serde_json::to_value(reason).unwrap()["reason"].as_str().unwrap().to_owned();
                    reasons.iter().map(name).collect::<Vec<_>>().join(", ")
                }
            };
            if found != proposal.expect {
                wrong.push(format!(
                    "{}: {} {:?}\n  expected {}\n  found    {found}\n  {:?}",
                    world.world, proposal.tool, proposal.arguments, proposal.expect, judgement.arguments
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn without_declarations_and_without_guesses_nothing_that_was_shaped_is_clean() {
    let (strict, infer) = (Settings::default(), inferring());
    for (conversation, world) in worlds() {
        let (strict, infer) = (Trace::read(&strict, &conversation), Trace::read(&infer, &conversation));
        for proposal in world.proposals {
            let call = Call { id: None, tool: proposal.tool, arguments: proposal.arguments };
            let guessed = infer.judge(&call).finding.needs_approval();
            assert!(
                strict.judge(&call).finding.needs_approval() || !guessed,
                "{}: {}",
                world.world,
                call.tool
            );
        }
    }
}

#[test]
fn where_nothing_was_read_every_action_is_clean() {
    let settings = Settings::default();
    for (conversation, world) in worlds() {
        let unread = Conversation { turns: conversation.turns[..1].to_vec(), ..conversation };
        let trace = Trace::read(&settings, &unread);
        for proposal in world.proposals {
            let call = Call { id: None, tool: proposal.tool, arguments: proposal.arguments };
            assert_eq!(trace.judge(&call).finding, Finding::Clean, "{}: {}", world.world, call.tool);
        }
    }
}
