//! Streams: chunks in, and chunks out.

mod plain;
mod read;
mod write;

pub(crate) use read::Reader;
pub(crate) use write::Writer;
