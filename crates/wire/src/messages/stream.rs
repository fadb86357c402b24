//! An answer in pieces on the Anthropic messages wire.

use std::collections::{HashMap, VecDeque};

use schema::Usage;
use serde_json::{Map, Value, json};

use super::answer::{read_stop, write_stop};
use super::nesting::Nesting;
use super::plain;
use super::usage;
use crate::answer::Stop;
use crate::delta::{Delta, Piece};
use crate::error::Failure;
use crate::mould::Mould;
use crate::sse::{self, Event};
use crate::wire::{Broken, Stamp, Wire};

/// Reads the vendor's stream.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// What each open block is, by the vendor's number for it.
    blocks: HashMap<u64, Block>,
    /// Whether the block that began last is a thought.
    thought: bool,
    /// How many calls began.
    calls: u32,
    /// What was said of usage so far; later events repeat only some of it.
    usage: Map<String, Value>,
    /// Whether it was said why it ends.
    stopped: bool,
    /// Whether it was said that it ends, or that it failed.
    ended: bool,
    /// The last event that went on with a text, while its block is what it was.
    mould: Mould,
}

#[derive(Debug)]
enum Block {
    Text,
    Thinking,
    Call {
        index: u32,
        /// The arguments, for a vendor who sends them whole and first.
        whole: String,
        /// Whether any of them came in pieces.
        told: bool,
    },
    /// Something that the shape between has no piece for.
    Other,
}

impl Reader {
    /// Reads the next event.
    pub(crate) fn read(&mut self, event: &Event<'_>, out: &mut Vec<Delta>) -> Result<(), Broken> {
        if let Some(text) = self.read_plain(event.data) {
            out.push(Delta::Piece { choice: 0, piece: Piece::Text(text) });
            return Ok(());
        }
        self.mould.forget();
        self.read_patiently(event, out)
    }

    /// More words of a text that is open, if the event is nothing else.
    fn read_plain(&mut self, data: &str) -> Option<String> {
        if let Some(words) = self.mould.words(data) {
            return Some(words.to_owned());
        }
        let (number, text) = plain::read(data)?;
        if !self.blocks.get(&number).is_none_or(|block| matches!(block, Block::Text)) {
            return None;
        }
        self.mould.keep(data, &text);
        Some(text.into_owned())
    }

    /// Reads any event.
    pub(super) fn read_patiently(&mut self, event: &Event<'_>, out: &mut Vec<Delta>) -> Result<(), Broken> {
        let data: Value = serde_json::from_str(event.data)
            .map_err(|error| Broken::new(format!("an event of the stream is not JSON: {error}")))?;
        let kind = data.get("type").and_then(Value::as_str).or(event.name).unwrap_or_default();
        match kind {
            "message_start" => self.start(&data["message"], out),
            "content_block_start" => self.open(number(&data)?, &data["content_block"], out)?,
            "content_block_delta" => self.more(number(&data)?, &data["delta"], out)?,
            "content_block_stop" => self.shut(number(&data)?, out),
            "message_delta" => {
                self.count(&data["usage"], out);
                let sequence = data["delta"]["stop_sequence"].as_str();
                if let Some(reason) = data["delta"]["stop_reason"].as_str() {
                    self.stopped = true;
                    out.push(Delta::Stop { choice: 0, stop: read_stop(reason, sequence) });
                }
            }
            "message_stop" => {
                self.ended = true;
                out.push(Delta::End);
            }
            "error" => {
                let text = |name: &str| data["error"][name].as_str().unwrap_or_default().to_owned();
                self.ended = true;
                out.push(Delta::Error { kind: text("type"), message: text("message") });
            }
            // `ping`, and what is yet to be invented.
            _ => {}
        }
        Ok(())
    }

    /// The vendor closed the stream. Some who speak this wire never say that it ends, but do say why.
    pub(crate) fn close(&mut self, out: &mut Vec<Delta>) {
        if self.stopped && !std::mem::replace(&mut self.ended, true) {
            out.push(Delta::End);
        }
    }

