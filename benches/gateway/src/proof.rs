//! That ours does all of what it is said to do while it is measured, read back from what it recorded.
//!
//! Each function asks for one thing and names it in its error; a run without proof is not reported.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::http::{self, Reply};
use crate::process;
use crate::target::ours::{POLICY, RULES};
use crate::target::{Target, caller_headers};

/// Of the form of a GitHub token, and nobody's.
const TOKEN: &str = "ghp_9XbTq2LmVw7Rk4ZpYc1NdHs6Jf3GuAe8KoBi";

/// What was seen, a line each.
pub(crate) fn prove(ours: &Target, punk: &Path, folder: &Path) -> Result<Vec<String>, String> {
    let told = |error: String| format!("no proof that ours does its work: {error}");
    prove_all(ours.address, punk, folder).map_err(told)
}

fn prove_all(address: SocketAddr, punk: &Path, folder: &Path) -> Result<Vec<String>, String> {
    let question = format!("What becomes of {TOKEN} in process {}?", std::process::id());
    no_key_is_refused(address, &question)?;
    let asked = chat(address, "gpt-4o-mini", &question)?;
    let run = run_of(address, &asked)?;
    let again = chat(address, "gpt-4o-mini", &question)?;
    let translated = run_of(address, &chat(address, "claude-sonnet-4-5", "Who answers?")?)?;
    Ok(vec![
        "a call without a key was answered 401".to_owned(),
        rules_judged(&run)?,
        budget_metered(&run)?,
        cache_missed(&run)?,
        cache_hit(&again)?,
        secret_hidden(&run)?,
        messages_answered(&translated)?,
        packet_verifies(address, &asked, punk, folder)?,
    ])
}

fn chat_body(model: &str, question: &str) -> String {
    json!({ "model": model, "temperature": 0, "messages": [{ "role": "user", "content": question }] })
        .to_string()
}

fn chat(address: SocketAddr, model: &str, question: &str) -> Result<Reply, String> {
    let body = chat_body(model, question);
    let reply = http::ask(address, "POST", "/v1/chat/completions", &caller_headers(), &body)?;
    if reply.status == 200 {
        Ok(reply)
    } else {
        Err(format!("a chat was answered {}: {}", reply.status, reply.beginning()))
    }
}

fn run_id(reply: &Reply) -> Result<&str, String> {
    reply.header("x-punk-run-id").ok_or_else(|| "an answer names no run".to_owned())
}

fn run_of(address: SocketAddr, reply: &Reply) -> Result<Value, String> {
    http::ask(address, "GET", &format!("/api/v1/runs/{}", run_id(reply)?), &caller_headers(), "")?.json()
}

/// What an event of this type recorded.
fn recorded<'a>(run: &'a Value, kind: &str) -> Result<&'a Value, String> {
    let events = run["events"].as_array().map(Vec::as_slice).unwrap_or_default();
    let event = events.iter().find(|event| event["type"] == kind);
    event.map(|event| &event["payload"]).ok_or_else(|| format!("the run has no event {kind}"))
}

fn no_key_is_refused(address: SocketAddr, question: &str) -> Result<(), String> {
    match http::ask(address, "POST", "/v1/chat/completions", &[], &chat_body("gpt-4o-mini", question))?.status
    {
        401 => Ok(()),
        status => Err(format!("a call without a key was answered {status}")),
    }
}

fn rules_judged(run: &Value) -> Result<String, String> {
    let verdict = &recorded(run, "policy.decided")?["verdict"];
    // Rules are counted from 0, and only the last one applies: all before it were passed over.
    let last = RULES as u64 - 1;
    if verdict["policy"] == POLICY && verdict["rule"] == last {
        Ok(format!("the verdict is that of the last of {RULES} rules"))
    } else {
        Err(format!("the verdict is not that of rule {last}: {verdict}"))
    }
}

fn budget_metered(run: &Value) -> Result<String, String> {
    let meters =
        recorded(run, "policy.decided")?["facts"]["meters"].as_array().map(Vec::as_slice).unwrap_or_default();
    let budget = |meter: &Value| meter["policy"].as_str().is_some_and(|name| name.starts_with("budget:"));
    if meters.iter().any(budget) {
        Ok("the budget was among what was judged by".to_owned())
    } else {
        Err("no budget among what was judged by".to_owned())
    }
}

fn cache_missed(run: &Value) -> Result<String, String> {
    let passed = run["run"]["routeExplanation"]["rejected"].as_array().map(Vec::as_slice).unwrap_or_default();
    match passed.iter().find(|route| route["route"] == "exact_cache") {
        Some(route) if route["reason"] == "no identical request was answered before" => {
            Ok("the exact cache was looked in, and had nothing".to_owned())
        }
        other => Err(format!("the exact cache was not looked in: {other:?}")),
    }
}

fn cache_hit(again: &Reply) -> Result<String, String> {
    match again.header("x-punk-route") {
        Some("exact_cache") => Ok("the same question again was answered from it".to_owned()),
        other => Err(format!("the same question again went by {other:?}")),
    }
}

fn secret_hidden(run: &Value) -> Result<String, String> {
    let request = recorded(run, "run.started")?["request"].to_string();
    match (run.to_string().contains(TOKEN), request.contains("⟨secret:")) {
        (false, true) => Ok("a token in a prompt was recorded as a placeholder".to_owned()),
        _ => Err(format!("a token in a prompt was not hidden: {request}")),
    }
}

fn messages_answered(run: &Value) -> Result<String, String> {
    match (&run["run"]["wire"], &run["run"]["provider"]) {
        (wire, provider) if wire == "chat" && provider == "anthropic" => {
            Ok("a chat completion was translated for an upstream that speaks messages".to_owned())
        }
        (wire, provider) => Err(format!("wire {wire} was answered by {provider}")),
    }
}

fn packet_verifies(address: SocketAddr, asked: &Reply, punk: &Path, folder: &Path) -> Result<String, String> {
    let path = format!("/api/v1/runs/{}/evidence-packet", run_id(asked)?);
    let packet = http::ask(address, "GET", &path, &caller_headers(), "")?;
    let trust = process::run(Command::new(punk).args(["keys", "trust"]).current_dir(folder))?;
    let write = || {
        fs::write(folder.join("packet.json"), &packet.body)?;
        fs::write(folder.join("trust.txt"), trust)
    };
    write().map_err(|error| format!("{}: {error}", folder.display()))?;
    let verify = ["verify", "packet.json", "--trust", "trust.txt"];
    process::run(Command::new(punk).args(verify).current_dir(folder))?;
    Ok("`punk verify` finds the run's evidence packet valid".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_rule_is_no_proof() {
        let run = |rule: u64| json!({ "events": [{ "type": "policy.decided", "payload": { "verdict": { "policy": POLICY, "rule": rule } } }] });
        assert!(rules_judged(&run(199)).is_ok());
        assert!(rules_judged(&run(0)).is_err());
        assert_eq!(rules_judged(&json!({})).unwrap_err(), "the run has no event policy.decided");
    }

    #[test]
    fn a_secret_in_the_record_is_no_proof() {
        let run = |content: &str| json!({ "events": [{ "type": "run.started", "payload": { "request": { "content": content } } }] });
        assert!(secret_hidden(&run("about ⟨secret:1⟩")).is_ok());
        assert!(secret_hidden(&run(TOKEN)).is_err());
        assert!(secret_hidden(&run("about nothing")).is_err(), "it was not even sent");
    }
}
