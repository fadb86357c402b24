//! `punk withhold`: a packet that shows less and proves as much.

use crate::answer::Answer;
use crate::args::WithholdArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::verify::read_packet;
use ledger::packet::Packet;
use serde_json::json;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

pub(crate) fn run(args: &WithholdArgs) -> Result<Answer, Failure> {
    let not_a_packet = |why: String| {
        Failure::new(Exit::No, "punk_not_a_packet", format!("{}: {why}", args.packet.display()))
            .hint("`punk verify` says what is wrong with it")
    };
    let mut packet: Packet = serde_json::from_slice(&read_packet(&args.packet)?)
        .map_err(|error| not_a_packet(error.to_string()))?;
    for (event, field) in &args.fields {
        packet
            .withhold(*event, field)
            .map_err(|error| Failure::of(Exit::No, "punk_cannot_withhold", &error))?;
    }
    let bytes = packet.to_bytes().map_err(|error| not_a_packet(error.to_string()))?;
    // Canonical JSON is UTF-8.
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let withheld: Vec<String> = args.fields.iter().map(|(event, field)| format!("{event}.{field}")).collect();
    let Some(out) = &args.out else {
        return Ok(Answer::success(text.clone(), json!({ "packet": text, "withheld": withheld })));
    };
    write_new(out, &bytes).map_err(|error| {
        Failure::new(Exit::Environment, "punk_unwritable", format!("{}: {error}", out.display()))
            .hint("name a file that does not exist yet")
    })?;
    let said = format!("wrote {} without the values of {}\n", out.display(), withheld.join(", "));
    Ok(Answer::success(said, json!({ "out": out.display().to_string(), "withheld": withheld })))
}

/// Writes a file that must not be there yet; a half-written one is taken away again.
fn write_new(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(bytes).and_then(|()| file.sync_all()).inspect_err(|_| {
        // The first error is the one to tell.
        let _ = std::fs::remove_file(path);
    })
}
