//! The wires, and what each can do.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::answer::Answer;
use crate::chat;
use crate::delta::Delta;
use crate::messages;
use crate::request::{Refused, Request, Translated};
use crate::responses;
use crate::sse::Event;

/// A vendor's way of asking a model and hearing its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wire {
    /// OpenAI chat completions, which most others speak too.
    Chat,
    /// Anthropic messages.
    Messages,
    /// OpenAI responses.
    Responses,
}

/// What an answer says of itself towards the caller.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stamp {
    /// What makes its id unique; each wire puts its own prefix before it.
    pub id: String,
    /// When it was made, in seconds since 1970.
    pub created: i64,
    /// The model, by the name the caller knows it by.
    pub model: String,
    /// What a Responses answer repeats of its request; see [`Wire::echo`].
    pub echo: Map<String, Value>,
}

/// Why an answer cannot be read: the vendor sent what its wire does not allow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Broken {
    /// What is wrong with it.
    pub message: String,
}

impl Broken {
    /// Something is wrong with what was sent.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

impl Wire {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Chat, Self::Messages, Self::Responses];

    /// Its name, as in the configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Messages => "messages",
            Self::Responses => "responses",
        }
    }

    /// Reads what a caller asks. Strict: what is malformed is refused by its field.
    pub fn read_request(self, body: &Value) -> Result<Request, Refused> {
        match self {
            Self::Chat => chat::read_request(body),
            Self::Messages => messages::read_request(body),
            Self::Responses => responses::read_request(body),
        }
    }

    /// Writes a request for a vendor. A stream is always asked for its usage.
    pub fn write_request(self, request: &Request) -> Result<Translated, Refused> {
        match self {
            Self::Chat => chat::write_request(request),
            Self::Messages => messages::write_request(request),
            Self::Responses => responses::write_request(request),
        }
    }

    /// Reads a vendor's answer. Tolerant: what is unknown is passed over.
    pub fn read_answer(self, body: &Value) -> Result<Answer, Broken> {
        match self {
            Self::Chat => chat::read_answer(body),
            Self::Messages => messages::read_answer(body),
            Self::Responses => responses::read_answer(body),
        }
    }

    /// Writes an answer for the caller.
    #[must_use]
    pub fn write_answer(self, answer: &Answer, stamp: &Stamp) -> Value {
        match self {
            Self::Chat => serde_json::to_value(chat::Told::of(answer, stamp)).unwrap_or_default(),
            Self::Messages => messages::write_answer(answer, stamp),
            Self::Responses => responses::write_answer(answer, stamp),
        }
    }

    /// The same as a text.
    #[must_use]
    pub fn answer_text(self, answer: &Answer, stamp: &Stamp) -> Vec<u8> {
        // An answer is JSON already; writing it out cannot fail.
        match self {
            Self::Chat => serde_json::to_vec(&chat::Told::of(answer, stamp)).unwrap_or_default(),
            Self::Messages | Self::Responses => {
                serde_json::to_vec(&self.write_answer(answer, stamp)).unwrap_or_default()
            }
        }
    }

    /// Reads a vendor's stream.
    #[must_use]
    pub fn reader(self) -> Reader {
        match self {
            Self::Chat => Reader(AnyReader::Chat(chat::Reader::default())),
            Self::Messages => Reader(AnyReader::Messages(messages::Reader::default())),
            Self::Responses => Reader(AnyReader::Responses(responses::Reader::default())),
        }
    }

    /// Writes a stream for the caller. On the chat wire usage is sent only if the caller wanted it.
    #[must_use]
    pub fn writer(self, stamp: &Stamp, include_usage: bool) -> Writer {
        match self {
            Self::Chat => Writer(AnyWriter::Chat(chat::Writer::new(stamp, include_usage))),
            Self::Messages => Writer(AnyWriter::Messages(Box::new(messages::Writer::new(stamp)))),
            Self::Responses => Writer(AnyWriter::Responses(responses::Writer::new(stamp))),
        }
    }

    /// What an answer on this wire repeats of its request, for [`Stamp::echo`].
    #[must_use]
    pub fn echo(self, request: &Request) -> Map<String, Value> {
        match self {
            Self::Chat | Self::Messages => Map::new(),
            Self::Responses => responses::echo(request),
        }
    }
}

/// Reads a vendor's stream, event by event.
#[derive(Debug)]
pub struct Reader(AnyReader);

#[derive(Debug)]
enum AnyReader {
    Chat(chat::Reader),
    Messages(messages::Reader),
    Responses(responses::Reader),
}

impl Reader {
    /// Reads the next event, and adds what it says to `out`.
    pub fn read(&mut self, event: &Event<'_>, out: &mut Vec<Delta>) -> Result<(), Broken> {
        match &mut self.0 {
            AnyReader::Chat(reader) => reader.read(event, out),
            AnyReader::Messages(reader) => reader.read(event, out),
            AnyReader::Responses(reader) => reader.read(event, out),
        }
    }

    /// The vendor closed the stream. Adds the end if everything was said, as some never say so themselves; a stream that
    /// was cut off gets no end.
    pub fn close(&mut self, out: &mut Vec<Delta>) {
        match &mut self.0 {
            AnyReader::Chat(reader) => reader.close(out),
            AnyReader::Messages(reader) => reader.close(out),
            AnyReader::Responses(reader) => reader.close(out),
        }
    }
}

/// Writes a stream for the caller, as whole frames.
#[derive(Debug)]
pub struct Writer(AnyWriter);

#[derive(Debug)]
enum AnyWriter {
    Chat(chat::Writer),
    Messages(Box<messages::Writer>),
    Responses(responses::Writer),
}

impl Writer {
    /// Adds the frames that say this to `out`. After [`Delta::End`] the stream is complete.
    pub fn write(&mut self, delta: &Delta, out: &mut Vec<u8>) {
        match &mut self.0 {
            AnyWriter::Chat(writer) => writer.write(delta, out),
            AnyWriter::Messages(writer) => writer.write(delta, out),
            AnyWriter::Responses(writer) => writer.write(delta, out),
        }
    }
}
