//! What the nodes of one installation share beside the database.
//!
//! [`RedisMeters`] counts budgets and the limits of policies in Redis, so that asking for room holds no lock in the
//! database that every node writes to. Start at `meters.rs`; `meters/*.lua` are the steps that Redis takes, each at once.
//! [`RedisLimits`] counts requests per minute, which no database knows of: `limits.rs` and `limits/draw.lua`.
//!
//! - Of what is spent the database stays the truth: what Redis forgets is read from there again, and what it cannot say is
//!   refused. Requests have no truth but the last minute: what Redis cannot say each node counts for itself.
//! - Nothing stays in Redis for ever, and nothing in it is about a person: digests, ids and numbers.
//!
//! To share one more thing: a file for it, under keys of its own that begin with `punk:{tenant}:`, or with `punk:` and its
//! name where tenants are not yet told apart.

mod error;
mod limits;
mod meters;

pub use error::{ConnectError, LimitError, MeterError};
pub use limits::{Draw, Drawn, RedisLimits};
pub use meters::{RedisMeters, TenantMeters};
