//! Commits and events.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use async_trait::async_trait;
use ledger::{Event, Leaf, sha256};
use schema::{Digest, RunId, Seq, Subject, SubjectId, TenantId, Timestamp};

use super::{RunState, Tenant, TenantState};
use crate::{Append, Commit, CommitError, EventStore, KeyChange, Seal, Sealed, Settle, StoreError};

#[async_trait]
impl EventStore for Tenant {
    async fn commit(&self, commit: Commit) -> Result<(), CommitError> {
        let Commit {
            appends,
            policies,
            jobs,
            erase,
            seal,
            keys,
            tenants,
            settings,
            cache,
            touched,
            records,
            settled,
        } = commit;
        let mut state = self.shared.lock();
        let made = KeyChange::made(&keys, self.id)?;
        if let Some((key, _)) = made.iter().find(|(_, hash)| state.keys.contains_key(hash)) {
            return Err(CommitError::KeyTaken(key.id));
        }
        let tenant = state.tenants.entry(self.id).or_default();
        tenant.check_keys(&keys, &made)?;
        tenant.check_records(&records)?;
        tenant.check(self.id, &appends)?;
        if let Some(subject) = erase.iter().find(|subject| !tenant.knows(**subject)) {
            return Err(CommitError::NoSubject(*subject));
        }
        for Seal { run, expected } in &seal {
            let actual = tenant.runs.get(run).map_or(Seq::START, |run| run.row.seq);
            if actual != *expected || actual == Seq::START {
                return Err(CommitError::Moved { run: *run, expected: *expected, actual });
            }
        }
        for (subject, since) in appends.iter().filter_map(Append::about) {
            tenant.get_to_know(subject, since)?;
        }
        for write in &cache {
            if let Some(subject) = &write.subject {
                tenant.get_to_know(subject, write.created_at)?;
            }
        }

        // From here on nothing is refused: all of the commit is written.
        for append in appends {
            tenant.write(append);
        }
        cache.into_iter().for_each(|write| tenant.put(write));
        touched.into_iter().for_each(|(kind, key)| tenant.touch(kind, key));
        for subject in erase {
            tenant.erase(subject)?;
        }
        for Seal { run, .. } in seal {
            tenant.seal(run);
        }
        tenant.policies.extend(policies.into_iter().map(|text| (sha256(text.as_bytes()), text)));
        tenant.settings = settings.unwrap_or_else(|| std::mem::take(&mut tenant.settings));
        tenant.change_keys(&keys);
        tenant.change_records(records);
        settled.iter().for_each(|settlement| tenant.meters.settle_adding(settlement));
        state.keys.extend(made.iter().map(|(key, hash)| (*hash, (self.id, key.id))));
        state.tenant_rows.extend(tenants.into_iter().map(|tenant| (tenant.id, tenant)));
        let has_work = !jobs.is_empty();
        for job in jobs {
            state.jobs.add(self.id, job);
        }
        drop(state);
        self.shared.changes.tell(self.id);
        if has_work {
            self.shared.announce_work();
        }
        Ok(())
    }

    async fn events(&self, run: RunId, after: Seq, limit: NonZeroU32) -> Result<Vec<Event>, StoreError> {
        let limit = limit.get() as usize;
        Ok(self.read(|tenant| {
            let events = tenant.runs.get(&run).map_or(&[][..], |run| &run.events);
            events.iter().skip_while(|event| event.seq <= after).take(limit).cloned().collect()
        }))
    }
}

impl TenantState {
    /// Whether every append continues its run.
    fn check(&self, id: TenantId, appends: &[Append]) -> Result<(), CommitError> {
        // Where the appends before this one leave a run: should a run occur twice, the second goes after the first.
        let mut ends = BTreeMap::new();
        for events in appends.iter().map(|append| &append.events) {
            let (run, expected) = (events.run(), events.after());
            if let Some(left) = self.sealed.get(&run) {
                return Err(CommitError::Moved { run, expected, actual: left.seq });
            }
            let end = ends.entry(run).or_insert_with(|| self.end(run));
            if end.0 != expected {
                return Err(CommitError::Moved { run, expected, actual: end.0 });
            }
            events.follows(id, end.0, end.1).map_err(|cause| CommitError::Refused { run, cause })?;
            *end = events.end();
        }
        Ok(())
    }

    /// Where a run ends.
    fn end(&self, run: RunId) -> (Seq, Digest) {
        self.runs.get(&run).map_or((Seq::START, Digest::ZERO), |run| (run.row.seq, run.row.head))
    }

    fn write(&mut self, append: Append) {
        let Append { events, settle, subject } = append;
        let id = events.run();
        let about = subject.and_then(|subject| self.subjects.get(subject.as_str()).copied());
        let before = self.runs.get(&id).map(|run| &run.row);
        // Without events there is nothing to bind, and no run to begin.
        let Some(row) = self.sums.follow(before, id, &events).filter(|_| !events.is_empty()) else { return };
        let leaf = Leaf { run: id, seq: row.seq, head: row.head };
        let run = self.runs.entry(id).or_insert_with(|| RunState {
            row: row.clone(),
            events: Vec::new(),
            about: Vec::new(),
            places: Vec::new(),
        });
        run.row = row;
        run.about.extend(events.iter().map(|_| about));
        run.events.extend(events.iter().cloned());
        if settle == Settle::Leaf {
            run.places.push(self.log.push(leaf));
        }
    }

    /// Gives a new subject its id.
    fn get_to_know(&mut self, subject: &Subject, since: Timestamp) -> Result<(), StoreError> {
        if !self.subjects.contains_key(subject.as_str()) {
            let random = crypto::random::bytes().map_err(StoreError::unavailable)?;
            let id = SubjectId::new(since.as_millis(), random);
            self.subjects.insert(subject.as_str().to_owned(), id);
        }
        Ok(())
    }

    /// Gives up a run's events; its head stays, bound by a leaf.
    fn seal(&mut self, id: RunId) {
        let Some(run) = self.runs.remove(&id) else { return };
        let (seq, head) = (run.row.seq, run.row.head);
        let last = run.places.last().copied();
        let bound = last.filter(|place| {
            usize::try_from(*place)
                .ok()
                .and_then(|place| self.log.leaves().get(place))
                .is_some_and(|leaf| leaf.seq == seq)
        });
        let leaf = bound.unwrap_or_else(|| self.log.push(Leaf { run: id, seq, head }));
        self.sealed.insert(id, Sealed { seq, head, leaf });
    }
}
