//! Providers: whoever answers a model request.
//!
//! Today there is one, the built-in [`mock`]: deterministic, free, and in need of no key, so that the whole way of a
//! request can be walked on a bare machine. `chat.rs` is what every provider is asked and what it answers, in no
//! vendor's shape; the wires of the gateway translate.

mod chat;
pub mod mock;

pub use chat::{Answer, Chat, FinishReason, Message, Role};
