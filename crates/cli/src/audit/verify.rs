//! `punk audit verify`: whether a trail is what was recorded and signed. Offline; writes nothing.

use super::export::named_policies;
use super::statement::{LineDigest, Statement, signed};
use super::{FORMAT, trail};
use crate::answer::{Answer, columns};
use crate::args::AuditVerifyArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::verify::{LONGEST_PACKET, execute, read_trust};
use ledger::canonical;
use ledger::note::Note;
use ledger::packet::Packet;
use ledger::trust::Trust;
use ledger::{Checkpoint, Proof, sha256};
use schema::{Digest, RunId, TenantId, Timestamp};
use serde::Deserialize;
use serde_json::Value;
use serde_json::json;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};

pub(super) fn run(args: &AuditVerifyArgs) -> Result<Answer, Failure> {
    let trust = read_trust(&args.trust)?;
    let failure = |error: std::io::Error| {
        Failure::new(Exit::Environment, "punk_unreadable", format!("{}: {error}", args.trail.display()))
    };
    let mut file = BufReader::new(File::open(&args.trail).map_err(failure)?);
    let (mut reader, mut number) = (Reader::default(), 0u64);
    loop {
        let mut line = Vec::new();
        // One byte more than allowed, to tell a line that just fits from one that does not.
        (&mut file).take(LONGEST_PACKET + 1).read_until(b'\n', &mut line).map_err(failure)?;
        if line.is_empty() {
            break;
        }
        number += 1;
        if let Err(why) = reader.read(&line, &trust) {
            return Ok(broken(&format!("line {number}: {why}")));
        }
    }
    Ok(match reader.end {
        Some(end) => valid(&end),
        None => broken(&format!("line {number} is the last, and no end: the trail is cut off")),
    })
}

