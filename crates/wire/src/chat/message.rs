//! Messages, both ways.

use serde_json::{Map, Value, json};

use crate::at::At;
use crate::extra;
use crate::part::{ImageSource, Part, ToolCall, ToolResult};
use crate::request::{Message, Refused, Request, Role};
use crate::source;
use crate::wire::Wire;

pub(super) fn read(body: &At<'_>, request: &mut Request) -> Result<(), Refused> {
    let messages = body.need("messages", "a list of messages")?;
    for message in messages.items()? {
        message.object()?;
        let message = read_message(&message, &mut request.left_out)?;
        request.messages.push(message);
    }
    if request.messages.is_empty() {
        return Err(messages.refused("expected at least one message"));
    }
    Ok(())
}

fn read_message(message: &At<'_>, left_out: &mut Vec<String>) -> Result<Message, Refused> {
    const ROLES: &str = "`system`, `developer`, `user`, `assistant` or `tool`";
    let role = message.need("role", ROLES)?;
    let (known, role, parts): (&[&str], _, _) = match role.text()? {
        "system" | "developer" => (&["role", "content"], Role::System, read_content(message)?),
        "user" => (&["role", "content"], Role::User, read_content(message)?),
        "assistant" => {
            let known = ["role", "content", "refusal", "tool_calls", "reasoning_content", "audio"];
            message.name_unknown(&known, "messages", left_out);
            return Ok(Message { role: Role::Assistant, parts: read_assistant(message)? });
        }
        "tool" => {
            let call = message.need("tool_call_id", "the id of the call that this is the result of")?;
            let call = call.text_of(1..=512)?.to_owned();
            let result = ToolResult { call, content: read_content(message)?, failed: false };
            (&["role", "content", "tool_call_id"], Role::User, vec![Part::ToolResult(result)])
        }
        "function" => return Err(role.refused("`function` is no longer supported: use `tool`")),
        _ => return Err(role.expected(ROLES)),
    };
    message.name_unknown(known, "messages", left_out);
    Ok(Message { role, parts })
}

fn read_content(message: &At<'_>) -> Result<Vec<Part>, Refused> {
    let content = message.need("content", "a string or a list of parts")?;
    read_parts(&content)
}

fn read_parts(content: &At<'_>) -> Result<Vec<Part>, Refused> {
    match content.value {
        Value::String(text) => Ok(vec![Part::text(text)]),
        Value::Array(_) => content.items()?.map(|part| read_part(&part)).collect(),
        _ => Err(content.expected("a string or a list of parts")),
    }
}

fn read_part(part: &At<'_>) -> Result<Part, Refused> {
    part.object()?;
    match part.need("type", "the kind of part, such as `text`")?.text()? {
        "text" => Ok(Part::Text {
            text: part.need("text", "a string")?.text()?.to_owned(),
            cache_control: part.get("cache_control").map(|control| control.value.clone()),
        }),
        "refusal" => Ok(Part::Refusal { text: part.need("refusal", "a string")?.text()?.to_owned() }),
        "image_url" => {
            let image = part.need("image_url", "an object with a url")?;
            image.object()?;
            let url = image.need("url", "an address")?;
            let detail = image.get("detail").map(|detail| detail.text().map(str::to_owned)).transpose()?;
            Ok(Part::Image { source: source::from_url(&url)?, detail })
        }
        "file" => read_file(part),
        "input_audio" => {
            part.need("input_audio", "an object with data and a format")?.object()?;
            Ok(Part::Foreign { value: part.value.clone() })
        }
        _ => Ok(Part::Foreign { value: part.value.clone() }),
    }
}

fn read_file(part: &At<'_>) -> Result<Part, Refused> {
    let file = part.need("file", "an object with file_data or a file_id")?;
    file.object()?;
    let name = file.get("filename").map(|name| name.text().map(str::to_owned)).transpose()?;
    let source = match (file.get("file_id"), file.get("file_data")) {
        (Some(id), _) => ImageSource::FileId { id: id.text()?.to_owned() },
        (None, Some(data)) => source::from_url(&data)?,
        (None, None) => return Err(file.refused("expected file_data or a file_id")),
    };
    Ok(Part::File { source, name })
}

