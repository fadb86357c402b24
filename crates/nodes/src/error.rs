//! What can go wrong with what is shared.

use redis::RedisError;
use store::StoreError;

/// Why meters cannot be asked. Whoever would spend must not: nobody knows whether there is room.
#[derive(Debug, thiserror::Error)]
pub enum MeterError {
    /// Redis cannot be reached, or refuses.
    #[error("Redis is out of reach")]
    Unavailable(#[source] RedisError),
    /// Again and again Redis forgot what it was told a moment ago.
    #[error("Redis does not keep what it is told")]
    Forgetful,
    /// What was spent cannot be read from the database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why requests cannot be counted for all nodes. Each counts for itself then.
#[derive(Debug, thiserror::Error)]
pub enum LimitError {
    /// Redis cannot be reached, or refuses.
    #[error("Redis is out of reach")]
    Unavailable(#[source] RedisError),
    /// It takes longer than anybody should wait.
    #[error("Redis does not answer in time")]
    Late,
}

/// Why there is no way to Redis at all.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The address is none. The cause does not repeat it, for there may be a password in it.
    #[error("`store.redis_url` cannot be used")]
    Url(#[source] RedisError),
    /// It does not answer as Redis does.
    #[error("Redis does not answer")]
    Silent(#[source] RedisError),
}
