//! Chunks for the caller.

use schema::Usage;
use serde_json::{Value, json};

use super::super::answer::write_stop;
use super::super::told::ToldUsage;
use crate::delta::{Delta, Piece};
use crate::error::Failure;
use crate::sse;
use crate::wire::{Stamp, Wire};

/// Writes chunks.
#[derive(Debug)]
pub(crate) struct Writer {
    /// What every chunk begins with.
    lead: String,
    include_usage: bool,
    usage: Option<Usage>,
    /// The answers that have begun.
    begun: Vec<u32>,
    failed: bool,
}

impl Writer {
    pub(crate) fn new(stamp: &Stamp, include_usage: bool) -> Self {
        let id = Value::from(format!("chatcmpl-{}", stamp.id));
        let (created, model) = (stamp.created, Value::from(stamp.model.as_str()));
        let lead = format!(
            r#"{{"id":{id},"object":"chat.completion.chunk","created":{created},"model":{model},"choices":["#
        );
        Self { lead, include_usage, usage: None, begun: Vec::new(), failed: false }
    }

    pub(crate) fn write(&mut self, delta: &Delta, out: &mut Vec<u8>) {
        match delta {
            Delta::Start { .. } => self.begin(0, out),
            Delta::Piece { choice, piece } => {
                if let Some(said) = said(piece) {
                    self.begin(*choice, out);
                    self.choice(*choice, &said, &Value::Null, None, out);
                }
            }
            Delta::Logprobs { choice, value } => {
                self.begin(*choice, out);
                self.choice(*choice, &json!({}), value, None, out);
            }
            Delta::Stop { choice, stop } => {
                self.begin(*choice, out);
                self.choice(*choice, &json!({}), &Value::Null, Some(write_stop(stop)), out);
            }
            Delta::Usage(usage) => self.usage = Some(*usage),
            Delta::Error { kind, message } => {
                self.failed = true;
                let failure = Failure::midway(Wire::Chat, kind, message);
                Wire::Chat.write_error_frame(&failure, out);
            }
            Delta::End => self.end(out),
        }
    }

    /// The first chunk of an answer says who speaks.
    fn begin(&mut self, choice: u32, out: &mut Vec<u8>) {
        if !self.begun.contains(&choice) {
            self.begun.push(choice);
            let said = json!({ "role": "assistant", "content": "", "refusal": null });
            self.choice(choice, &said, &Value::Null, None, out);
        }
    }

    fn choice(&self, index: u32, delta: &Value, logprobs: &Value, reason: Option<&str>, out: &mut Vec<u8>) {
        let choice = json!({ "index": index, "delta": delta, "logprobs": logprobs, "finish_reason": reason });
        let usage = if self.include_usage { r#","usage":null"# } else { "" };
        sse::write_frame(None, &format!("{}{choice}]{usage}}}", self.lead), out);
    }

    /// The usage comes last, with no choices. A stream that failed ends with its error: saying that it is done would
    /// hide the cut.
    fn end(&self, out: &mut Vec<u8>) {
        if self.failed {
            return;
        }
        if let Some(usage) = self.usage.as_ref().filter(|_| self.include_usage) {
            let usage = serde_json::to_string(&ToldUsage::of(usage)).unwrap_or_default();
            sse::write_frame(None, &format!(r#"{}],"usage":{usage}}}"#, self.lead), out);
        }
        sse::write_frame(None, "[DONE]", out);
    }
}

/// A seal and a sealed thought have no place on this wire.
fn said(piece: &Piece) -> Option<Value> {
    Some(match piece {
        Piece::Text(text) => json!({ "content": text }),
        Piece::Thinking(text) => json!({ "reasoning_content": text }),
        Piece::Refusal(text) => json!({ "refusal": text }),
        Piece::Call { index, id, name } => json!({ "tool_calls": [
            { "index": index, "id": id, "type": "function", "function": { "name": name, "arguments": "" } }
        ] }),
        Piece::Arguments { index, json } => {
            json!({ "tool_calls": [{ "index": index, "function": { "arguments": json } }] })
        }
        Piece::Signature(_) | Piece::RedactedThinking(_) => return None,
    })
}
