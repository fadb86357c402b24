//! What may be spent, or done, so much and no more: amounts are reserved before, and settled after.
//!
//! A meter counts one thing in one window of time. Whoever is about to use some of it reserves the most that it could come
//! to; the commit that records what happened settles it ([`Commit::settled`](crate::Commit::settled)): in one step the
//! reservation is gone and what was really spent is there. So nobody ever sees neither of the two, or both.
//!
//! - What is spent and what is reserved never exceed a hard limit by a reservation, however many come at once, from however
//!   many processes share the database. Only a settlement that is larger than its reservation can.
//! - A reservation ends by being settled or given back, or by itself: its owner may have died.
//! - What is spent is a source, and survives. Where one process owns the database, reservations live and end with it.
//! - A meter has nobody's name in it: a digest says what it counts.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use async_trait::async_trait;
use schema::{Digest, Id, Prefix, Timestamp};

use crate::error::StoreError;

/// No sum is larger than this: it is what every database can hold.
const MOST: u64 = i64::MAX.unsigned_abs();

/// What is counted, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MeterKey {
    /// Names what is counted.
    pub meter: Digest,
    /// When the window began, in milliseconds since 1970; 0 is a window without an end.
    pub window: i64,
}

/// Names a reservation, of one tenant. The id of the run that it is for does well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReservationId(pub [u8; 16]);

impl<K: Prefix> From<Id<K>> for ReservationId {
    fn from(id: Id<K>) -> Self {
        Self(*id.as_bytes())
    }
}

/// What somebody wants of a meter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Want {
    /// Of which.
    pub key: MeterKey,
    /// How much of it there is in all.
    pub limit: u64,
    /// How much is wanted. Wants of one meter add up.
    pub amount: u64,
    /// Whether nothing at all is reserved if this does not fit; otherwise it is only told.
    pub hard: bool,
}

/// How a meter stood when somebody wanted some of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level {
    /// Which.
    pub key: MeterKey,
    /// How much of it there is in all.
    pub limit: u64,
    /// How much was spent.
    pub spent: u64,
    /// How much others had reserved.
    pub reserved: u64,
    /// How much was wanted on top.
    pub amount: u64,
}

impl Level {
    /// Whether there was room for what was wanted.
    #[must_use]
    pub fn fits(&self) -> bool {
        fits(self.spent, self.reserved, self.amount, self.limit)
    }
}

fn fits(spent: u64, reserved: u64, amount: u64, limit: u64) -> bool {
    spent.saturating_add(reserved).saturating_add(amount) <= limit
}

/// What became of a wish, with a level for each want, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reserved {
    /// All of it is reserved, what is over a soft limit too.
    Held(Vec<Level>),
    /// Nothing is: a hard limit is in the way.
    Short(Vec<Level>),
}

/// What became of a reservation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settlement {
    /// Which. One that has ended, or never was, is no obstacle: what was spent was spent.
    pub id: ReservationId,
    /// What was really spent, be it more or less than was reserved.
    pub spent: Vec<(MeterKey, u64)>,
}

impl Settlement {
    /// What several settlements add to each meter, in the order in which they are locked.
    pub(crate) fn added(settled: &[Self]) -> BTreeMap<MeterKey, u64> {
        let mut sums = BTreeMap::new();
        for (key, amount) in settled.iter().flat_map(|settlement| &settlement.spent) {
            let sum = sums.entry(*key).or_insert(0);
            *sum = add(*sum, *amount);
        }
        sums.retain(|_, amount| *amount > 0);
        sums
    }
}

/// Both together, or as much as can be told.
pub(crate) fn add(spent: u64, amount: u64) -> u64 {
    spent.saturating_add(amount).min(MOST)
}

/// How much is wanted of each meter, in the order in which they are locked.
pub(crate) fn amounts(wants: &[Want]) -> BTreeMap<MeterKey, u64> {
    let mut amounts = BTreeMap::new();
    for Want { key, amount, .. } in wants {
        let sum = amounts.entry(*key).or_insert(0);
        *sum = add(*sum, *amount);
    }
    amounts
}

/// Whether the wants fit, given what is spent of a meter and what others have reserved.
pub(crate) fn judge(wants: &[Want], stands: impl Fn(&MeterKey) -> (u64, u64)) -> Reserved {
    let amounts = amounts(wants);
    let mut is_short = false;
    let mut levels = Vec::with_capacity(wants.len());
    for Want { key, limit, amount, hard } in wants {
        let (spent, reserved) = stands(key);
        let all = amounts.get(key).copied().unwrap_or(*amount);
        is_short |= *hard && !fits(spent, reserved, all, *limit);
        levels.push(Level { key: *key, limit: *limit, spent, reserved, amount: *amount });
    }
    if is_short { Reserved::Short(levels) } else { Reserved::Held(levels) }
}

