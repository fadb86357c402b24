//! What the nodes of one installation share beside the database.
//!
//! [`RedisMeters`] counts budgets and the limits of policies in Redis, so that asking for room holds no lock in the
//! database that every node writes to. Start at `meters.rs`; `meters/*.lua` are the steps that Redis takes, each at once.
//!
//! - The database stays the truth: what Redis forgets is read from there again, and what it cannot say is refused.
//! - Nothing stays in Redis for ever, and nothing in it is about a person: digests, ids and numbers.
//!
//! To share one more thing: a file for it, under keys of its own that begin with `punk:{tenant}:`.

mod error;
mod meters;

pub use error::{ConnectError, MeterError};
pub use meters::{RedisMeters, TenantMeters};
