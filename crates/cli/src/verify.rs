//! `punk verify`: whether a packet, or a whole ledger, is what was recorded. Offline; writes nothing.

use crate::answer::{Answer, columns};
use crate::args::VerifyArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use apprentice::ExecuteError;
use ledger::packet::{Broken, Execution, Report};
use ledger::trust::Trust;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use store::StoreError;

/// A packet is one run; whatever is longer was named by mistake.
pub(crate) const LONGEST_PACKET: u64 = 64 << 20;
const LONGEST_TRUST: u64 = 1 << 20;

pub(crate) fn run(args: &VerifyArgs) -> Result<Answer, Failure> {
    match (&args.packet, &args.trust, &args.ledger) {
        (Some(packet), Some(trust), _) => verify_packet(packet, trust),
        (Some(packet), None, _) if args.chain => verify_chain(packet),
        (_, _, Some(ledger)) => check_ledger(ledger),
        // clap asks for one of them.
        _ => Err(Failure::new(Exit::Usage, "punk_usage", "name a packet and a trust file, or a ledger")),
    }
}

fn verify_chain(packet: &Path) -> Result<Answer, Failure> {
    Ok(match ledger::packet::verify_chain(&read_packet(packet)?) {
        Ok((run, seq, head)) => {
            let text = format!(
                "a chain\n  run     {run}\n  events  {seq}, each following the one before\n  head    {head}\n"
            );
            Answer::success(text, json!({ "chain": true, "run": run, "events": seq, "head": head }))
        }
        Err(broken) => refused(&broken),
    })
}

/// The bytes of a packet.
pub(crate) fn read_packet(path: &Path) -> Result<Vec<u8>, Failure> {
    read(path, LONGEST_PACKET)
}

fn verify_packet(packet: &Path, trust: &Path) -> Result<Answer, Failure> {
    let trust = read_trust(trust)?;
    let bytes = read_packet(packet)?;
    Ok(match ledger::packet::verify_with(&bytes, &trust, governance::replay, execute) {
        Ok(report) => valid(&report),
        Err(broken) => refused(&broken),
    })
}

/// Has a learned program answer a recorded request again.
pub(crate) fn execute(execution: &Execution<'_>) -> Result<Option<Value>, ExecuteError> {
    let Execution { engine, artifact, asked, answer, told } = *execution;
    let Some(asked) = asked else {
        return if engine == apprentice::ENGINE {
            Ok(None)
        } else {
            Err(ExecuteError::Engine(engine.to_owned()))
        };
    };
    apprentice::reexecute(engine, artifact, asked, (answer, told)).map(Some)
}

/// Whose word to take.
pub(crate) fn read_trust(path: &Path) -> Result<Trust, Failure> {
    let text =
        String::from_utf8(read(path, LONGEST_TRUST)?).map_err(|_| bad_trust(path, "it is not UTF-8 text"))?;
    Trust::parse(&text).map_err(|error| bad_trust(path, &error.to_string()))
}

fn bad_trust(path: &Path, why: &str) -> Failure {
    Failure::new(Exit::Usage, "punk_trust_invalid", format!("{}: {why}", path.display())).hint(
        "`punk keys trust` prints a trust file; docs/reference/evidence-packet.md, section 7, has the rules",
    )
}

fn read(path: &Path, longest: u64) -> Result<Vec<u8>, Failure> {
    let failure = |why: String| {
        Failure::new(Exit::Environment, "punk_unreadable", format!("{}: {why}", path.display()))
    };
    let file = File::open(path).map_err(|error| failure(error.to_string()))?;
    let mut bytes = Vec::new();
    // One byte more than allowed, to tell a file that just fits from one that does not.
    file.take(longest + 1).read_to_end(&mut bytes).map_err(|error| failure(error.to_string()))?;
    if bytes.len() as u64 > longest {
        return Err(failure(format!("it is longer than {} MiB", longest >> 20)));
    }
    Ok(bytes)
}

fn valid(report: &Report) -> Answer {
    let Report { run, events, checkpoint, witnesses, withheld, not_checked } = report;
    let list = |items: &[String]| if items.is_empty() { "none".to_owned() } else { items.join("; ") };
    let rows = [
        ("run", run.to_string()),
        ("events", format!("{events}, every one as it was recorded")),
        ("log", format!("{}, {} leaves", checkpoint.origin, checkpoint.size)),
        ("root", checkpoint.root.to_string()),
        ("witnesses", list(witnesses)),
        ("withheld", list(withheld)),
        ("not checked", list(not_checked)),
    ];
    let rows = rows.map(|(name, value)| [format!("  {name}"), value]);
    let json = json!({
        "valid": true, "run": run, "events": events, "witnesses": witnesses, "withheld": withheld, "notChecked": not_checked,
        "checkpoint": { "origin": checkpoint.origin.as_str(), "size": checkpoint.size, "root": checkpoint.root },
    });
    Answer::success(format!("valid\n{}", columns(&rows)), json)
}

fn refused(broken: &Broken) -> Answer {
    let Broken { reason, detail } = broken;
    Answer {
        text: format!("broken ({reason}): {detail}\n"),
        json: json!({ "valid": false, "reason": reason.code(), "detail": detail }),
        exit: Exit::No,
    }
}

fn check_ledger(path: &Path) -> Result<Answer, Failure> {
    match store::sqlite::check(path) {
        Ok(checked) => {
            let mut rows = vec![
                ["  events".to_owned(), format!("{}, every one as it was recorded", checked.events)],
                ["  runs".to_owned(), format!("{}, every row what its events say", checked.runs)],
            ];
            if checked.sealed > 0 {
                rows.push([
                    "  sealed".to_owned(),
                    format!("{} sealed runs, of which the heads are in the log", checked.sealed),
                ]);
            }
            for (tenant, size, root) in &checked.logs {
                rows.push([format!("  log {tenant}"), format!("{size} leaves, root {root}")]);
            }
            let log = |(tenant, size, root): &_| json!({ "tenant": tenant, "size": size, "root": root });
            let logs: Vec<Value> = checked.logs.iter().map(log).collect();
            let json = json!({
                "valid": true, "events": checked.events, "runs": checked.runs, "sealed": checked.sealed, "logs": logs,
            });
            Ok(Answer::success(format!("valid\n{}", columns(&rows)), json))
        }
        Err(StoreError::Damaged(what)) => Ok(Answer {
            text: format!("broken: {}: {what}\n", path.display()),
            json: json!({ "valid": false, "detail": what }),
            exit: Exit::No,
        }),
        Err(error) => Err(Failure::of(Exit::Environment, "punk_unreadable", &error)),
    }
}
