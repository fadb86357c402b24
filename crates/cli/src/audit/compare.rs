//! `punk audit compare`: whether the ledger still is what a sink was told. Writes nothing.

use crate::answer::{Answer, columns};
use crate::args::{AuditCompareArgs, Common};
use crate::backup::not_stored;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::verify::read_trust;
use crate::{runtime, settings, storage};
use ledger::note::KeyName;
use outbox::{Comparison, Copies, compare, log_of};
use schema::TenantId;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use store::Store;

pub(super) fn run(common: &Common, args: &AuditCompareArgs) -> Result<Answer, Failure> {
    let settings = settings::load(common)?;
    let trust = read_trust(&args.trust)?;
    let text = std::fs::read_to_string(&args.copy).map_err(|error| {
        Failure::new(Exit::Environment, "punk_unreadable", format!("{}: {error}", args.copy.display()))
    })?;
    let copies = match Copies::read(&text, &trust) {
        Ok(copies) => copies,
        Err(error) => return Ok(broken(&error.to_string())),
    };
    storage::must_exist(&settings, "compared")?;
    runtime::block_on(async {
        let store = storage::open_to_read(&settings).await?;
        all(&*store, &copies).await
    })
}

/// Every log that the copy has a head of.
async fn all(store: &dyn Store, copies: &Copies) -> Result<Answer, Failure> {
    let origins: BTreeSet<&KeyName> = copies.checkpoints.iter().map(|one| &one.origin).collect();
    let (mut rows, mut logs, mut exit) = (Vec::new(), Vec::new(), Exit::Success);
    for origin in origins {
        let Some(tenant) = tenant(origin) else {
            return Ok(broken(&format!("{origin} is no log of Punk's")));
        };
        let log = log_of(&*store.tenant(tenant)).await.map_err(|error| not_stored(&error))?;
        let (size, compared) = (log.size(), compare(&copies.checkpoints, origin, &log));
        let (said, found) = match compared {
            Comparison::Consistent { checkpoints } => (
                format!("{size} leaves, the continuation of all {checkpoints} heads"),
                json!({ "consistent": true, "checkpoints": checkpoints }),
            ),
            Comparison::Rewritten { kept, until } => {
                exit = Exit::No;
                let said = format!("REWRITTEN: the first {kept} leaves hold, and those up to {until} do not");
                (said, json!({ "consistent": false, "kept": kept, "until": until }))
            }
        };
        rows.push([format!("  {origin}"), said]);
        logs.push(json!({ "origin": origin.as_str(), "size": size, "compared": found }));
    }
    let heading = if exit == Exit::Success { "consistent" } else { "rewritten" };
    let torn = match copies.torn.len() {
        0 => String::new(),
        lines => format!("{lines} lines are no JSON, as a crash leaves them\n"),
    };
    let json =
        json!({ "consistent": exit == Exit::Success, "logs": Value::Array(logs), "torn": copies.torn });
    Ok(Answer { text: format!("{heading}\n{}{torn}", columns(&rows)), json, exit })
}

/// Whose log it is: an origin ends in the tenant's id.
fn tenant(origin: &KeyName) -> Option<TenantId> {
    origin.as_str().rsplit('/').next()?.parse().ok()
}

fn broken(detail: &str) -> Answer {
    let json = json!({ "consistent": false, "detail": detail });
    Answer { text: format!("broken: {detail}\n"), json, exit: Exit::No }
}