    fn start(&mut self, message: &Value, out: &mut Vec<Delta>) {
        let text = |name: &str| message[name].as_str().map(str::to_owned);
        out.push(Delta::Start { id: text("id"), model: text("model").unwrap_or_default() });
        // Already now: a stream that is cut off was billed for its input.
        self.count(&message["usage"], out);
    }

    fn count(&mut self, told: &Value, out: &mut Vec<Delta>) {
        let Some(told) = told.as_object() else { return };
        for (name, value) in told {
            if !value.is_null() {
                self.usage.insert(name.clone(), value.clone());
            }
        }
        out.push(Delta::Usage(usage::read(&self.usage)));
    }

    fn open(&mut self, number: u64, block: &Value, out: &mut Vec<Delta>) -> Result<(), Broken> {
        let text = |name: &str| block[name].as_str().unwrap_or_default().to_owned();
        let mut say = |piece| out.push(Delta::Piece { choice: 0, piece });
        let open = match block["type"].as_str().unwrap_or_default() {
            "text" => {
                let words = text("text");
                if !words.is_empty() {
                    say(Piece::Text(words));
                }
                Block::Text
            }
            "thinking" => {
                let words = text("thinking");
                // An empty piece parts this thought from the one before.
                if !words.is_empty() || self.thought {
                    say(Piece::Thinking(words));
                }
                let seal = text("signature");
                if !seal.is_empty() {
                    say(Piece::Signature(seal));
                }
                Block::Thinking
            }
            "redacted_thinking" => {
                say(Piece::RedactedThinking(text("data")));
                Block::Other
            }
            "tool_use" => {
                let (id, name) = (text("id"), text("name"));
                if name.is_empty() {
                    return Err(Broken::new("a call of the stream has no name"));
                }
                let index = self.calls;
                self.calls += 1;
                say(Piece::Call { index, id, name });
                let whole = block.get("input").filter(|input| input.is_object());
                let whole = whole.map_or_else(|| "{}".to_owned(), Value::to_string);
                Block::Call { index, whole, told: false }
            }
            _ => Block::Other,
        };
        self.thought = matches!(open, Block::Thinking);
        self.blocks.insert(number, open);
        Ok(())
    }

    fn more(&mut self, number: u64, delta: &Value, out: &mut Vec<Delta>) -> Result<(), Broken> {
        let text = |name: &str| delta[name].as_str().unwrap_or_default().to_owned();
        let kind = delta["type"].as_str().unwrap_or_default();
        let mut unopened = match kind {
            // Some who speak this wire do not open the blocks that could be nothing else.
            "text_delta" => Block::Text,
            "thinking_delta" | "signature_delta" => Block::Thinking,
            "input_json_delta" if !self.blocks.contains_key(&number) => {
                return Err(Broken::new(format!(
                    "the stream goes on with block {number}, which is not open"
                )));
            }
            _ => Block::Other,
        };
        let block = self.blocks.get_mut(&number).unwrap_or(&mut unopened);
        let piece = match (kind, block) {
            ("text_delta", Block::Text) => Piece::Text(text("text")),
            ("thinking_delta", Block::Thinking) => Piece::Thinking(text("thinking")),
            ("signature_delta", Block::Thinking) => Piece::Signature(text("signature")),
            ("input_json_delta", Block::Call { index, told, .. }) => {
                let json = text("partial_json");
                *told |= !json.is_empty();
                Piece::Arguments { index: *index, json }
            }
            // Citations, and blocks of tools that the vendor runs.
            _ => return Ok(()),
        };
        let says_something = match &piece {
            Piece::Text(text) | Piece::Thinking(text) | Piece::Signature(text) => !text.is_empty(),
            Piece::Arguments { json, .. } => !json.is_empty(),
            _ => true,
        };
        if says_something {
            out.push(Delta::Piece { choice: 0, piece });
        }
        Ok(())
    }

