//! Events for the caller.

use schema::Usage;
use serde_json::{Map, Value, json};

use super::super::answer::{
    call_item, incomplete, item_id, message_item, reasoning_item, refusal_part, response, status, text_part,
    write_usage,
};
use crate::answer::Stop;
use crate::delta::{Delta, Piece};
use crate::part::ToolCall;
use crate::sse;
use crate::wire::Stamp;

/// Writes events. Items are numbered in the order in which they begin; a message or a thought ends when something else
/// begins, and calls stay open to the end, because their arguments may come in turns.
#[derive(Debug)]
pub(crate) struct Writer {
    stamp: Stamp,
    sequence: u64,
    started: bool,
    closed: bool,
    /// The items, finished or as far as they are.
    output: Vec<Item>,
    stop: Option<Stop>,
    usage: Option<Usage>,
}

#[derive(Debug)]
struct Item {
    /// How it ended; absent while it is open.
    end: Option<&'static str>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Message(Vec<Words>),
    Thought { text: String, signature: Option<String> },
    Call { index: u32, call: ToolCall },
}

/// A part of a message.
#[derive(Debug)]
struct Words {
    refusal: bool,
    text: String,
    logprobs: Vec<Value>,
}

impl Words {
    fn part(&self) -> Value {
        if self.refusal { refusal_part(&self.text) } else { text_part(&self.text, &self.logprobs) }
    }
}

impl Item {
    fn value(&self, stamp: &Stamp, place: usize, status: &str) -> Value {
        match &self.kind {
            Kind::Message(parts) => {
                message_item(stamp, place, &parts.iter().map(Words::part).collect::<Vec<_>>(), status)
            }
            Kind::Thought { text, signature } => reasoning_item(stamp, place, text, signature.as_deref()),
            Kind::Call { call, .. } => call_item(stamp, place, call, status),
        }
    }

    fn id(&self, stamp: &Stamp, place: usize) -> String {
        match &self.kind {
            Kind::Message(_) => item_id("msg", stamp, place),
            Kind::Thought { .. } => item_id("rs", stamp, place),
            Kind::Call { .. } => item_id("fc", stamp, place),
        }
    }
}

impl Writer {
    pub(crate) fn new(stamp: &Stamp) -> Self {
        let stamp = stamp.clone();
        Self {
            stamp,
            sequence: 0,
            started: false,
            closed: false,
            output: Vec::new(),
            stop: None,
            usage: None,
        }
    }

    pub(crate) fn write(&mut self, delta: &Delta, out: &mut Vec<u8>) {
        if self.closed {
            return;
        }
        self.start(out);
        match delta {
            Delta::Start { .. } => {}
            // This wire has one answer.
            Delta::Piece { choice: 1.., .. }
            | Delta::Logprobs { choice: 1.., .. }
            | Delta::Stop { choice: 1.., .. } => {}
            Delta::Piece { piece, .. } => self.piece(piece, out),
            Delta::Logprobs { value, .. } => self.logprobs(value),
            Delta::Stop { stop, .. } => {
                self.stop = Some(stop.clone());
                self.finish_items(out);
            }
            Delta::Usage(usage) => self.usage = Some(*usage),
            Delta::Error { kind, message } => self.fail(kind, message, out),
            Delta::End => self.end(out),
        }
    }

    fn event(&mut self, name: &str, mut fields: Map<String, Value>, out: &mut Vec<u8>) {
        let mut event = Map::with_capacity(fields.len() + 2);
        event.insert("type".to_owned(), json!(name));
        event.insert("sequence_number".to_owned(), json!(self.sequence));
        event.append(&mut fields);
        self.sequence += 1;
        sse::write_frame(Some(name), &Value::Object(event).to_string(), out);
    }

    /// An event about an item.
    fn about(&mut self, place: usize, name: &str, fields: Value, out: &mut Vec<u8>) {
        let id = self.output.get(place).map(|item| item.id(&self.stamp, place));
        let mut event =
            Map::from_iter([("item_id".to_owned(), json!(id)), ("output_index".to_owned(), json!(place))]);
        if let Value::Object(fields) = fields {
            event.extend(fields);
        }
        self.event(name, event, out);
    }

