//! What of the tenants' studies stays in memory between pages, so that it is not read and parsed again with each.

use std::collections::{BTreeMap, HashMap};

use schema::{Digest, PatternId, TenantId};

use crate::desk::Desk;
use crate::stored::{Loaded, Mine};

/// Studies that are kept, and bytes of their learners.
const MOST_STUDIES: usize = 64;
const MOST_BYTES: usize = 16 << 20;
/// Bytes of what is mined that are kept.
const MOST_MINED_BYTES: usize = 8 << 20;

/// Studies and templates that were used of late.
#[derive(Default)]
pub(crate) struct Memory {
    studies: HashMap<(TenantId, PatternId), Loaded>,
    /// What was mined, with the version of the record of how far the log was read: as long as it is that one, nobody else read on.
    mines: HashMap<TenantId, (u64, BTreeMap<Digest, Mine>)>,
}

impl Memory {
    /// Takes a study out.
    pub(crate) fn study(&mut self, tenant: TenantId, id: PatternId) -> Option<Loaded> {
        self.studies.remove(&(tenant, id))
    }

    /// Takes out what was mined up to this version of the place in the log.
    pub(crate) fn mines(&mut self, tenant: TenantId, version: u64) -> BTreeMap<Digest, Mine> {
        let kept = self.mines.remove(&tenant).filter(|kept| kept.0 == version);
        kept.map(|kept| kept.1).unwrap_or_default()
    }

    /// Keeps what is on a desk, all of which is written now; `version` is that of the place in the log.
    pub(crate) fn keep(&mut self, tenant: TenantId, version: u64, desk: Desk) {
        for (id, loaded) in desk.studies {
            let bytes: usize = self.studies.values().map(|kept| kept.tutor.bytes()).sum();
            if self.studies.len() >= MOST_STUDIES || bytes >= MOST_BYTES {
                self.studies.clear();
            }
            self.studies.insert((tenant, id), loaded);
        }
        let bytes = |mines: &BTreeMap<Digest, Mine>| -> usize {
            mines.values().map(|mine| mine.templates.bytes()).sum()
        };
        let others: usize = self.mines.values().map(|kept| bytes(&kept.1)).sum();
        if others + bytes(&desk.mines) > MOST_MINED_BYTES {
            self.mines.clear();
        }
        if !desk.mines.is_empty() && bytes(&desk.mines) <= MOST_MINED_BYTES {
            self.mines.insert(tenant, (version, desk.mines));
        }
    }

    /// Nothing of the tenant's stays.
    pub(crate) fn forget(&mut self, tenant: TenantId) {
        self.studies.retain(|(owner, _), _| *owner != tenant);
        self.mines.remove(&tenant);
    }
}
