//! `punk learn`: what is learned, why it stands where it stands, and artifacts as files.

use std::io::Write as _;
use std::path::Path;

use apprentice::Portable;
use egress::Method;
use serde_json::{Value, json};

use crate::answer::{Answer, columns};
use crate::args::{Common, LearnCommand};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::gateway_client::{Gateway, text};
use crate::verify::{read_packet, read_trust};
use crate::{runtime, settings};

pub(crate) fn run(common: &Common, command: &LearnCommand) -> Result<Answer, Failure> {
    let settings = settings::load(common)?;
    runtime::block_on(async {
        match command {
            LearnCommand::Status { gateway } => {
                let gateway = Gateway::new(&settings, gateway)?;
                let patterns = gateway.all("/api/v1/patterns", "patterns", "before").await?;
                let artifacts = gateway.all("/api/v1/artifacts", "artifacts", "before").await?;
                Ok(status(&patterns["patterns"], &artifacts["artifacts"]))
            }
            LearnCommand::Explain { id, gateway } => {
                let gateway = Gateway::new(&settings, gateway)?;
                let kind = if id.starts_with("art_") { "artifacts" } else { "patterns" };
                let detail =
                    gateway.ask(Method::Get, &format!("/api/v1/{kind}/{}", escaped(id)), None).await?;
                Ok(Answer::success(explained(&detail), detail))
            }
            LearnCommand::Export { id, file, gateway } => {
                let gateway = Gateway::new(&settings, gateway)?;
                let made = gateway.ask(Method::Get, &format!("/api/v1/artifacts/{id}/export"), None).await?;
                write(file, &made)?;
                let json = json!({ "file": file, "origin": made["origin"] });
                Ok(Answer::success(format!("{id} is in {}\n", file.display()), json))
            }
            LearnCommand::Import { file, trust, gateway } => {
                let portable = read(file)?;
                let trust = read_trust(trust)?;
                portable.check(&trust).map_err(|error| {
                    Failure::of(Exit::No, "punk_artifact_refused", &error)
                        .hint("take the trust file of the installation that made it: `punk keys trust` prints it there")
                })?;
                let gateway = Gateway::new(&settings, gateway)?;
                let body = json!({ "program": portable.program, "origin": portable.origin });
                let made = gateway.ask(Method::Post, "/api/v1/artifacts/import", Some(&body)).await?;
                let id = text(&made["artifact"]["id"]);
                Ok(Answer::success(format!("{id} is compared with live from now on\n"), made))
            }
        }
    })
}

/// An id as a part of a path: whatever is none stays one part.
fn escaped(id: &str) -> String {
    id.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '_').collect()
}

fn status(patterns: &Value, artifacts: &Value) -> Answer {
    let json = json!({ "patterns": patterns, "artifacts": artifacts });
    let patterns: Vec<Value> = patterns.as_array().cloned().unwrap_or_default();
    if patterns.is_empty() {
        return Answer::success("nothing is seen to repeat yet\n", json);
    }
    let of = |pattern: &Value| {
        let id = pattern["artifactId"].clone();
        artifacts.as_array().into_iter().flatten().find(|artifact| artifact["id"] == id).cloned()
    };
    let head = ["PATTERN", "NAME", "STATE", "RUNS", "STABLE", "ARTIFACT", "VERSION", "SERVED", "SAVED"];
    let rows = patterns.iter().map(|pattern| {
        let artifact = of(pattern).unwrap_or_default();
        let shown =
            |name: &str| if artifact[name].is_null() { "-".to_owned() } else { plain(&artifact[name]) };
        [
            text(&pattern["id"]),
            text(&pattern["name"]),
            text(&pattern["state"]),
            plain(&pattern["runCount"]),
            format!("{:.2}", pattern["stabilityScore"].as_f64().unwrap_or(0.0)),
            shown("id"),
            shown("version"),
            shown("servedRuns"),
            shown("savedUsd"),
        ]
    });
    let rows: Vec<_> = std::iter::once(head.map(str::to_owned)).chain(rows).collect();
    Answer::success(columns(&rows), json)
}

fn explained(detail: &Value) -> String {
    let (pattern, artifact) = (&detail["pattern"], &detail["artifact"]);
    let mut said = String::new();
    if !pattern.is_null() {
        said +=
            &format!("{} {} is {}\n", text(&pattern["id"]), text(&pattern["name"]), text(&pattern["state"]));
        for reason in pattern["reasons"].as_array().into_iter().flatten() {
            said += &format!("  {}\n", text(reason));
        }
    }
    if !artifact.is_null() {
        said += &format!(
            "{} version {} is {}\n",
            text(&artifact["id"]),
            plain(&artifact["version"]),
            text(&artifact["state"])
        );
        for gate in artifact["gates"].as_array().into_iter().flatten() {
            let mark = if gate["passed"] == true { "passed" } else { "not passed" };
            said += &format!("  {} {mark}: {}\n", text(&gate["name"]), text(&gate["reason"]));
        }
        for change in artifact["changes"].as_array().into_iter().flatten() {
            said += &format!(
                "  {} {}: {}\n",
                text(&change["at"]),
                text(&change["state"]),
                text(&change["reason"])
            );
        }
    }
    for attempt in detail["attempts"].as_array().into_iter().flatten() {
        said += &format!("attempt {}: {}\n", text(&attempt["outcome"]), text(&attempt["reason"]));
        for line in attempt["report"].as_array().into_iter().flatten() {
            said += &format!("  {}\n", text(line));
        }
    }
    said
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn write(path: &Path, file: &Value) -> Result<(), Failure> {
    let failure = |error: std::io::Error| {
        Failure::new(Exit::Environment, "punk_unwritable", format!("{}: {error}", path.display()))
    };
    let mut made = std::fs::File::create_new(path).map_err(failure)?;
    made.write_all(file.to_string().as_bytes()).and_then(|()| made.sync_all()).map_err(failure)
}

fn read(path: &Path) -> Result<Portable, Failure> {
    serde_json::from_slice(&read_packet(path)?).map_err(|error| {
        Failure::new(Exit::No, "punk_artifact_refused", format!("{}: {error}", path.display()))
            .hint("`punk learn export` makes such files")
    })
}
