//! `punk policy diff`: what of the decisions on record would come out differently under other policies.
//!
//! Reads as `punk export` does, also while a server runs, and changes nothing.

use super::check::counted;
use super::files::{self, Read};
use super::replayed::{Change, Changed, Recorded, Replayed, Unrecorded};
use crate::answer::{Answer, columns};
use crate::args::{Common, DiffArgs};
use crate::backup::not_stored;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::ProgressLine;
use crate::{settings, storage};
use governance::PolicySet;
use ledger::{Event, sha256};
use schema::{Digest, RunId, Seq, TenantId};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::num::NonZeroU32;
use store::{RunFilter, StoreError, TenantStore};

/// How many runs, events or policies are held at once.
const PAGE: NonZeroU32 = NonZeroU32::new(100).unwrap();

pub(super) fn run(common: &Common, args: &DiffArgs) -> Result<Answer, Failure> {
    let Read { set, digest, .. } = files::read(common, &args.paths)?;
    let settings = settings::load(common)?;
    let tenant = args.tenant.unwrap_or(TenantId::NIL);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::of(Exit::Environment, "punk_no_runtime", &error))?;
    let replayed = runtime.block_on(async {
        storage::must_exist(&settings, "looked through")?;
        let store = storage::open_to_read(&settings).await?;
        store.seal_with(storage::masters(&storage::open_keys(&settings)?));
        replay(&*store.tenant(tenant), &set, u64::from(args.last.get()))
            .await
            .map_err(|error| not_stored(&error))
    })?;
    if replayed.seen() == 0 {
        let message = format!("tenant {tenant} has no decisions on record");
        return Err(Failure::new(Exit::No, "punk_no_decisions", message)
            .hint("name another with --tenant, or another database with --data-dir"));
    }
    Ok(Answer::success(text(&replayed), described(&replayed, digest)))
}

async fn replay(store: &dyn TenantStore, set: &PolicySet, last: u64) -> Result<Replayed, StoreError> {
    let before = sets(store).await?;
    let progress = ProgressLine::new();
    let mut replayed = Replayed::default();
    let mut page = store.runs(&RunFilter::ALL, None, PAGE).await?;
    while let Some(oldest) = page.last().map(|row| row.id) {
        for row in &page {
            for event in decisions(store, row.id).await?.iter().rev() {
                if replayed.seen() == last {
                    return Ok(replayed);
                }
                let field = |name: &str| event.payload.get(name).and_then(ledger::Field::value);
                let recorded = Recorded {
                    engine: field("engine"),
                    policies: field("policies"),
                    facts: field("facts"),
                    action: field("action"),
                    verdict: field("verdict"),
                };
                replayed.put(set, &before, row.id, &recorded);
            }
        }
        progress.write(&format!(
            "decisions: {} of {last}, {} would change",
            replayed.seen(),
            replayed.changed()
        ));
        page = store.runs(&RunFilter::ALL, Some(oldest), PAGE).await?;
    }
    Ok(replayed)
}

/// The decisions of a run, oldest first.
async fn decisions(store: &dyn TenantStore, run: RunId) -> Result<Vec<Event>, StoreError> {
    let mut decisions = Vec::new();
    let mut after = Seq::START;
    loop {
        let page = store.events(run, after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(decisions) };
        after = last.seq;
        decisions.extend(page.into_iter().filter(|event| event.r#type == "policy.decided"));
    }
}

/// The sets that have decided, by their digests. What another engine wrote is none.
async fn sets(store: &dyn TenantStore) -> Result<HashMap<Digest, PolicySet>, StoreError> {
    let mut sets = HashMap::new();
    let mut page = store.policies(None, PAGE).await?;
    while let Some(last) = page.last().map(|text| sha256(text.as_bytes())) {
        let read =
            page.iter().filter_map(|text| Some((sha256(text.as_bytes()), PolicySet::parse(text).ok()?)));
        sets.extend(read);
        page = store.policies(Some(last), PAGE).await?;
    }
    Ok(sets)
}

fn text(replayed: &Replayed) -> String {
    let decided = usize::try_from(replayed.decided).unwrap_or(usize::MAX);
    let mut text = format!(
        "{} of the last {} would change\n",
        if replayed.changed() == 0 { "none".to_owned() } else { replayed.changed().to_string() },
        counted(decided, "decision", "decisions"),
    );
    let rows: Vec<[String; 6]> = ordered(replayed)
        .into_iter()
        .map(|(Change { action, from, to }, Changed { count, examples })| {
            let examples: Vec<String> = examples.iter().map(ToString::to_string).collect();
            [
                format!("  {count}"),
                action.clone(),
                from.clone(),
                "→".to_owned(),
                to.clone(),
                examples.join(" "),
            ]
        })
        .collect();
    text += &columns(&rows);
    for (count, what) in [
        (replayed.by_another, "would be decided alike, by another rule or policy"),
        (
            replayed.without_cost,
            "do not say what the action would cost, which these policies ask for: not known, and no reason to allow",
        ),
        (replayed.of_other_engines, "of other engines: not put again"),
        (replayed.unreadable, "whose facts, action or verdict are not there to be read: not put again"),
    ] {
        if count > 0 {
            text += &format!("{count} {what}\n");
        }
    }
    for (name, Unrecorded { limit, decisions }) in &replayed.unrecorded {
        text +=
            &format!("nothing was recorded for the limit {name} ({limit}): taken as unused in {decisions}\n");
    }
    text
}

/// The most frequent changes first.
fn ordered(replayed: &Replayed) -> Vec<(&Change, &Changed)> {
    let mut changes: Vec<_> = replayed.changes.iter().collect();
    changes.sort_by_key(|(_, changed)| std::cmp::Reverse(changed.count));
    changes
}

fn described(replayed: &Replayed, digest: Digest) -> Value {
    let changes: Vec<Value> = ordered(replayed)
        .into_iter()
        .map(|(Change { action, from, to }, Changed { count, examples })| {
            json!({ "action": action, "from": from, "to": to, "count": count, "runs": examples })
        })
        .collect();
    let unrecorded: Vec<Value> = replayed
        .unrecorded
        .iter()
        .map(|(name, Unrecorded { limit, decisions })| json!({ "rule": name, "limit": limit, "decisions": decisions }))
        .collect();
    json!({
        "digest": digest, "decisions": replayed.decided, "changed": replayed.changed(), "changes": changes,
        "byAnotherRule": replayed.by_another, "otherEngines": replayed.of_other_engines, "unreadable": replayed.unreadable,
        "withoutCost": replayed.without_cost, "limitsNotRecorded": unrecorded,
    })
}
