//! Gateway: the HTTP shell. Formats in, formats out, and the process wired together; what happens in between is
//! decided elsewhere.
//!
//! A chat request walks the whole way once: `wire/openai.rs` reads it, `identity.rs` says who asks, `chat.rs` asks the
//! governor, calls the provider, has `record.rs` write the run down, and answers when the run is on the disk.
//!
//! Start at [`Door`]; `endpoints.rs` lists every path, `error.rs` is the one place where a failure becomes a status.
//!
//! - A refused input creates nothing: validation comes before any record.
//! - Acknowledged means committed: the answer leaves after the store has the run.
//! - Nothing that looks like a credential is recorded; it is masked before it is hashed.

mod app;
mod chat;
mod clock;
mod connection;
mod endpoints;
mod error;
mod evidence;
mod health;
mod identity;
mod job;
mod page;
mod record;
mod run;
mod serve;
mod subject;
mod trace;
mod wire;

pub use app::{Installation, StartError};
pub use serve::{Access, Door, ServeError, Server};
