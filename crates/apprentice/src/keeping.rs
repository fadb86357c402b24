//! What came of a page of news, as one commit: studies, attempts, programs, what is not to be tried again, and what Punk did by itself.

use std::collections::BTreeMap;

use crypto::random::Generator;
use ledger::{Deed, Salt};
use schema::{Digest, RunId, TenantId};
use serde_json::{Map, Value, json};
use store::{Append, CacheHeld, CacheKind, CacheWrite, Commit, RecordChange, RecordKind, Settle};
use store::{StoreError, TenantStore};

use crate::desk::Desk;
use crate::stored::{
    Loaded, RETIRED, artifact_change, attempt_change, place_change, program_change, program_id,
};
use crate::study::{Changed, Negative};
use crate::tick::{Apprentice, MOST_ENTRIES, Telling};

impl Desk {
    /// The changes that keep what is new of its studies, and of what was mined.
    pub(crate) fn kept(&mut self) -> Vec<RecordChange> {
        for made in &self.out.given_up {
            // Whoever comes next in its place is a record of its own.
            if let Some(loaded) = self.studies.get_mut(&made.pattern) {
                loaded.versions.artifact = 0;
            }
        }
        let changed = self.studies.values_mut().filter(|loaded| loaded.is_changed);
        let studied = changed.flat_map(Loaded::changes);
        let mines = self.mines.iter_mut().filter(|(_, mine)| mine.is_changed);
        studied.chain(mines.map(|(base, mine)| mine.change(*base))).collect()
    }
}

impl Apprentice {
    pub(crate) async fn commit(
        &self,
        store: &dyn TenantStore,
        tenant: TenantId,
        (desk, kept): (&Desk, Vec<RecordChange>),
        version: u64,
        telling: Telling,
    ) -> Result<Commit, StoreError> {
        let mut records = vec![place_change(&desk.place, version)];
        for made in &desk.out.given_up {
            let known = store.record(RecordKind::Artifact, &made.id.to_string()).await?;
            let key = desk.studies.get(&made.pattern).map_or(Digest::ZERO, |loaded| loaded.study.key);
            records.push(artifact_change(made, RETIRED, key, known.map_or(0, |record| record.version)));
        }
        records.extend(kept);
        records.extend(desk.out.attempts.iter().map(attempt_change));
        // Only the last program of a page can be asked for by anybody.
        let mut programs: BTreeMap<String, _> = BTreeMap::new();
        for (artifact, name, text) in &desk.out.programs {
            programs.insert(program_id(*artifact, name.version), (*artifact, name, text));
        }
        for (artifact, version) in &desk.out.pruned {
            let id = program_id(*artifact, *version);
            programs.remove(&id);
            if let Some(record) = store.record(RecordKind::Program, &id).await? {
                let (kind, expected) = (RecordKind::Program, record.version);
                records.push(RecordChange { kind, id, expected, to: None });
            }
        }
        for (id, (artifact, name, text)) in programs {
            let known = store.record(RecordKind::Program, &id).await?;
            if known.as_ref().is_some_and(|known| known.key == Some(name.digest)) {
                continue;
            }
            records.push(program_change(
                artifact,
                name,
                text,
                (self.clock)(),
                known.map_or(0, |known| known.version),
            ));
        }
        let mut appends = Vec::new();
        if telling == Telling::Told {
            for (artifact, changed) in desk.out.changes.iter().filter(|(_, changed)| !was_ordered(changed)) {
                appends.push(self.deed(
                    tenant,
                    "audit.artifact_changed",
                    &artifact.to_string(),
                    json!({
                        "stage": changed.stage, "reason": changed.reason, "run": changed.run,
                    }),
                )?);
            }
        }
        let cache = desk.out.negatives.iter().map(negative_entry).collect();
        Ok(Commit { appends, records, cache, ..Commit::default() })
    }

    /// Something that Punk itself did, as a run of its own.
    pub(crate) fn deed(
        &self,
        tenant: TenantId,
        r#type: &str,
        target: &str,
        details: Value,
    ) -> Result<Append, StoreError> {
        let mut random = Generator::new().map_err(StoreError::unavailable)?;
        let now = (self.clock)();
        let mut fields = if let Value::Object(fields) = details { fields } else { Map::new() };
        fields.insert("actor".to_owned(), json!("punk"));
        fields.insert("target".to_owned(), json!(target));
        let run = RunId::new(now.as_millis(), random.bytes());
        let deed = Deed { app: "punk", agent: "learning", r#type, fields };
        let events = deed.record(tenant, run, now, || Salt::from_bytes(random.bytes()));
        let events = events.map_err(StoreError::unavailable)?;
        Ok(Append { events, settle: Settle::Leaf, subject: None })
    }
}

/// What is not to be tried again, as an entry of the cache that ends by itself.
fn negative_entry(negative: &Negative) -> CacheWrite {
    let text = json!({ "reason": negative.reason }).to_string();
    CacheWrite {
        kind: CacheKind::Negative,
        key: negative.key,
        bytes: text.len() as u64,
        held: CacheHeld::Value(text.into_bytes()),
        subject: None,
        model: None,
        created_at: negative.at,
        expires_at: negative.until,
        at_most: Some(MOST_ENTRIES),
    }
}

/// What operators decided is on record by them.
fn was_ordered(changed: &Changed) -> bool {
    ["promoted by", "rolled back by", "quarantined by", "released by", "imported by", "compared otherwise by"]
        .iter()
        .any(|how| changed.reason.starts_with(how))
}
