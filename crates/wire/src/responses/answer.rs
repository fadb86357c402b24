//! Answers, both ways.

use schema::Usage;
use serde_json::{Map, Value, json};

use super::item::summary;
use super::seal;
use crate::answer::{Answer, Choice, Stop};
use crate::chat::read_error;
use crate::part::{Part, ToolCall};
use crate::wire::{Broken, Stamp};

pub(crate) fn read_answer(body: &Value) -> Result<Answer, Broken> {
    let error = body.get("error").filter(|error| !error.is_null());
    let failed = matches!(body.get("status").and_then(Value::as_str), Some("failed" | "cancelled"));
    if let Some(error) = error.or(failed.then_some(&Value::Null)) {
        let (kind, message) = read_error(error);
        return Err(Broken::new(format!("the answer is an error: {kind}: {message}")));
    }
    let output = body.get("output").and_then(Value::as_array);
    let output = output.ok_or_else(|| Broken::new("the answer has no list of output"))?;
    let mut choice = Choice::default();
    for item in output {
        read_item(item, &mut choice);
    }
    let called = choice.parts.iter().any(|part| matches!(part, Part::ToolCall(_)));
    choice.stop = read_stop(body, called);
    Ok(Answer {
        id: body.get("id").and_then(Value::as_str).map(str::to_owned),
        model: body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned(),
        choices: vec![choice],
        usage: body.get("usage").and_then(read_usage),
    })
}

/// Items of the vendor's own tools are passed over: their outcome is in the words that follow.
fn read_item(item: &Value, choice: &mut Choice) {
    let word = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    match item.get("type").and_then(Value::as_str) {
        Some("message") => {
            for part in item.get("content").and_then(Value::as_array).into_iter().flatten() {
                choice.parts.extend(word(part, "text").map(Part::text));
                choice.parts.extend(word(part, "refusal").map(|text| Part::Refusal { text }));
                read_logprobs(part, choice);
            }
        }
        Some("function_call") => choice.parts.push(Part::ToolCall(ToolCall {
            id: word(item, "call_id").or_else(|| word(item, "id")).unwrap_or_default(),
            name: word(item, "name").unwrap_or_default(),
            arguments: word(item, "arguments").unwrap_or_default(),
        })),
        Some("reasoning") => {
            let (text, signature) = (thought(item), read_seal(item));
            if !text.is_empty() || signature.is_some() {
                choice.parts.push(Part::Thinking { text, signature });
            }
        }
        _ => {}
    }
}

/// The words of a thought: its summary, or all of it where a server sends that.
fn thought(item: &Value) -> String {
    let lists = ["summary", "content"].iter().filter_map(|name| item.get(name)?.as_array());
    let texts = lists.flatten().filter_map(|part| part.get("text")?.as_str());
    texts.collect::<Vec<_>>().join("\n\n")
}

pub(super) fn read_seal(item: &Value) -> Option<String> {
    let sealed = item.get("encrypted_content")?.as_str()?;
    Some(seal::seal(item.get("id").and_then(Value::as_str), sealed))
}

/// The probabilities of a text, in the shape of the chat wire.
fn read_logprobs(part: &Value, choice: &mut Choice) {
    let Some(more) = part.get("logprobs").and_then(Value::as_array).filter(|list| !list.is_empty()) else {
        return;
    };
    let known = choice.logprobs.get_or_insert_with(|| json!({ "content": [] }));
    if let Some(known) = known["content"].as_array_mut() {
        known.extend(more.iter().cloned());
    }
}

pub(super) fn read_stop(body: &Value, called: bool) -> Option<Stop> {
    let details = body.get("incomplete_details").and_then(|details| details.get("reason")?.as_str());
    match (body.get("status").and_then(Value::as_str), details) {
        (_, Some("content_filter")) => Some(Stop::Filtered),
        (Some("incomplete"), _) | (_, Some(_)) => Some(Stop::Length),
        (Some("in_progress" | "queued"), _) => None,
        _ if called => Some(Stop::ToolCalls),
        _ => Some(Stop::End),
    }
}

pub(super) fn read_usage(usage: &Value) -> Option<Usage> {
    let count = |value: Option<&Value>| value.and_then(Value::as_u64);
    let details = |name: &str, of: &str| count(usage.get(name).and_then(|details| details.get(of)));
    let input_tokens = count(usage.get("input_tokens"))?;
    Some(Usage {
        input_tokens,
        output_tokens: count(usage.get("output_tokens")).unwrap_or(0),
        cache_read_tokens: details("input_tokens_details", "cached_tokens").unwrap_or(0).min(input_tokens),
        cache_write_tokens: details("input_tokens_details", "cache_write_tokens").unwrap_or(0),
        cache_write_long_tokens: 0,
        reasoning_tokens: details("output_tokens_details", "reasoning_tokens").unwrap_or(0),
    })
}

pub(super) fn write_usage(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {
            "cached_tokens": usage.cache_read_tokens,
            "cache_write_tokens": usage.cache_write_tokens.saturating_add(usage.cache_write_long_tokens),
        },
        "output_tokens": usage.output_tokens,
        "output_tokens_details": { "reasoning_tokens": usage.reasoning_tokens },
        "total_tokens": usage.input_tokens.saturating_add(usage.output_tokens),
    })
}

