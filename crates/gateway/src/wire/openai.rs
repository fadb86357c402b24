//! The OpenAI chat completions wire.

use providers::{Answer, Chat, FinishReason, Message, Role};
use schema::{RunId, Timestamp};
use serde_json::{Value, json};

use crate::error::ApiError;

/// A request as it was read: what the provider is asked, and the body as it came, for the record.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) chat: Chat,
    pub(crate) body: Value,
}

/// Reads a request strictly: what is not understood is refused by field, before anything is recorded.
pub(crate) fn parse(bytes: &[u8]) -> Result<Request, ApiError> {
    let body: Value = serde_json::from_slice(bytes).map_err(|error| ApiError::Body {
        status: http::StatusCode::BAD_REQUEST,
        message: format!("the body is not JSON: {error}"),
    })?;
    if !body.is_object() {
        return Err(field("", "expected a JSON object"));
    }
    let model = match &body["model"] {
        Value::String(model) if !model.is_empty() && model.len() <= 200 => model.clone(),
        _ => return Err(field("model", "expected the name of a model, 1 to 200 characters")),
    };
    match &body["stream"] {
        Value::Null | Value::Bool(false) => {}
        Value::Bool(true) => return Err(field("stream", "streaming is not there yet; send false")),
        _ => return Err(field("stream", "expected true or false")),
    }
    match &body["n"] {
        Value::Null => {}
        Value::Number(n) if n.as_u64() == Some(1) => {}
        _ => return Err(field("n", "only one choice can be asked for; send 1")),
    }
    if !(body["tools"].is_null() && body["functions"].is_null()) {
        return Err(field("tools", "tools are not there yet; leave them out"));
    }
    let messages = body["messages"].as_array().filter(|messages| !messages.is_empty());
    let messages = messages.ok_or_else(|| field("messages", "expected a list of at least one message"))?;
    let messages = messages.iter().enumerate().map(|(i, each)| message(i, each)).collect::<Result<_, _>>()?;
    Ok(Request { chat: Chat { model, messages }, body })
}

fn field(param: impl Into<String>, message: &str) -> ApiError {
    let param = param.into();
    let message = if param.is_empty() { message.to_owned() } else { format!("{param}: {message}") };
    ApiError::Field { param, message }
}

fn message(i: usize, message: &Value) -> Result<Message, ApiError> {
    let role = match message["role"].as_str() {
        Some("system" | "developer") => Role::System,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        _ => {
            return Err(field(
                format!("messages[{i}].role"),
                "expected system, developer, user or assistant",
            ));
        }
    };
    let content = match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) if !parts.is_empty() => {
            let texts = parts.iter().enumerate().map(|(j, part)| {
                match (part["type"].as_str(), part["text"].as_str()) {
                    (Some("text"), Some(text)) => Ok(text),
                    _ => Err(field(format!("messages[{i}].content[{j}]"), "expected a part of type text")),
                }
            });
            texts.collect::<Result<Vec<_>, _>>()?.join("\n")
        }
        _ => return Err(field(format!("messages[{i}].content"), "expected a text or a list of text parts")),
    };
    Ok(Message { role, content })
}

/// The answer in the shape the official clients read.
pub(crate) fn render(run: RunId, at: Timestamp, answer: &Answer) -> Value {
    let usage = answer.usage;
    json!({
        "id": format!("chatcmpl-{run}"),
        "object": "chat.completion",
        "created": at.as_millis() / 1000,
        "model": answer.model,
        "choices": [{
            "index": 0,
            "message": { "role": "assistant", "content": answer.content, "refusal": null },
            "logprobs": null,
            "finish_reason": match answer.finish_reason { FinishReason::Stop => "stop" },
        }],
        "usage": {
            "prompt_tokens": usage.input_tokens,
            "completion_tokens": usage.output_tokens,
            "total_tokens": usage.input_tokens + usage.output_tokens,
        },
    })
}
