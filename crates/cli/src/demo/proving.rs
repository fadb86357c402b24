//! The last steps: a proof that needs nobody's word, a forgery that is refused, and what all of it came to.

use std::path::{Path, PathBuf};

use crypto::KeyRing;
use egress::Method;
use schema::TenantId;
use serde_json::{Value, json};

use super::stage::{Facts, Scene};
use super::story::{Story, dollars};
use super::unwritten;
use crate::args::VerifyArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{keys, serve, verify};

const EVIDENCE: Scene = Scene {
    name: "evidence",
    title: "A proof for somebody who trusts nobody",
    text: "The packet of a run that the program answered: its events, the log that holds them, the policy, the program itself. \
           `punk verify` checks every hash and signature offline, decides again what was decided, and runs the program again.",
};
const TAMPERED: Scene = Scene {
    name: "tampered",
    title: "The same packet, a word changed",
    text: "Somebody changes one word of what was asked in a copy of the packet, and hands that in instead.",
};
const SAVED: Scene =
    Scene { name: "savings", title: "What it came to", text: "All of it is counted from the ledger." };

pub(super) async fn tell(story: &mut Story) -> Result<(), Failure> {
    let (packet, trust) = evidence(story).await?;
    tampered(story, &packet, &trust).await?;
    saved(story).await
}

/// Fetches a packet and verifies it.
async fn evidence(story: &mut Story) -> Result<(PathBuf, PathBuf), Failure> {
    story.open(&EVIDENCE).await;
    let run = story.proven_run.clone().unwrap_or_default();
    let path = format!("/api/v1/runs/{run}/evidence-packet");
    let reply = story.operate(Method::Get, &path, &Value::Null, 200).await?;
    serve::private_folder(&story.folder).map_err(|error| unwritten(&story.folder, &error))?;
    let (packet, trust) = (story.folder.join("packet.json"), story.folder.join("keys.txt"));
    write(&packet, &reply.bytes)?;
    let ring = KeyRing::open(&story.keys)
        .map_err(|error| Failure::of(Exit::Environment, "punk_keys_unreadable", &error))?;
    write(&trust, keys::trust(&ring, &story.log_name, TenantId::NIL)?.text.as_bytes())?;
    let (exit, told) = verified(&packet, &trust)?;
    if exit != Exit::Success {
        return Err(Failure::new(Exit::No, "punk_demo_failed", "the packet of the demo does not verify"));
    }
    let facts = Facts::default()
        .and("fetched", format!("{} bytes", reply.bytes.len()))
        .and("command", command(&packet, &trust))
        .and("says", told);
    story.close(&EVIDENCE, facts).await;
    Ok((packet, trust))
}

/// Changes a word in a copy, and verifies that.
async fn tampered(story: &mut Story, packet: &Path, trust: &Path) -> Result<(), Failure> {
    story.open(&TAMPERED).await;
    let text = std::fs::read_to_string(packet).map_err(|error| unwritten(packet, &error))?;
    let copy = story.folder.join("tampered.json");
    // It is in the instructions of every ticket, which are in the packet as they were recorded.
    write(&copy, text.replacen("support ticket", "support racket", 1).as_bytes())?;
    let (exit, told) = verified(&copy, trust)?;
    if exit == Exit::Success {
        return Err(Failure::new(Exit::No, "punk_demo_failed", "a packet that was tampered with verifies"));
    }
    let facts = Facts::default().and("command", command(&copy, trust)).and("says", told);
    story.close(&TAMPERED, facts).await;
    Ok(())
}

async fn saved(story: &mut Story) -> Result<(), Failure> {
    story.open(&SAVED).await;
    let now = story.get("/api/v1/savings").await?;
    let number = |value: &Value, name: &str| value[name].as_u64().unwrap_or(0);
    let mut facts = Facts::default();
    if story.learned.is_some() {
        let (optimised, live) = (number(&story.before, "optimizedRuns"), number(&story.before, "liveRuns"));
        let share = 100.0 * optimised as f64 / ((optimised + live).max(1) as f64);
        facts = facts.and("share without a model, before", format!("{share:.0} %"));
    }
    let facts = facts
        .and("share without a model, this time", format!("{:.0} %", story.optimised_share()))
        .and("all runs", now["totalRuns"].clone())
        .and("by the model", now["liveRuns"].clone())
        .and("without it", now["optimizedRuns"].clone())
        .and("blocked", now["blockedRuns"].clone())
        .and("spent", dollars(&now["totalCostUsd"]))
        .and("saved", dollars(&now["totalSavedUsd"]))
        .and("dashboard", story.afterwards.clone());
    story.close(&SAVED, facts).await;
    Ok(())
}

/// What `punk verify` says of a packet, in its own words.
fn verified(packet: &Path, trust: &Path) -> Result<(Exit, Value), Failure> {
    let (packet, trust) = (Some(packet.to_owned()), Some(trust.to_owned()));
    let answer = verify::run(&VerifyArgs { packet, trust, chain: false, ledger: None })?;
    Ok((answer.exit, answer.text.lines().map(|line| json!(line)).collect()))
}

fn command(packet: &Path, trust: &Path) -> String {
    format!("punk verify {} --trust {}", packet.display(), trust.display())
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(path, bytes).map_err(|error| unwritten(path, &error))
}
