//! Streams: events in, and events out.

mod read;
mod write;

pub(crate) use read::Reader;
pub(crate) use write::Writer;
