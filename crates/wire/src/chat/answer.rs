//! Answers, both ways.

use schema::Usage;
use serde_json::Value;

use crate::answer::{Answer, Choice, Stop};
use crate::part::{Part, ToolCall};
use crate::wire::Broken;

pub(crate) fn read_answer(body: &Value) -> Result<Answer, Broken> {
    if let Some(error) = body.get("error").filter(|error| !error.is_null()) {
        let (kind, message) = read_error(error);
        return Err(Broken::new(format!("the answer is an error: {kind}: {message}")));
    }
    let id = body.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
    let choices = body.get("choices").and_then(Value::as_array);
    let choices = choices.ok_or_else(|| Broken::new("the answer has no list of choices"))?;
    let mut numbered: Vec<(u64, Choice)> = Vec::with_capacity(choices.len());
    for (place, choice) in (0..).zip(choices) {
        let number = choice.get("index").and_then(Value::as_u64).unwrap_or(place);
        numbered.push((number, read_choice(choice, id.unwrap_or_default())?));
    }
    numbered.sort_by_key(|(number, _)| *number);
    Ok(Answer {
        id: id.map(str::to_owned),
        model: body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned(),
        choices: numbered.into_iter().map(|(_, choice)| choice).collect(),
        usage: body.get("usage").and_then(read_usage),
    })
}

fn read_choice(choice: &Value, id: &str) -> Result<Choice, Broken> {
    let message = choice.get("message").filter(|message| message.is_object());
    let message = message.ok_or_else(|| Broken::new("a choice of the answer has no message"))?;
    let mut parts = Vec::new();
    if let Some(text) = thought(message) {
        parts.push(Part::Thinking { text: text.to_owned(), signature: None });
    }
    parts.extend(spoken(message.get("content")).into_iter().map(|said| match said {
        Said::Words(text) => Part::text(text),
        Said::Thought(text) => Part::Thinking { text, signature: None },
    }));
    if let Some(text) = message.get("refusal").and_then(Value::as_str) {
        parts.push(Part::Refusal { text: text.to_owned() });
    }
    let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    for (index, call) in calls.enumerate() {
        let function = call.get("function").unwrap_or(&Value::Null);
        parts.push(Part::ToolCall(ToolCall {
            id: call_id(call.get("id"), id, index),
            name: function.get("name").and_then(Value::as_str).unwrap_or_default().to_owned(),
            arguments: arguments(function.get("arguments")).unwrap_or_default(),
        }));
    }
    let called = parts.iter().any(|part| matches!(part, Part::ToolCall(_)));
    Ok(Choice {
        parts,
        stop: choice.get("finish_reason").and_then(Value::as_str).and_then(|word| read_stop(word, called)),
        logprobs: choice.get("logprobs").filter(|logprobs| !logprobs.is_null()).cloned(),
    })
}

/// What compatible servers call the thoughts of a model; OpenAI does not send them on this wire.
pub(super) fn thought(message: &Value) -> Option<&str> {
    let thought = ["reasoning_content", "reasoning"].iter().find_map(|name| message.get(name)?.as_str());
    thought.filter(|text| !text.is_empty())
}

/// Words, or a thought.
pub(super) enum Said {
    Words(String),
    Thought(String),
}

/// What the content says: a string, or, with some servers, a list of parts that may be thoughts.
pub(super) fn spoken(content: Option<&Value>) -> Vec<Said> {
    let text = |part: &Value| part.get("text").and_then(Value::as_str).map(str::to_owned);
    let said = match content {
        Some(Value::String(text)) => vec![Said::Words(text.clone())],
        Some(Value::Array(parts)) => {
            let part = |part: &Value| match part.get("thinking") {
                Some(Value::String(thought)) => Some(Said::Thought(thought.clone())),
                Some(Value::Array(thoughts)) => {
                    Some(Said::Thought(thoughts.iter().filter_map(text).collect()))
                }
                _ => text(part).map(Said::Words),
            };
            parts.iter().filter_map(part).collect()
        }
        _ => Vec::new(),
    };
    let empty = |said: &Said| matches!(said, Said::Words(text) | Said::Thought(text) if text.is_empty());
    said.into_iter().filter(|said| !empty(said)).collect()
}

/// The id of a call. Some servers send none: a caller needs one to say which call a result is for.
pub(super) fn call_id(sent: Option<&Value>, answer: &str, index: usize) -> String {
    match sent.and_then(Value::as_str) {
        Some(id) if !id.is_empty() => id.to_owned(),
        _ => format!("call_{answer}_{index}"),
    }
}

/// Arguments are JSON in a string; some servers send the JSON itself.
pub(super) fn arguments(sent: Option<&Value>) -> Option<String> {
    match sent? {
        Value::Null => None,
        Value::String(json) => Some(json.clone()),
        value => Some(value.to_string()),
    }
}

/// Some servers say `stop` where calls are wanted, and an empty word where there is no reason yet.
pub(super) fn read_stop(word: &str, called: bool) -> Option<Stop> {
    match word {
        "" => None,
        "length" => Some(Stop::Length),
        "content_filter" => Some(Stop::Filtered),
        "tool_calls" | "function_call" => Some(Stop::ToolCalls),
        _ if called => Some(Stop::ToolCalls),
        _ => Some(Stop::End),
    }
}

pub(super) fn write_stop(stop: &Stop) -> &'static str {
    match stop {
        Stop::End | Stop::Sequence(_) | Stop::Paused => "stop",
        Stop::Length => "length",
        Stop::ToolCalls => "tool_calls",
        Stop::Filtered => "content_filter",
    }
}

pub(super) fn read_usage(usage: &Value) -> Option<Usage> {
    let count = |value: Option<&Value>| value.and_then(Value::as_u64);
    let details = |name: &str, of: &str| count(usage.get(name).and_then(|details| details.get(of)));
    let input_tokens = count(usage.get("prompt_tokens"))?;
    let completion = count(usage.get("completion_tokens")).unwrap_or(0);
    let reasoning_tokens = details("completion_tokens_details", "reasoning_tokens").unwrap_or(0);
    // Some vendors count the thoughts beside the answer instead of in it; the total gives them away.
    let total = count(usage.get("total_tokens")).unwrap_or(0);
    let beside = reasoning_tokens > 0
        && Some(total)
            == input_tokens.checked_add(completion).and_then(|sum| sum.checked_add(reasoning_tokens));
    Some(Usage {
        input_tokens,
        output_tokens: if beside { completion.saturating_add(reasoning_tokens) } else { completion },
        cache_read_tokens: details("prompt_tokens_details", "cached_tokens")
            .or_else(|| count(usage.get("prompt_cache_hit_tokens")))
            .unwrap_or(0)
            .min(input_tokens),
        cache_write_tokens: details("prompt_tokens_details", "cache_write_tokens").unwrap_or(0),
        cache_write_long_tokens: 0,
        reasoning_tokens,
    })
}

/// The kind of an error, and what it says.
pub(crate) fn read_error(error: &Value) -> (String, String) {
    let word = |name: &str| match error.get(name)? {
        Value::String(word) if !word.is_empty() => Some(word.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let kind = word("type").or_else(|| word("code")).unwrap_or_else(|| "api_error".to_owned());
    let message = word("message").or_else(|| error.as_str().map(str::to_owned));
    (kind, message.unwrap_or_else(|| error.to_string()))
}
