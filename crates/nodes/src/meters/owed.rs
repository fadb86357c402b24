//! What Redis has to be told and could not be.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use schema::TenantId;
use store::{MeterKey, ReservationId};

/// How much is remembered. Of what is more than that, the reservations end by themselves.
const MOST_OWED: usize = 10_000;

/// A reservation that has ended, and what was spent, which is in the database.
pub(super) struct Debt {
    pub(super) tenant: TenantId,
    pub(super) id: ReservationId,
    pub(super) spent: Vec<(MeterKey, u64)>,
}

#[derive(Default)]
pub(super) struct Owed(Mutex<VecDeque<Debt>>);

impl Owed {
    pub(super) fn add(&self, debt: Debt) {
        let mut owed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if owed.len() < MOST_OWED {
            owed.push_back(debt);
        }
    }

    pub(super) fn next(&self) -> Option<Debt> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}