/// Reserves, and says how meters stand. The handle carries the tenant; [`Store::forget_meters`](crate::Store::forget_meters)
/// takes old windows away.
#[async_trait]
pub trait MeterStore: Send + Sync {
    /// Reserves all that is wanted, or nothing, until `until`: from then on it no longer counts. An id that holds something
    /// already is reserved anew, in place of what it held, if that fits; so a caller that was not told can ask again.
    async fn reserve(
        &self,
        id: ReservationId,
        wants: &[Want],
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Reserved, StoreError>;

    /// Gives back what is reserved. Nothing happens if nothing is.
    async fn release(&self, id: ReservationId) -> Result<(), StoreError>;

    /// For each of these, what is spent and what is reserved, both from one moment.
    async fn levels(&self, keys: &[MeterKey], now: Timestamp) -> Result<Vec<(u64, u64)>, StoreError>;
}

/// The meters of one tenant, as a process that has them to itself keeps them. What is spent may be known of a few only.
#[derive(Debug, Default)]
pub(crate) struct Meters {
    spent: HashMap<MeterKey, u64>,
    /// What all holdings come to; without those that come to nothing.
    reserved: HashMap<MeterKey, u128>,
    held: HashMap<ReservationId, Holding>,
    /// When each holding ends by itself.
    ends: BTreeSet<(Timestamp, ReservationId)>,
}

#[derive(Debug)]
struct Holding {
    until: Timestamp,
    amounts: BTreeMap<MeterKey, u64>,
}

impl Meters {
    /// See [`MeterStore::reserve`].
    pub(crate) fn reserve(
        &mut self,
        id: ReservationId,
        wants: &[Want],
        now: Timestamp,
        until: Timestamp,
    ) -> Reserved {
        self.expire(now);
        let mine = |key: &MeterKey| self.held.get(&id).and_then(|held| held.amounts.get(key)).copied();
        let reserved = judge(wants, |key| {
            let (spent, reserved) = self.stands(key);
            (spent, reserved.saturating_sub(mine(key).unwrap_or(0)))
        });
        if let Reserved::Held(_) = reserved {
            self.release(id);
            let amounts = amounts(wants);
            for (key, amount) in amounts.iter().filter(|(_, amount)| **amount > 0) {
                *self.reserved.entry(*key).or_default() += u128::from(*amount);
            }
            self.ends.insert((until, id));
            self.held.insert(id, Holding { until, amounts });
        }
        reserved
    }

    /// See [`MeterStore::release`].
    pub(crate) fn release(&mut self, id: ReservationId) {
        let Some(Holding { until, amounts }) = self.held.remove(&id) else { return };
        self.ends.remove(&(until, id));
        for (key, amount) in amounts {
            if let Some(sum) = self.reserved.get_mut(&key) {
                *sum = sum.saturating_sub(amount.into());
                if *sum == 0 {
                    self.reserved.remove(&key);
                }
            }
        }
    }

    /// See [`MeterStore::levels`].
    pub(crate) fn levels(&mut self, keys: &[MeterKey], now: Timestamp) -> Vec<(u64, u64)> {
        self.expire(now);
        keys.iter().map(|key| self.stands(key)).collect()
    }

    fn stands(&self, key: &MeterKey) -> (u64, u64) {
        let reserved = self.reserved.get(key).copied().unwrap_or(0);
        (self.spent.get(key).copied().unwrap_or(0), u64::try_from(reserved).unwrap_or(u64::MAX))
    }

    /// Gives back what has ended by itself.
    fn expire(&mut self, now: Timestamp) {
        while let Some((_, id)) = self.ends.first().copied().filter(|(until, _)| *until <= now) {
            self.release(id);
        }
    }

    /// Ends a reservation, and takes note of what is spent by now.
    pub(crate) fn settle(&mut self, id: ReservationId, spent: impl IntoIterator<Item = (MeterKey, u64)>) {
        self.release(id);
        self.spent.extend(spent);
    }

    /// The same, given what is added.
    pub(crate) fn settle_adding(&mut self, settlement: &Settlement) {
        let added = Settlement::added(std::slice::from_ref(settlement));
        let spent: Vec<_> =
            added.iter().map(|(key, amount)| (*key, add(self.stands(key).0, *amount))).collect();
        self.settle(settlement.id, spent);
    }

    /// The same, but what is not known stays so. Whether all of it was known.
    pub(crate) fn settle_known(&mut self, settlement: &Settlement) -> bool {
        self.release(settlement.id);
        let mut all = true;
        for (key, amount) in &settlement.spent {
            match self.spent.get_mut(key) {
                Some(spent) => *spent = add(*spent, *amount),
                None => all = false,
            }
        }
        all
    }

    /// Of which of these it is not known what is spent.
    pub(crate) fn unknown(&self, keys: impl Iterator<Item = MeterKey>) -> BTreeSet<MeterKey> {
        keys.filter(|key| !self.spent.contains_key(key)).collect()
    }

    /// Takes note of what is spent of a meter, unless that is known: then it is known better.
    pub(crate) fn learn(&mut self, key: MeterKey, spent: u64) {
        self.spent.entry(key).or_insert(spent);
    }

    /// How many meters it knows.
    pub(crate) fn known(&self) -> usize {
        self.spent.len()
    }

    /// Forgets what is spent of meters of which nothing is reserved.
    pub(crate) fn forget_idle(&mut self) {
        self.spent.retain(|key, _| self.reserved.contains_key(key));
    }

    /// Forgets windows that began before then, but for those of which something is reserved. How many it knew.
    pub(crate) fn forget(&mut self, before: i64) -> u64 {
        let known = self.spent.len();
        self.spent.retain(|key, _| !is_over(key.window, before) || self.reserved.contains_key(key));
        (known - self.spent.len()) as u64
    }
}

/// Whether a window can be forgotten.
fn is_over(window: i64, before: i64) -> bool {
    window < before && window != 0
}
