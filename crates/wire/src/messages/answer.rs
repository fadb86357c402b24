//! What a model answers on the Anthropic messages wire.

use serde_json::{Value, json};

use super::usage;
use crate::answer::{Answer, Choice, Stop};
use crate::part::{Part, ToolCall};
use crate::wire::{Broken, Stamp};

/// Reads the vendor's answer.
pub(crate) fn read(body: &Value) -> Result<Answer, Broken> {
    let text = |name: &str| body.get(name).and_then(Value::as_str);
    let content = body.get("content").and_then(Value::as_array);
    let content = content.ok_or_else(|| Broken::new("the answer has no list `content`"))?;
    let parts = content.iter().map(read_block).collect::<Result<_, _>>()?;
    let stop = text("stop_reason").map(|reason| read_stop(reason, text("stop_sequence")));
    Ok(Answer {
        id: text("id").map(str::to_owned),
        model: text("model").unwrap_or_default().to_owned(),
        choices: vec![Choice { parts, stop, logprobs: None }],
        usage: body.get("usage").and_then(Value::as_object).map(usage::read),
    })
}

fn read_block(block: &Value) -> Result<Part, Broken> {
    let text = |name: &str| {
        let text = block.get(name).and_then(Value::as_str);
        text.map(str::to_owned)
            .ok_or_else(|| Broken::new(format!("a block of the answer has no text `{name}`")))
    };
    Ok(match text("type")?.as_str() {
        "text" => Part::text(text("text")?),
        "thinking" => {
            let signature = text("signature").ok().filter(|signature| !signature.is_empty());
            Part::Thinking { text: text("thinking")?, signature }
        }
        "redacted_thinking" => Part::RedactedThinking { data: text("data")? },
        "tool_use" => Part::ToolCall(ToolCall {
            id: text("id")?,
            name: text("name")?,
            arguments: block.get("input").map_or_else(|| "{}".to_owned(), Value::to_string),
        }),
        _ => Part::Foreign { value: block.clone() },
    })
}

/// Why it ends there. A reason that is not known yet is an end as well.
pub(super) fn read_stop(reason: &str, sequence: Option<&str>) -> Stop {
    match reason {
        "max_tokens" | "model_context_window_exceeded" => Stop::Length,
        "stop_sequence" => Stop::Sequence(sequence.map(str::to_owned)),
        "tool_use" => Stop::ToolCalls,
        "refusal" => Stop::Filtered,
        "pause_turn" => Stop::Paused,
        _ => Stop::End,
    }
}

/// The vendor's word for why it ends there, and the text it stopped at.
///
/// OpenAI ends a forced call and a refusal like any other answer; on this wire clients look for the word.
pub(super) fn write_stop(stop: Option<&Stop>, calls: bool, refused: bool) -> (Value, Value) {
    let word = match stop {
        None => return (Value::Null, Value::Null),
        Some(Stop::Sequence(sequence)) => return (json!("stop_sequence"), json!(sequence)),
        Some(Stop::End) if calls => "tool_use",
        Some(Stop::End) if refused => "refusal",
        Some(Stop::End) => "end_turn",
        Some(Stop::Length) => "max_tokens",
        Some(Stop::ToolCalls) => "tool_use",
        Some(Stop::Filtered) => "refusal",
        Some(Stop::Paused) => "pause_turn",
    };
    (json!(word), Value::Null)
}

/// Writes the answer for the caller. The wire has room for one: the first.
pub(crate) fn write(answer: &Answer, stamp: &Stamp) -> Value {
    let nothing = Choice::default();
    let choice = answer.choices.first().unwrap_or(&nothing);
    let content: Vec<Value> = choice.parts.iter().filter_map(write_block).collect();
    let calls = choice.parts.iter().any(|part| matches!(part, Part::ToolCall(_)));
    let refused = choice.parts.iter().any(|part| matches!(part, Part::Refusal { .. }));
    let (stop_reason, stop_sequence) = write_stop(choice.stop.as_ref(), calls, refused);
    json!({
        "id": format!("msg_{}", stamp.id),
        "type": "message",
        "role": "assistant",
        "model": stamp.model,
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": stop_sequence,
        "usage": usage::write(&answer.usage.unwrap_or_default()),
    })
}

fn write_block(part: &Part) -> Option<Value> {
    Some(match part {
        // A block that says nothing would be refused when it comes back.
        Part::Text { text, .. } | Part::Refusal { text } if text.is_empty() => return None,
        Part::Text { text, .. } | Part::Refusal { text } => json!({ "type": "text", "text": text }),
        // Clients want a seal, even the empty one of a thought that came from elsewhere.
        Part::Thinking { text, signature } => {
            json!({ "type": "thinking", "thinking": text, "signature": signature.as_deref().unwrap_or_default() })
        }
        Part::RedactedThinking { data } => json!({ "type": "redacted_thinking", "data": data }),
        Part::ToolCall(ToolCall { id, name, arguments }) => {
            json!({ "type": "tool_use", "id": id, "name": name, "input": input(arguments) })
        }
        Part::Foreign { value } if is_ours(value) => value.clone(),
        // Nothing that a model says on this wire.
        Part::Image { .. }
        | Part::File { .. }
        | Part::ToolResult(_)
        | Part::Foreign { .. }
        | Part::Beside { .. } => return None,
    })
}

/// The arguments as the object that the wire has. A model may write what is none; its words are then all there is.
fn input(arguments: &str) -> Value {
    if arguments.trim().is_empty() {
        return json!({});
    }
    match serde_json::from_str(arguments) {
        Ok(input @ Value::Object(_)) => input,
        Ok(other) => json!({ "arguments": other }),
        Err(_) => json!({ "arguments": arguments }),
    }
}

/// Whether a part that only its own wire knows is of this wire.
fn is_ours(block: &Value) -> bool {
    let kind = block.get("type").and_then(Value::as_str).unwrap_or_default();
    kind.ends_with("_tool_result")
        || ["server_tool_use", "mcp_tool_use", "container_upload", "compaction"].contains(&kind)
}