pub(crate) fn write_answer(answer: &Answer, stamp: &Stamp) -> Value {
    let nothing = Choice::default();
    let choice = answer.choices.first().unwrap_or(&nothing);
    let mut output: Vec<Value> = Vec::new();
    // Words in a row are one message.
    let mut said: Vec<Value> = Vec::new();
    let logprobs = choice.logprobs.as_ref().and_then(|logprobs| logprobs.get("content")?.as_array());
    for part in &choice.parts {
        let place = output.len() + usize::from(!said.is_empty());
        let item = match part {
            Part::Text { text, .. } => {
                let none = Vec::new();
                let logprobs = if said.is_empty() { logprobs.unwrap_or(&none) } else { &none };
                said.push(text_part(text, logprobs));
                continue;
            }
            Part::Refusal { text } => {
                said.push(refusal_part(text));
                continue;
            }
            Part::Thinking { text, signature } => reasoning_item(stamp, place, text, signature.as_deref()),
            Part::ToolCall(call) => call_item(stamp, place, call, "completed"),
            _ => continue,
        };
        if !said.is_empty() {
            output.push(message_item(stamp, output.len(), &std::mem::take(&mut said), "completed"));
        }
        output.push(item);
    }
    if !said.is_empty() {
        output.push(message_item(stamp, output.len(), &said, "completed"));
    }
    let status = status(choice.stop.as_ref());
    if let Some(last) = output.last_mut().filter(|last| last.get("status").is_some()) {
        last["status"] = json!(status);
    }
    let mut body = response(stamp, status, &output);
    body.insert("incomplete_details".to_owned(), incomplete(choice.stop.as_ref()));
    body.insert("usage".to_owned(), answer.usage.as_ref().map_or(Value::Null, write_usage));
    Value::Object(body)
}

/// An answer that was cut off has no reason for its end, and is not complete.
pub(super) fn status(stop: Option<&Stop>) -> &'static str {
    match stop {
        None | Some(Stop::Length | Stop::Filtered) => "incomplete",
        Some(Stop::End | Stop::Sequence(_) | Stop::ToolCalls | Stop::Paused) => "completed",
    }
}

pub(super) fn incomplete(stop: Option<&Stop>) -> Value {
    match stop {
        Some(Stop::Length) => json!({ "reason": "max_output_tokens" }),
        Some(Stop::Filtered) => json!({ "reason": "content_filter" }),
        _ => Value::Null,
    }
}

/// The answer itself, without usage. What the request did not say is told as the default it is.
pub(super) fn response(stamp: &Stamp, status: &str, output: &[Value]) -> Map<String, Value> {
    let defaults = json!({
        "id": format!("resp_{}", stamp.id),
        "object": "response",
        "created_at": stamp.created,
        "status": status,
        "background": false,
        "error": null,
        "incomplete_details": null,
        "instructions": null,
        "max_output_tokens": null,
        "model": stamp.model,
        "output": output,
        "parallel_tool_calls": true,
        "previous_response_id": null,
        "reasoning": { "effort": null, "summary": null },
        "store": false,
        "temperature": 1.0,
        "text": { "format": { "type": "text" } },
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": null,
        "user": null,
        "metadata": {},
    });
    let Value::Object(mut body) = defaults else { return Map::new() };
    for (name, value) in &stamp.echo {
        body.insert(name.clone(), value.clone());
    }
    if let Some(text) = body.get_mut("text").and_then(Value::as_object_mut) {
        text.entry("format").or_insert_with(|| json!({ "type": "text" }));
    }
    body
}

pub(super) fn text_part(text: &str, logprobs: &[Value]) -> Value {
    json!({ "type": "output_text", "text": text, "annotations": [], "logprobs": logprobs })
}

pub(super) fn refusal_part(text: &str) -> Value {
    json!({ "type": "refusal", "refusal": text })
}

pub(super) fn message_item(stamp: &Stamp, place: usize, content: &[Value], status: &str) -> Value {
    json!({
        "id": item_id("msg", stamp, place),
        "type": "message",
        "status": status,
        "role": "assistant",
        "content": content,
    })
}

pub(super) fn call_item(stamp: &Stamp, place: usize, call: &ToolCall, status: &str) -> Value {
    json!({
        "id": item_id("fc", stamp, place),
        "type": "function_call",
        "status": status,
        "call_id": call.id,
        "name": call.name,
        "arguments": call.arguments,
    })
}

/// A thought has an id of this answer, also if OpenAI sealed it under another: clients hold on to the id that a stream
/// gave first, and the seal comes last.
pub(super) fn reasoning_item(stamp: &Stamp, place: usize, text: &str, signature: Option<&str>) -> Value {
    let mut item = json!({
        "id": item_id("rs", stamp, place),
        "type": "reasoning",
        "summary": summary(text),
    });
    if let Some(signature) = signature {
        item["encrypted_content"] = json!(seal::keep(signature));
    }
    item
}

pub(super) fn item_id(prefix: &str, stamp: &Stamp, place: usize) -> String {
    format!("{prefix}_{}_{place}", stamp.id)
}
