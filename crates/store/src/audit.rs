//! Checking what a tenant has, through the traits alone: every chain, every row, every leaf's proof.
//!
//! Slower than an adapter's own check and the same for all of them, also while others write.

use std::num::NonZeroU32;

use ledger::{Chain, verify_inclusion};
use schema::{RunId, Seq, TenantId};

use crate::TenantStore;
use crate::error::StoreError;
use crate::filter::RunFilter;
use crate::run::RunRow;

const PAGE: NonZeroU32 = NonZeroU32::new(200).unwrap();

/// How much was found good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Audited {
    /// Runs.
    pub runs: u64,
    /// Events.
    pub events: u64,
    /// Leaves.
    pub leaves: u64,
}

/// Checks every run of the tenant whose handle this is.
///
/// # Errors
/// The first thing that is not what was written, as [`StoreError::Damaged`].
pub async fn audit(store: &dyn TenantStore, tenant: TenantId) -> Result<Audited, StoreError> {
    let mut audited = Audited::default();
    let mut before = None;
    loop {
        let page = store.runs(&RunFilter::ALL, before, PAGE).await?;
        let Some(last) = page.last() else { return Ok(audited) };
        before = Some(last.id);
        for row in page {
            audit_run(store, tenant, row.id, &mut audited).await?;
        }
    }
}

async fn audit_run(
    store: &dyn TenantStore,
    tenant: TenantId,
    run: RunId,
    audited: &mut Audited,
) -> Result<(), StoreError> {
    let damaged = |what: String| StoreError::Damaged(format!("run {run}: {what}"));
    // The row first: events that come later are more than it says, never less.
    let row = store.run(run).await?.ok_or_else(|| damaged("it is listed and not there".into()))?;
    let mut events = store.events(run, Seq::START, NonZeroU32::MAX).await?;
    events.retain(|event| event.seq <= row.seq);
    let mut chain = Chain::new(tenant, run);
    events
        .iter()
        .try_for_each(|event| chain.verify_next(event))
        .map_err(|error| damaged(error.to_string()))?;
    if RunRow::fold_all(None, run, &events).as_ref() != Some(&row) {
        return Err(damaged("its row is not what its events say".into()));
    }
    let proof = store.prove(run).await?.ok_or_else(|| damaged("it cannot be proven".into()))?;
    for place in &proof.record.leaves {
        let bound = proof.record.events.iter().find(|event| event.seq == place.leaf.seq);
        let holds = bound.is_some_and(|event| event.hash == place.leaf.head)
            && verify_inclusion(&place.leaf, place.index, proof.size, proof.root, &place.path);
        if !holds {
            return Err(damaged(format!("leaf {} does not bind it", place.index)));
        }
    }
    audited.runs += 1;
    audited.events += events.len() as u64;
    audited.leaves += proof.record.leaves.len() as u64;
    Ok(())
}
