//! What can go wrong with any store.

/// A cause from below: a driver, a file, a server.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The store is out of reach or would not do it. What a write had asked for is either all there or not at all; a retry
/// with the same `expected` finds out.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It cannot be reached, or refuses for now: a lost connection, a lock that others hold.
    #[error("the store is out of reach")]
    Unavailable(#[source] BoxError),
    /// There is no room for what was to be written. What is there can be read, and writes work again when there is room.
    #[error("the store has no room left on its disk")]
    Full(#[source] BoxError),
    /// What it holds is not what was written.
    #[error("the store is damaged: {0}")]
    Damaged(String),
}

impl StoreError {
    /// Out of reach, because of `cause`.
    pub fn unavailable(cause: impl Into<BoxError>) -> Self {
        Self::Unavailable(cause.into())
    }

    /// The same, with where the damage is said first.
    #[must_use]
    pub fn within(self, place: impl std::fmt::Display) -> Self {
        match self {
            Self::Damaged(what) => Self::Damaged(format!("{place}: {what}")),
            other => other,
        }
    }
}