fn read_assistant(message: &At<'_>) -> Result<Vec<Part>, Refused> {
    let mut parts = Vec::new();
    if let Some(thought) = message.get("reasoning_content") {
        let text = thought.text()?;
        if !text.is_empty() {
            parts.push(Part::Thinking { text: text.to_owned(), signature: None });
        }
    }
    let content = message.get("content").map(|content| read_parts(&content)).transpose()?;
    let refusal = message.get("refusal").map(|refusal| refusal.text().map(str::to_owned)).transpose()?;
    let audio = message.get("audio").map(|audio| json!({ "audio": audio.value }));
    let mut calls = Vec::new();
    if let Some(list) = message.get("tool_calls") {
        for call in list.items()? {
            calls.push(read_call(&call)?);
        }
    }
    if content.is_none() && refusal.is_none() && audio.is_none() && calls.is_empty() {
        message.need("content", "a string, a list of parts, or tool_calls")?;
    }
    // Clients send an empty text with calls, where the model said none.
    let empty = |part: &Part| part.as_text() == Some("") && !calls.is_empty();
    parts.extend(content.into_iter().flatten().filter(|part| !empty(part)));
    parts.extend(refusal.map(|text| Part::Refusal { text }));
    parts.extend(audio.map(|value| Part::Beside { value }));
    parts.append(&mut calls);
    Ok(parts)
}

fn read_call(call: &At<'_>) -> Result<Part, Refused> {
    call.object()?;
    let kind = call.get("type").map_or(Ok("function"), |kind| kind.text())?.to_owned();
    if kind != "function" {
        return Ok(Part::Beside { value: call.value.clone() });
    }
    let function = call.need("function", "an object with a name and arguments")?;
    function.object()?;
    Ok(Part::ToolCall(ToolCall {
        id: call.need("id", "the id of the call")?.text_of(1..=512)?.to_owned(),
        name: function.need("name", "the name of the function")?.text_of(1..=256)?.to_owned(),
        arguments: function.need("arguments", "JSON in a string")?.text()?.to_owned(),
    }))
}

/// Writes all messages.
pub(super) fn write(request: &Request, left_out: &mut Vec<String>) -> Result<Vec<Value>, Refused> {
    let mut write = Write { request, left_out, out: Vec::with_capacity(request.messages.len()) };
    for message in &request.messages {
        match message.role {
            Role::System => {
                let content = write.content(&message.parts)?;
                write.out.push(json!({ "role": "system", "content": content }));
            }
            Role::User => write.user(&message.parts)?,
            Role::Assistant => write.assistant(&message.parts)?,
        }
    }
    Ok(write.out)
}

struct Write<'a> {
    request: &'a Request,
    left_out: &'a mut Vec<String>,
    out: Vec<Value>,
}

