//! Events from a vendor.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::super::answer::{read_answer, read_seal, read_stop, read_usage};
use crate::chat::read_error;
use crate::delta::{Delta, Piece};
use crate::sse::Event;
use crate::wire::Broken;

/// Reads events. What an event completes is compared with what was heard of it, so that servers that send only the
/// whole, or only the pieces, are both understood.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    started: bool,
    ended: bool,
    /// How much was heard of each text, by item and part.
    texts: HashMap<(u64, u64), usize>,
    /// The calls, by item: our number, and how much was heard of the arguments.
    calls: HashMap<u64, (u32, usize)>,
    said: bool,
}

impl Reader {
    pub(crate) fn read(&mut self, event: &Event<'_>, out: &mut Vec<Delta>) -> Result<(), Broken> {
        let data = event.data.trim();
        if self.ended || data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        let body: Value = serde_json::from_str(data)
            .map_err(|error| Broken::new(format!("an event of the stream is not JSON: {error}")))?;
        let kind = body.get("type").and_then(Value::as_str).or(event.name).unwrap_or_default();
        match kind {
            "response.created" | "response.in_progress" | "response.queued" => self.start(&body, out),
            "response.output_item.added" => self.added(&body, out),
            "response.output_item.done" => self.item_done(&body, out),
            "response.output_text.delta" => {
                self.text(&body, "delta", Piece::Text, out);
                self.logprobs(&body, out);
            }
            "response.output_text.done" => self.rest_of_text(&body, "text", Piece::Text, out),
            "response.refusal.delta" => self.text(&body, "delta", Piece::Refusal, out),
            "response.refusal.done" => self.rest_of_text(&body, "refusal", Piece::Refusal, out),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.say(text_of(&body, "delta").map(Piece::Thinking), out);
            }
            // Summaries are several texts; between them is an empty line, as when they come at once.
            "response.reasoning_summary_part.added" if number(&body, "summary_index") > 0 => {
                self.say(Some(Piece::Thinking("\n\n".to_owned())), out);
            }
            "response.function_call_arguments.delta" => {
                if let Some(json) = text_of(&body, "delta") {
                    self.arguments(number(&body, "output_index"), json, out);
                }
            }
            "response.function_call_arguments.done" => {
                let all = body.get("arguments").and_then(Value::as_str).unwrap_or_default();
                self.rest_of_arguments(number(&body, "output_index"), all, out);
            }
            "response.completed" | "response.incomplete" => self.end(&body, out),
            "response.failed" | "response.cancelled" | "error" => self.fail(&body, out),
            _ if body.get("error").is_some_and(Value::is_object) => self.fail(&body, out),
            _ => {}
        }
        Ok(())
    }

    /// The last event says that it is the last: a stream without it was cut off.
    pub(crate) fn close(&mut self, _out: &mut Vec<Delta>) {}

    fn start(&mut self, body: &Value, out: &mut Vec<Delta>) {
        let response = body.get("response").unwrap_or(&Value::Null);
        if !std::mem::replace(&mut self.started, true) {
            let word = |name: &str| response.get(name).and_then(Value::as_str).map(str::to_owned);
            out.push(Delta::Start { id: word("id"), model: word("model").unwrap_or_default() });
        }
    }

    fn say(&mut self, piece: Option<Piece>, out: &mut Vec<Delta>) {
        if let Some(piece) = piece {
            self.said = true;
            out.push(Delta::Piece { choice: 0, piece });
        }
    }

    fn text(&mut self, body: &Value, field: &str, kind: fn(String) -> Piece, out: &mut Vec<Delta>) {
        if let Some(text) = text_of(body, field) {
            *self.texts.entry(place(body)).or_default() += text.len();
            self.say(Some(kind(text)), out);
        }
    }

    fn rest_of_text(&mut self, body: &Value, field: &str, kind: fn(String) -> Piece, out: &mut Vec<Delta>) {
        let all = body.get(field).and_then(Value::as_str).unwrap_or_default();
        let heard = self.texts.insert(place(body), all.len()).unwrap_or(0);
        self.say(all.get(heard..).filter(|rest| !rest.is_empty()).map(|rest| kind(rest.to_owned())), out);
    }

    fn logprobs(&self, body: &Value, out: &mut Vec<Delta>) {
        if let Some(list) =
            body.get("logprobs").filter(|list| list.as_array().is_some_and(|list| !list.is_empty()))
        {
            out.push(Delta::Logprobs { choice: 0, value: json!({ "content": list }) });
        }
    }

    fn added(&mut self, body: &Value, out: &mut Vec<Delta>) {
        let item = body.get("item").unwrap_or(&Value::Null);
        if item.get("type").and_then(Value::as_str) == Some("function_call") {
            self.call(number(body, "output_index"), item, out);
        }
    }

    /// Begins a call, unless it has begun, with what is known of its arguments.
    fn call(&mut self, place: u64, item: &Value, out: &mut Vec<Delta>) {
        if !self.calls.contains_key(&place) {
            let index = u32::try_from(self.calls.len()).unwrap_or(u32::MAX);
            self.calls.insert(place, (index, 0));
            let word = |name: &str| item.get(name).and_then(Value::as_str).map(str::to_owned);
            let id = word("call_id").or_else(|| word("id")).unwrap_or_default();
            self.say(Some(Piece::Call { index, id, name: word("name").unwrap_or_default() }), out);
        }
        let all = item.get("arguments").and_then(Value::as_str).unwrap_or_default();
        self.rest_of_arguments(place, all, out);
    }

    fn arguments(&mut self, place: u64, json: String, out: &mut Vec<Delta>) {
        if let Some((index, heard)) = self.calls.get_mut(&place) {
            *heard += json.len();
            let index = *index;
            self.say(Some(Piece::Arguments { index, json }), out);
        }
    }

    fn rest_of_arguments(&mut self, place: u64, all: &str, out: &mut Vec<Delta>) {
        let heard = self.calls.get(&place).map_or(0, |(_, heard)| *heard);
        if let Some(rest) = all.get(heard..).filter(|rest| !rest.is_empty()) {
            self.arguments(place, rest.to_owned(), out);
        }
    }

    fn item_done(&mut self, body: &Value, out: &mut Vec<Delta>) {
        let item = body.get("item").unwrap_or(&Value::Null);
        let place = number(body, "output_index");
        match item.get("type").and_then(Value::as_str) {
            Some("function_call") => self.call(place, item, out),
            Some("reasoning") => self.say(read_seal(item).map(Piece::Signature), out),
            Some("message") => {
                let content = item.get("content").and_then(Value::as_array).into_iter().flatten();
                for (part, number) in content.zip(0_u64..) {
                    let whole = json!({ "output_index": place, "content_index": number,
                        "text": part.get("text"), "refusal": part.get("refusal") });
                    let refusal = part.get("refusal").is_some_and(Value::is_string);
                    let kind: fn(String) -> Piece = if refusal { Piece::Refusal } else { Piece::Text };
                    self.rest_of_text(&whole, if refusal { "refusal" } else { "text" }, kind, out);
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, body: &Value, out: &mut Vec<Delta>) {
        self.start(body, out);
        self.ended = true;
        let response = body.get("response").unwrap_or(&Value::Null);
        if !self.said
            && let Ok(answer) = read_answer(response)
        {
            // Everything at once.
            out.extend(answer.deltas().into_iter().filter(|delta| matches!(delta, Delta::Piece { .. })));
        }
        let called = !self.calls.is_empty()
            || out.iter().any(|delta| matches!(delta, Delta::Piece { piece: Piece::Call { .. }, .. }));
        out.extend(read_stop(response, called).map(|stop| Delta::Stop { choice: 0, stop }));
        out.extend(response.get("usage").and_then(read_usage).map(Delta::Usage));
        out.push(Delta::End);
    }

    fn fail(&mut self, body: &Value, out: &mut Vec<Delta>) {
        self.ended = true;
        let response = body.get("response").and_then(|response| response.get("error"));
        let error = response.or_else(|| body.get("error")).filter(|error| error.is_object());
        let (kind, message) = match error {
            Some(error) => read_error(error),
            // The event itself is the error, and its type says only that.
            None => {
                let word = |name: &str| body.get(name).and_then(Value::as_str).map(str::to_owned);
                let message = word("message").unwrap_or_else(|| "the answer failed".to_owned());
                (word("code").unwrap_or_else(|| "server_error".to_owned()), message)
            }
        };
        let usage = body.get("response").and_then(|response| response.get("usage")).and_then(read_usage);
        out.extend(usage.map(Delta::Usage));
        out.push(Delta::Error { kind, message });
    }
}

fn number(body: &Value, name: &str) -> u64 {
    body.get(name).and_then(Value::as_u64).unwrap_or(0)
}

fn place(body: &Value) -> (u64, u64) {
    (number(body, "output_index"), number(body, "content_index"))
}

fn text_of(body: &Value, field: &str) -> Option<String> {
    body.get(field).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}