    fn shut(&mut self, number: u64, out: &mut Vec<Delta>) {
        // A call without arguments has none to stream, but its arguments are an object all the same.
        if let Some(Block::Call { index, whole, told: false }) = self.blocks.remove(&number) {
            out.push(Delta::Piece { choice: 0, piece: Piece::Arguments { index, json: whole } });
        }
    }
}

fn number(data: &Value) -> Result<u64, Broken> {
    data["index"]
        .as_u64()
        .ok_or_else(|| Broken::new("an event of the stream does not say which block it is about"))
}

/// Writes a stream for the caller.
///
/// The wire has one block open at a time, each with the next number. Other vendors may go back to a call after they began
/// another: what comes for a block that is not on yet waits until those before it are complete.
#[derive(Debug)]
pub(crate) struct Writer {
    stamp: Stamp,
    started: bool,
    /// The block that is open, and those that wait behind it.
    blocks: VecDeque<Waiting>,
    /// The number of the first of them.
    next: u64,
    calls: bool,
    refused: bool,
    stop: Option<Stop>,
    usage: Usage,
    done: bool,
}

#[derive(Debug)]
struct Waiting {
    kind: Kind,
    open: bool,
    /// What is still to be said of it.
    unsaid: Vec<Value>,
}

#[derive(Debug)]
enum Kind {
    Text,
    Thinking {
        sealed: bool,
    },
    Redacted(String),
    Call {
        index: u32,
        id: String,
        name: String,
        /// How far its arguments have come, to see when they are complete.
        arguments: Nesting,
    },
}

impl Writer {
    pub(crate) fn new(stamp: &Stamp) -> Self {
        Self {
            stamp: stamp.clone(),
            started: false,
            blocks: VecDeque::new(),
            next: 0,
            calls: false,
            refused: false,
            stop: None,
            usage: Usage::default(),
            done: false,
        }
    }

    /// Adds the frames that say this. Nothing follows an error: to the caller the stream has failed.
    pub(crate) fn write(&mut self, delta: &Delta, out: &mut Vec<u8>) {
        if self.done {
            return;
        }
        match delta {
            Delta::Start { .. } => self.start(out),
            Delta::Piece { choice: 0, piece } => {
                self.start(out);
                self.take(piece);
                self.flush(out);
            }
            Delta::Stop { choice: 0, stop } => self.stop = Some(stop.clone()),
            Delta::Usage(usage) => self.usage = *usage,
            // The wire has one answer, and no word for probabilities.
            Delta::Piece { .. } | Delta::Stop { .. } | Delta::Logprobs { .. } => {}
            Delta::Error { kind, message } => {
                self.done = true;
                Wire::Messages.write_error_frame(&Failure::midway(Wire::Messages, kind, message), out);
            }
            Delta::End => self.end(out),
        }
    }

    fn start(&mut self, out: &mut Vec<u8>) {
        if std::mem::replace(&mut self.started, true) {
            return;
        }
        // Other vendors tell what it took at the end; clients take the numbers of `message_delta` over these.
        let message = json!({
            "id": format!("msg_{}", self.stamp.id),
            "type": "message",
            "role": "assistant",
            "model": self.stamp.model,
            "content": [],
            "stop_reason": null,
            "stop_sequence": null,
            "usage": usage::write(&self.usage),
        });
        frame("message_start", &json!({ "type": "message_start", "message": message }), out);
    }

