//! Wire: the vendors' shapes of a model request and its answer, and the one shape between them.
//!
//! Every wire is read into [`Request`], [`Answer`] and [`Delta`], and written from them, so that any wire in goes with any
//! wire out. Pure functions over JSON and text: no clock, no randomness, no network; ids and times come in as arguments.
//!
//! Start at [`Wire`], which names the wires and leads to what each can do; `request.rs`, `part.rs`, `answer.rs` and
//! `delta.rs` are the shape between, a folder per wire (`chat`, `messages`, `responses`) holds its requests, answers and
//! streams, both ways, and `sse.rs` frames all of their streams (`chunked.rs` is how HTTP/1.1 frames those in turn). `extra.rs` knows what only some wires know.
//!
//! - Reading is strict: what is malformed is refused by field ([`Refused`]), before anybody acts on it.
//! - What a wire cannot say is refused by name when leaving it out would change the meaning, and named in
//!   [`Translated::left_out`] when it is a hint; nothing is lost in silence.
//! - Same wire in and out needs no translation: the gateway forwards the caller's own bytes
//!   ([`Request::goes_as_it_came`]).
//!
//! To add a wire: a folder of its own, an arm in each function of [`Wire`], and its golden files in
//! `tests/golden`.

mod again;
mod answer;
mod at;
mod chat;
pub mod chunked;
pub mod count;
mod delta;
mod effort;
pub mod embeddings;
mod error;
mod extra;
mod forward;
mod messages;
mod mould;
mod part;
mod request;
mod responses;
mod source;
pub mod splice;
pub mod sse;
mod tools;
mod wire;

pub use answer::{Answer, Choice, Stop};
pub use delta::{Delta, Gather, Piece};
pub use error::{Failure, FailureKind};
pub use part::{ImageSource, Part, ToolCall, ToolResult};
pub use request::{
    Effort, Format, Message, Reasoning, Refused, Request, Role, Sampling, Tool, ToolChoice, Translated,
};
pub use wire::{Broken, Reader, Stamp, Wire, Writer};
