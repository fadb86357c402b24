//! Other people's formats: each wire in a file, with its conversion written out.

pub(crate) mod openai;
