//! `punk audit`: what operators changed and what was held back, in a file that a stranger can check.
//!
//! `docs/reference/audit-trail.md` is the format, and says what it proves. A run of the trail is an evidence packet that shows
//! only what belongs to the trail, so that everything about a packet holds here too; `statement.rs` is the exporter's signed
//! word for the file as a whole. `trail.rs` says what belongs to the trail. `compare.rs` is about copies of the ledger's heads. Nothing here is cryptography of its own.

mod compare;
mod export;
mod statement;
mod trail;
mod verify;

use crate::answer::Answer;
use crate::args::{AuditCommand, Common};
use crate::failure::Failure;

/// The name of the format.
const FORMAT: &str = "punk.audit/1";

pub(crate) fn run(common: &Common, command: &AuditCommand) -> Result<Answer, Failure> {
    match command {
        AuditCommand::Export(args) => export::run(common, args),
        AuditCommand::Verify(args) => verify::run(args),
        AuditCommand::Compare(args) => compare::run(common, args),
    }
}
