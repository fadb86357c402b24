//! OpenAI responses.

mod answer;
mod item;
mod read;
pub(crate) mod seal;
mod stream;
mod write;

pub(crate) use answer::{read_answer, write_answer};
pub(crate) use read::read_request;
pub(crate) use stream::{Reader, Writer};
pub(crate) use write::{echo, write_request};