    /// Puts a piece where it belongs.
    fn take(&mut self, piece: &Piece) {
        let (kind, unsaid) = match (piece, self.blocks.back_mut()) {
            // A block that says nothing would be refused when it comes back.
            (Piece::Text(text) | Piece::Refusal(text), _) if text.is_empty() => return,
            (Piece::Text(text) | Piece::Refusal(text), last) => {
                self.refused |= matches!(piece, Piece::Refusal(_));
                let delta = json!({ "type": "text_delta", "text": text });
                match last {
                    Some(Waiting { kind: Kind::Text, unsaid, .. }) => return unsaid.push(delta),
                    _ => (Kind::Text, vec![delta]),
                }
            }
            (Piece::Thinking(text), last) => {
                let delta = (!text.is_empty()).then(|| json!({ "type": "thinking_delta", "thinking": text }));
                match last {
                    Some(Waiting { kind: Kind::Thinking { sealed: false }, unsaid, .. }) => {
                        return unsaid.extend(delta);
                    }
                    _ => (Kind::Thinking { sealed: false }, delta.into_iter().collect()),
                }
            }
            (Piece::Signature(seal), last) => {
                let delta = json!({ "type": "signature_delta", "signature": seal });
                match last {
                    Some(Waiting { kind: Kind::Thinking { sealed }, unsaid, .. }) => {
                        *sealed = true;
                        return unsaid.push(delta);
                    }
                    _ => (Kind::Thinking { sealed: true }, vec![delta]),
                }
            }
            (Piece::RedactedThinking(data), _) => (Kind::Redacted(data.clone()), Vec::new()),
            (Piece::Call { index, id, name }, _) => {
                self.calls = true;
                let (id, name) = (id.clone(), name.clone());
                (Kind::Call { index: *index, id, name, arguments: Nesting::default() }, Vec::new())
            }
            (Piece::Arguments { index, json }, _) => {
                let is_it = |block: &&mut Waiting| matches!(&block.kind, Kind::Call { index: call, .. } if call == index);
                if let Some(Waiting { kind: Kind::Call { arguments, .. }, unsaid, .. }) =
                    self.blocks.iter_mut().rev().find(is_it)
                {
                    arguments.feed(json);
                    unsaid.push(json!({ "type": "input_json_delta", "partial_json": json }));
                }
                return;
            }
        };
        self.blocks.push_back(Waiting { kind, open: false, unsaid });
    }

    /// Says what can be said now.
    fn flush(&mut self, out: &mut Vec<u8>) {
        while let Some(block) = self.blocks.front_mut() {
            block.say(self.next, out);
            if self.blocks.len() == 1 || !self.blocks.front().is_some_and(Waiting::is_complete) {
                return;
            }
            self.shut(out);
        }
    }

    fn shut(&mut self, out: &mut Vec<u8>) {
        frame("content_block_stop", &json!({ "type": "content_block_stop", "index": self.next }), out);
        self.blocks.pop_front();
        self.next += 1;
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        self.done = true;
        self.start(out);
        while let Some(block) = self.blocks.front_mut() {
            block.say(self.next, out);
            self.shut(out);
        }
        let (stop_reason, stop_sequence) = write_stop(self.stop.as_ref(), self.calls, self.refused);
        let delta = json!({
            "type": "message_delta",
            "delta": { "stop_reason": stop_reason, "stop_sequence": stop_sequence },
            "usage": usage::write(&self.usage),
        });
        frame("message_delta", &delta, out);
        frame("message_stop", &json!({ "type": "message_stop" }), out);
    }
}

impl Waiting {
    /// Opens the block, if it is not, and says what is to be said of it.
    fn say(&mut self, index: u64, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.open, true) {
            let block = match &self.kind {
                Kind::Text => json!({ "type": "text", "text": "" }),
                Kind::Thinking { .. } => json!({ "type": "thinking", "thinking": "", "signature": "" }),
                Kind::Redacted(data) => json!({ "type": "redacted_thinking", "data": data }),
                Kind::Call { id, name, .. } => {
                    json!({ "type": "tool_use", "id": id, "name": name, "input": {} })
                }
            };
            let start = json!({ "type": "content_block_start", "index": index, "content_block": block });
            frame("content_block_start", &start, out);
        }
        for delta in self.unsaid.drain(..) {
            let more = json!({ "type": "content_block_delta", "index": index, "delta": delta });
            frame("content_block_delta", &more, out);
        }
    }

    /// Whether nothing more can come for it, once another block has begun.
    fn is_complete(&self) -> bool {
        match &self.kind {
            Kind::Call { arguments, .. } => arguments.is_over(),
            _ => true,
        }
    }
}

fn frame(name: &str, data: &Value, out: &mut Vec<u8>) {
    sse::write_frame(Some(name), &data.to_string(), out);
}
