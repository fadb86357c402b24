//! OpenAI chat completions, and the many servers that speak them.

mod answer;
mod message;
mod read;
mod stream;
mod told;
mod write;

pub(crate) use answer::{read_answer, read_error};
pub(crate) use read::{read_request, read_schema};
pub(crate) use stream::{Reader, Writer};
pub(crate) use told::Told;
pub(crate) use write::{write_request, write_schema};
