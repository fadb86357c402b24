//! What keeping and forgetting need.

use std::sync::Arc;

use schema::Timestamp;
use store::{Store, View};

/// Reads the wall clock.
pub type Clock = fn() -> Timestamp;

/// Forgets on request and after a time.
#[derive(Clone)]
pub struct Keeper {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) views: Arc<[Box<dyn View>]>,
    pub(crate) clock: Clock,
}

/// Who has something forgotten.
#[derive(Debug, Clone)]
pub struct Actor {
    /// The app it came through.
    pub app: String,
    /// The agent, or the part of Punk, that asked.
    pub agent: String,
    /// Who answers for it: the id of a key, `installation`, or `punk`.
    pub by: String,
}

impl Actor {
    /// Punk itself.
    #[must_use]
    pub fn punk() -> Self {
        Self { app: "punk".to_owned(), agent: "retention".to_owned(), by: "punk".to_owned() }
    }
}

impl Keeper {
    /// A keeper of this store and of the views that are derived from it.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, views: Vec<Box<dyn View>>, clock: Clock) -> Self {
        Self { store, views: views.into(), clock }
    }
}