    fn start(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.started, true) {
            for name in ["response.created", "response.in_progress"] {
                let body = response(&self.stamp, "in_progress", &[]);
                self.event(name, Map::from_iter([("response".to_owned(), Value::Object(body))]), out);
            }
        }
    }

    fn piece(&mut self, piece: &Piece, out: &mut Vec<u8>) {
        match piece {
            Piece::Text(text) => self.words(false, text, out),
            Piece::Refusal(text) => self.words(true, text, out),
            Piece::Thinking(text) => self.thought(text, out),
            Piece::Signature(seal) => self.signature(seal, out),
            // Sealed by another vendor, and of no use here.
            Piece::RedactedThinking(_) => {}
            Piece::Call { index, id, name } => {
                self.finish_words(out);
                let call = ToolCall { id: id.clone(), name: name.clone(), arguments: String::new() };
                self.add(Kind::Call { index: *index, call }, out);
            }
            Piece::Arguments { index, json } => self.arguments(*index, json, out),
        }
    }

    fn add(&mut self, kind: Kind, out: &mut Vec<u8>) -> usize {
        let place = self.output.len();
        let item = Item { end: None, kind };
        let mut value = item.value(&self.stamp, place, "in_progress");
        if matches!(item.kind, Kind::Message(_)) {
            // Its parts are told as they begin.
            value["content"] = json!([]);
        }
        self.output.push(item);
        let fields = [("output_index".to_owned(), json!(place)), ("item".to_owned(), value)];
        self.event("response.output_item.added", Map::from_iter(fields), out);
        place
    }

    fn words(&mut self, refusal: bool, text: &str, out: &mut Vec<u8>) {
        let open = |item: &Item| item.end.is_none() && matches!(item.kind, Kind::Message(_));
        if !self.output.last().is_some_and(open) {
            self.finish_words(out);
            self.add(Kind::Message(Vec::new()), out);
        }
        let place = self.output.len().saturating_sub(1);
        let same = |parts: &[Words]| parts.last().is_some_and(|last| last.refusal == refusal);
        let Some(Item { kind: Kind::Message(parts), .. }) = self.output.last() else { return };
        if !same(parts) {
            self.finish_part(place, out);
            let words = Words { refusal, text: String::new(), logprobs: Vec::new() };
            let part = words.part();
            if let Some(Item { kind: Kind::Message(parts), .. }) = self.output.last_mut() {
                parts.push(words);
            }
            let number = self.parts(place).saturating_sub(1);
            let fields = json!({ "content_index": number, "part": part });
            self.about(place, "response.content_part.added", fields, out);
        }
        if let Some(Item { kind: Kind::Message(parts), .. }) = self.output.last_mut()
            && let Some(last) = parts.last_mut()
        {
            last.text.push_str(text);
        }
        let number = self.parts(place).saturating_sub(1);
        if refusal {
            let fields = json!({ "content_index": number, "delta": text });
            self.about(place, "response.refusal.delta", fields, out);
        } else {
            let fields = json!({ "content_index": number, "delta": text, "logprobs": [] });
            self.about(place, "response.output_text.delta", fields, out);
        }
    }

    fn parts(&self, place: usize) -> usize {
        match self.output.get(place) {
            Some(Item { kind: Kind::Message(parts), .. }) => parts.len(),
            _ => 0,
        }
    }

    /// They belong to the words that came last, and are told with the whole of them.
    fn logprobs(&mut self, value: &Value) {
        let more = value.get("content").and_then(Value::as_array);
        if let (Some(more), Some(Item { kind: Kind::Message(parts), end: None })) =
            (more, self.output.last_mut())
            && let Some(words) = parts.last_mut()
        {
            words.logprobs.extend(more.iter().cloned());
        }
    }

    fn thought(&mut self, more: &str, out: &mut Vec<u8>) {
        let open =
            |item: &Item| item.end.is_none() && matches!(item.kind, Kind::Thought { signature: None, .. });
        if !self.output.last().is_some_and(open) {
            self.finish_words(out);
            let place = self.add(Kind::Thought { text: String::new(), signature: None }, out);
            let fields = json!({ "summary_index": 0, "part": { "type": "summary_text", "text": "" } });
            self.about(place, "response.reasoning_summary_part.added", fields, out);
        }
        let place = self.output.len().saturating_sub(1);
        if let Some(Item { kind: Kind::Thought { text, .. }, .. }) = self.output.last_mut() {
            text.push_str(more);
        }
        let fields = json!({ "summary_index": 0, "delta": more });
        self.about(place, "response.reasoning_summary_text.delta", fields, out);
    }

    fn signature(&mut self, seal: &str, out: &mut Vec<u8>) {
        if let Some(Item { end: None, kind: Kind::Thought { signature, .. } }) = self.output.last_mut() {
            signature.get_or_insert_default().push_str(seal);
        } else {
            self.finish_words(out);
            self.add(Kind::Thought { text: String::new(), signature: Some(seal.to_owned()) }, out);
        }
    }

    fn arguments(&mut self, wanted: u32, json: &str, out: &mut Vec<u8>) {
        let this = |item: &Item| {
            matches!(&item.kind, Kind::Call { index, .. } if *index == wanted) && item.end.is_none()
        };
        let Some(place) = self.output.iter().rposition(this) else { return };
        if let Some(Item { kind: Kind::Call { call, .. }, .. }) = self.output.get_mut(place) {
            call.arguments.push_str(json);
        }
        self.about(place, "response.function_call_arguments.delta", json!({ "delta": json }), out);
    }

    /// Ends the message or the thought that is open.
    fn finish_words(&mut self, out: &mut Vec<u8>) {
        let open = |item: &Item| item.end.is_none() && !matches!(item.kind, Kind::Call { .. });
        if let Some(place) = self.output.iter().position(open) {
            self.finish_item(place, out);
        }
    }

    fn finish_items(&mut self, out: &mut Vec<u8>) {
        for place in 0..self.output.len() {
            if self.output.get(place).is_some_and(|item| item.end.is_none()) {
                self.finish_item(place, out);
            }
        }
    }

    fn finish_part(&mut self, place: usize, out: &mut Vec<u8>) {
        let Some(Item { kind: Kind::Message(parts), .. }) = self.output.get(place) else { return };
        let Some(words) = parts.last() else { return };
        let number = parts.len() - 1;
        let (name, whole) = if words.refusal {
            ("response.refusal.done", json!({ "content_index": number, "refusal": words.text }))
        } else {
            let whole = json!({ "content_index": number, "text": words.text, "logprobs": words.logprobs });
            ("response.output_text.done", whole)
        };
        let part = json!({ "content_index": number, "part": words.part() });
        self.about(place, name, whole, out);
        self.about(place, "response.content_part.done", part, out);
    }

    fn finish_item(&mut self, place: usize, out: &mut Vec<u8>) {
        match self.output.get(place).map(|item| &item.kind) {
            Some(Kind::Message(_)) => self.finish_part(place, out),
            Some(Kind::Thought { text, .. }) if !text.is_empty() => {
                let whole = json!({ "summary_index": 0, "text": text });
                let part = json!({ "summary_index": 0, "part": { "type": "summary_text", "text": text } });
                self.about(place, "response.reasoning_summary_text.done", whole, out);
                self.about(place, "response.reasoning_summary_part.done", part, out);
            }
            Some(Kind::Call { call, .. }) => {
                let whole = json!({ "name": call.name, "arguments": call.arguments });
                self.about(place, "response.function_call_arguments.done", whole, out);
            }
            _ => {}
        }
        let Some(item) = self.output.get_mut(place) else { return };
        // Words that something else follows were complete, whatever ends the answer.
        let end = status(self.stop.as_ref().or(Some(&Stop::End)));
        item.end = Some(end);
        let value = item.value(&self.stamp, place, end);
        let fields = [("output_index".to_owned(), json!(place)), ("item".to_owned(), value)];
        self.event("response.output_item.done", Map::from_iter(fields), out);
    }

    fn response(&self, status: &str) -> Map<String, Value> {
        let items = self.output.iter().enumerate();
        let ended = items.filter_map(|(place, item)| Some(item.value(&self.stamp, place, item.end?)));
        let output: Vec<_> = ended.collect();
        let mut body = response(&self.stamp, status, &output);
        body.insert("usage".to_owned(), self.usage.as_ref().map_or(Value::Null, write_usage));
        body
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        self.finish_items(out);
        self.closed = true;
        let status = status(self.stop.as_ref());
        let mut body = self.response(status);
        body.insert("incomplete_details".to_owned(), incomplete(self.stop.as_ref()));
        let name = if status == "completed" { "response.completed" } else { "response.incomplete" };
        self.event(name, Map::from_iter([("response".to_owned(), Value::Object(body))]), out);
    }

    /// What is open stays open: a client must not take half of a call for a call.
    fn fail(&mut self, kind: &str, message: &str, out: &mut Vec<u8>) {
        self.closed = true;
        let code = match kind {
            "rate_limit_error" => "rate_limit_exceeded",
            "overloaded_error" | "api_error" => "server_error",
            kind => kind,
        };
        let mut body = self.response("failed");
        body.insert("error".to_owned(), json!({ "code": code, "message": message }));
        self.event("response.failed", Map::from_iter([("response".to_owned(), Value::Object(body))]), out);
    }
}
