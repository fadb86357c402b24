//! Answers that were read a while ago: what is asked again and again need not be read and checked each time.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use schema::{RunId, TenantId};
use wire::Answer;

use crate::route::Estimate;

/// How many are kept, and how large one may be: four megabytes at most.
const MOST: usize = 256;
const LARGEST: u64 = 16 * 1024;

/// Answers by the runs that gave them. A run gives one answer, and it never changes.
#[derive(Debug, Default)]
pub(crate) struct Answers(Mutex<HashMap<(TenantId, RunId), (Answer, Estimate)>>);

impl Answers {
    pub(crate) fn get(&self, place: &(TenantId, RunId)) -> Option<(Answer, Estimate)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(place).cloned()
    }

    /// Keeps an answer that takes so many bytes, if it is not too large.
    pub(crate) fn keep(&self, place: (TenantId, RunId), read: &(Answer, Estimate), bytes: u64) {
        if bytes > LARGEST {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST {
            kept.clear();
        }
        kept.insert(place, read.clone());
    }
}