/// The lines so far.
#[derive(Default)]
struct Reader {
    head: Option<Head>,
    policies: HashMap<Digest, String>,
    /// Whether a run that came later named the policy.
    unnamed: Vec<Digest>,
    digest: LineDigest,
    checkpoint: Option<Checkpoint>,
    before: Option<RunId>,
    runs: u64,
    events: u64,
    /// Checks that could not be made because a field is withheld.
    not_checked: u64,
    end: Option<Verified>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    tenant: TenantId,
    from: Option<Timestamp>,
    to: Timestamp,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyLine {
    digest: Digest,
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunLine {
    run: RunId,
    leaf: u64,
    trail: Vec<Value>,
    packet: Packet,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EndLine {
    runs: u64,
    open: u64,
    checkpoint: String,
    statement: String,
}

/// What a valid trail was found to hold.
struct Verified {
    head: Head,
    checkpoint: Checkpoint,
    runs: u64,
    events: u64,
    open: u64,
    not_checked: u64,
}

impl Reader {
    fn read(&mut self, line: &[u8], trust: &Trust) -> Result<(), String> {
        if self.end.is_some() {
            return Err("something follows the end".to_owned());
        }
        let line = line.strip_suffix(b"\n").ok_or("it is cut off, or longer than any packet")?;
        let value = canonical::parse(line).map_err(|error| format!("it is not canonical JSON: {error:?}"))?;
        let Value::Object(mut members) = value else { return Err("it is not an object".to_owned()) };
        let kind = members.remove("type");
        let kind = kind.as_ref().and_then(Value::as_str).ok_or("it does not say its type")?.to_owned();
        let rest = Value::Object(members);
        match (kind.as_str(), &self.head) {
            ("audit", None) => self.head = Some(head(rest)?),
            ("audit", Some(_)) => return Err("a second beginning".to_owned()),
            (_, None) => return Err("it comes before the beginning".to_owned()),
            ("policy", _) => self.policy(shape(rest)?)?,
            ("run", Some(head)) => {
                let head = head.clone();
                self.run(&head, shape(rest)?, trust)?;
            }
            ("end", Some(head)) => {
                let head = head.clone();
                return self.end(head, &shape(rest)?, trust);
            }
            (other, _) => return Err(format!("`{other}` is no type of line")),
        }
        self.digest.push(line);
        Ok(())
    }

    fn policy(&mut self, line: PolicyLine) -> Result<(), String> {
        if sha256(line.text.as_bytes()) != line.digest {
            return Err(format!("the text of policy {} is not the recorded one", line.digest));
        }
        self.unnamed.push(line.digest);
        match self.policies.insert(line.digest, line.text) {
            None => Ok(()),
            Some(_) => Err(format!("policy {} is there twice", line.digest)),
        }
    }

    fn run(&mut self, head: &Head, line: RunLine, trust: &Trust) -> Result<(), String> {
        let RunLine { run, leaf, trail, mut packet } = line;
        if !packet.policies.is_empty() {
            return Err(format!("run {run}: policies have lines of their own"));
        }
        for digest in named_policies(&packet.events) {
            let text = self.policies.get(&digest);
            let text = text.ok_or_else(|| format!("run {run}: no line before has policy {digest}"))?;
            packet.policies.insert(digest, text.clone());
            self.unnamed.retain(|unnamed| *unnamed != digest);
        }
        let bytes = packet.to_bytes().map_err(|error| format!("run {run}: {error}"))?;
        let report = ledger::packet::verify_with(&bytes, trust, governance::replay, execute);
        let report = report.map_err(|broken| format!("run {run}: {broken}"))?;
        if report.run != run || packet.tenant != head.tenant {
            return Err(format!("run {run}: the packet is about another"));
        }
        if self.before.is_some_and(|before| run >= before) {
            return Err(format!("run {run}: it is not older than the one before it"));
        }
        let began = RunId::new(head.to.as_millis(), [0; 10]);
        let first = head.from.map(|from| RunId::new(from.as_millis(), [0; 10]));
        if run >= began || first.is_some_and(|first| run < first) {
            return Err(format!("run {run}: it is not of the time that the trail is about"));
        }
        if trail.is_empty() || !same(&trail, &trail::rows(&packet.events)) {
            return Err(format!("run {run}: `trail` is not what the events say"));
        }
        let place = packet.leaves.last().and_then(|leaf| leaf.proof.parse::<Proof>().ok());
        if place.is_none_or(|proof| proof.index != leaf) {
            return Err(format!("run {run}: `leaf` is not where the log has it"));
        }
        match &self.checkpoint {
            Some(checkpoint) if *checkpoint != report.checkpoint => {
                return Err(format!("run {run}: it is proven against another head of the log"));
            }
            _ => self.checkpoint = Some(report.checkpoint),
        }
        self.before = Some(run);
        self.runs += 1;
        self.events += trail.len() as u64;
        self.not_checked += report.not_checked.len() as u64;
        Ok(())
    }

    fn end(&mut self, head: Head, line: &EndLine, trust: &Trust) -> Result<(), String> {
        let note: Note = line.checkpoint.parse().map_err(|error| format!("the checkpoint: {error}"))?;
        let checkpoint = Checkpoint::parse(note.text()).ok_or("the checkpoint is not one of a log")?;
        if !checkpoint.origin.as_str().ends_with(&format!("/{}", head.tenant)) {
            return Err(format!("{} is not the log of tenant {}", checkpoint.origin, head.tenant));
        }
        let witnesses =
            signed(&note, &checkpoint.origin, trust).map_err(|why| format!("the checkpoint: {why}"))?;
        if !trust.is_quorum(&witnesses) {
            return Err("the trust file wants others or more to have cosigned the checkpoint".to_owned());
        }
        if self.checkpoint.as_ref().is_some_and(|proven| *proven != checkpoint) {
            return Err("the checkpoint is not the one that the runs are proven against".to_owned());
        }
        if let Some(digest) = self.unnamed.first() {
            return Err(format!("policy {digest} decided nothing here"));
        }
        if line.runs != self.runs {
            return Err(format!("it speaks of {} runs, and there are {}", line.runs, self.runs));
        }
        let statement: Note = line.statement.parse().map_err(|error| format!("the statement: {error}"))?;
        let (from, to, lines) = (head.from, head.to, self.digest.value());
        let expected =
            Statement { checkpoint: &checkpoint, from, to, runs: self.runs, open: line.open, lines };
        if statement.text() != expected.text() {
            return Err(
                "the statement speaks of other lines: some were changed, left out or added".to_owned()
            );
        }
        if statement.signatures().len() != 1 {
            return Err("the statement has more than one signature".to_owned());
        }
        signed(&statement, &checkpoint.origin, trust).map_err(|why| format!("the statement: {why}"))?;
        let Self { runs, events, not_checked, .. } = *self;
        self.end = Some(Verified { head, checkpoint, runs, events, open: line.open, not_checked });
        Ok(())
    }
}

fn head(mut value: Value) -> Result<Head, String> {
    let format = value.as_object_mut().and_then(|members| members.remove("format")).unwrap_or_default();
    if format != json!(FORMAT) {
        return Err(format!("expected the format {FORMAT}, found {format}"));
    }
    shape(value)
}

fn shape<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| format!("it is not as the format has it: {error}"))
}

/// Compared as canonical bytes, as rows of packets are.
fn same(shown: &[Value], derived: &[Value]) -> bool {
    canonical::to_vec(&json!(shown)) == canonical::to_vec(&json!(derived))
}

fn valid(verified: &Verified) -> Answer {
    let Verified { head, checkpoint, runs, events, open, not_checked } = verified;
    let from = head.from.map_or_else(|| "the beginning".to_owned(), |from| from.to_string());
    let rows = [
        ("tenant", head.tenant.to_string()),
        ("time", format!("runs that began from {from} to {}", head.to)),
        ("trail", format!("{events} events in {runs} runs, every one as it was recorded")),
        ("log", format!("{}, {} leaves", checkpoint.origin, checkpoint.size)),
        ("root", checkpoint.root.to_string()),
        ("open", format!("{open} runs had something that was not in the log yet")),
        ("not checked", format!("{not_checked} verdicts or sums, because a field is withheld")),
    ];
    let rows = rows.map(|(name, value)| [format!("  {name}"), value]);
    let json = json!({
        "valid": true, "tenant": head.tenant, "from": head.from, "to": head.to, "runs": runs, "events": events, "open": open,
        "notChecked": not_checked,
        "checkpoint": { "origin": checkpoint.origin.as_str(), "size": checkpoint.size, "root": checkpoint.root },
    });
    Answer::success(format!("valid\n{}", columns(&rows)), json)
}

fn broken(detail: &str) -> Answer {
    let json = json!({ "valid": false, "detail": detail });
    Answer { text: format!("broken: {detail}\n"), json, exit: Exit::No }
}