impl Write<'_> {
    /// What tools gave comes first, as this wire wants it right after the calls.
    fn user(&mut self, parts: &[Part]) -> Result<(), Refused> {
        let mut content = Vec::new();
        let mut results = false;
        for part in parts {
            if let Part::ToolResult(result) = part {
                results = true;
                self.result(result, &mut content)?;
            }
        }
        let said: Vec<_> = parts.iter().filter(|part| !matches!(part, Part::ToolResult(_))).collect();
        if said.is_empty() && content.is_empty() && results {
            return Ok(());
        }
        for part in said {
            content.push(self.part(part)?);
        }
        self.out.push(json!({ "role": "user", "content": plain(content) }));
        Ok(())
    }

    /// A result holds only words on this wire: its pictures follow in `shown`, a message of the user.
    fn result(&mut self, result: &ToolResult, shown: &mut Vec<Value>) -> Result<(), Refused> {
        if result.failed {
            self.left_out.push("is_error".to_owned());
        }
        let (words, pictures): (Vec<_>, Vec<_>) =
            result.content.iter().partition(|part| matches!(part, Part::Text { .. }));
        let mut content = Vec::new();
        for part in words {
            content.push(self.part(part)?);
        }
        if !pictures.is_empty() {
            if content.is_empty() {
                content.push(json!({ "type": "text", "text": "The result follows in the next message." }));
            }
            shown
                .push(json!({ "type": "text", "text": format!("The result of tool call {}:", result.call) }));
        }
        for part in pictures {
            shown.push(self.part(part)?);
        }
        let content = plain(content);
        self.out.push(json!({ "role": "tool", "tool_call_id": result.call, "content": content }));
        Ok(())
    }

    fn assistant(&mut self, parts: &[Part]) -> Result<(), Refused> {
        let (mut content, mut calls, mut thoughts, mut refusal) = (Vec::new(), Vec::new(), None, None);
        let mut message = Map::from_iter([("role".to_owned(), json!("assistant"))]);
        for part in parts {
            match part {
                // Only servers that sent it know it; OpenAI refuses it.
                Part::Thinking { text, .. } if self.request.wire == Wire::Chat => {
                    thoughts.get_or_insert_with(String::new).push_str(text);
                }
                Part::Thinking { .. } | Part::RedactedThinking { .. } => {
                    self.left_out.push("thinking".to_owned());
                }
                Part::Refusal { text } => refusal.get_or_insert_with(String::new).push_str(text),
                Part::ToolCall(call) => calls.push(write_call(call)),
                Part::Beside { value } if self.request.wire == Wire::Chat => match value.get("audio") {
                    Some(audio) if value.get("type").is_none() => {
                        message.insert("audio".to_owned(), audio.clone());
                    }
                    _ => calls.push(value.clone()),
                },
                part => content.push(self.part(part)?),
            }
        }
        let empty = calls.is_empty() && refusal.is_none() && !message.contains_key("audio");
        let content = if content.is_empty() && !empty { Value::Null } else { plain(content) };
        message.insert("content".to_owned(), content);
        message.extend(refusal.map(|text| ("refusal".to_owned(), Value::String(text))));
        message.extend(thoughts.map(|text| ("reasoning_content".to_owned(), Value::String(text))));
        if !calls.is_empty() {
            message.insert("tool_calls".to_owned(), Value::Array(calls));
        }
        self.out.push(Value::Object(message));
        Ok(())
    }

    fn content(&mut self, parts: &[Part]) -> Result<Value, Refused> {
        Ok(plain(parts.iter().map(|part| self.part(part)).collect::<Result<_, _>>()?))
    }

    fn part(&mut self, part: &Part) -> Result<Value, Refused> {
        let unsaid = |what: &str| Err(extra::unsaid_part(self.request, what, Wire::Chat));
        match part {
            Part::Text { text, cache_control } => {
                let mut part = json!({ "type": "text", "text": text });
                match cache_control {
                    Some(control) if self.request.wire == Wire::Chat => {
                        part["cache_control"] = control.clone();
                    }
                    Some(_) => self.left_out.push("cache_control".to_owned()),
                    None => {}
                }
                Ok(part)
            }
            Part::Image { source, detail } => {
                let Some(url) = source::to_url(source) else { return unsaid("a picture by its file id") };
                let mut image = json!({ "url": url });
                if let Some(detail) = detail {
                    image["detail"] = json!(detail);
                }
                Ok(json!({ "type": "image_url", "image_url": image }))
            }
            Part::File { source, name } => {
                let mut file = match source {
                    ImageSource::FileId { id } => json!({ "file_id": id }),
                    ImageSource::Base64 { .. } => json!({ "file_data": source::to_url(source) }),
                    ImageSource::Url { .. } => return unsaid("a document by its address"),
                };
                if let Some(name) = name {
                    file["filename"] = json!(name);
                }
                Ok(json!({ "type": "file", "file": file }))
            }
            Part::Refusal { text } => Ok(json!({ "type": "refusal", "refusal": text })),
            Part::Foreign { value } if self.request.wire == Wire::Chat => Ok(value.clone()),
            Part::Foreign { value } | Part::Beside { value } => unsaid(&extra::kind_of(value)),
            Part::ToolCall(_) => unsaid("a tool call of the user"),
            Part::ToolResult(_) => unsaid("a tool result of the assistant"),
            Part::Thinking { .. } | Part::RedactedThinking { .. } => unsaid("a thought of the user"),
        }
    }
}

fn write_call(call: &ToolCall) -> Value {
    let function = json!({ "name": call.name, "arguments": call.arguments });
    json!({ "id": call.id, "type": "function", "function": function })
}

/// A single text is written as a string, which every server understands.
fn plain(mut parts: Vec<Value>) -> Value {
    match parts.as_mut_slice() {
        [] => Value::String(String::new()),
        [Value::Object(part)] if part.len() == 2 && part["type"] == "text" => part["text"].take(),
        _ => Value::Array(parts),
    }
}
