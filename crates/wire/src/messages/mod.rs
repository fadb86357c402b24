//! The Anthropic messages wire.
//!
//! `request.rs` reads what a caller asks and `ask.rs` writes what a vendor is asked; `model.rs` knows which generation of
//! Claude takes what. `answer.rs` and `stream.rs` go both ways, and `usage.rs` turns the vendor's way of counting into
//! ours: it counts cached tokens beside the others, we count them among the others.

mod answer;
mod ask;
mod model;
mod nesting;
mod plain;
mod request;
mod stream;
mod usage;

pub(crate) use answer::{read as read_answer, write as write_answer};
pub(crate) use ask::write as write_request;
pub(crate) use request::{read as read_request, read_count};
pub(crate) use stream::{Reader, Writer};
