//! The items of a conversation, both ways.

use serde_json::{Value, json};

use super::seal;
use crate::at::At;
use crate::extra;
use crate::part::{ImageSource, Part, ToolCall, ToolResult};
use crate::request::{Message, Refused, Request, Role};
use crate::source;
use crate::wire::Wire;

/// Reads the items. What the assistant says in several items in a row is one message, and so is what tools gave.
pub(super) fn read(input: &At<'_>, request: &mut Request) -> Result<(), Refused> {
    for item in input.items()? {
        item.object()?;
        let Some(message) = read_item(&item)? else { continue };
        match request.messages.last_mut() {
            Some(last) if belongs(last, &message) => last.parts.extend(message.parts),
            _ => request.messages.push(message),
        }
    }
    Ok(())
}

fn belongs(last: &Message, next: &Message) -> bool {
    let results = |message: &Message| message.parts.iter().all(|part| matches!(part, Part::ToolResult(_)));
    last.role == next.role
        && match last.role {
            Role::Assistant => true,
            Role::User => results(last) && results(next),
            Role::System => false,
        }
}

fn read_item(item: &At<'_>) -> Result<Option<Message>, Refused> {
    let kind = match item.get("type") {
        Some(kind) => kind.text()?.to_owned(),
        None if item.get("role").is_some() => "message".to_owned(),
        None if item.get("id").is_some() => "item_reference".to_owned(),
        None => return Err(item.refused("expected a `type`, or a `role` and `content`")),
    };
    let part = match kind.as_str() {
        "message" => return read_message(item).map(Some),
        "function_call" => Part::ToolCall(ToolCall {
            id: item.need("call_id", "the id of the call")?.text_of(1..=512)?.to_owned(),
            name: item.need("name", "the name of the function")?.text_of(1..=256)?.to_owned(),
            arguments: item.need("arguments", "JSON in a string")?.text()?.to_owned(),
        }),
        "function_call_output" => {
            let output = item.need("output", "a string or a list of parts")?;
            let result = Part::ToolResult(ToolResult {
                call: item.need("call_id", "the id of the call")?.text_of(1..=512)?.to_owned(),
                content: read_parts(&output)?,
                failed: false,
            });
            return Ok(Some(Message { role: Role::User, parts: vec![result] }));
        }
        "reasoning" => match read_reasoning(item)? {
            Some(thought) => thought,
            None => return Ok(None),
        },
        _ => Part::Beside { value: item.value.clone() },
    };
    let role = if kind.ends_with("_output") { Role::User } else { Role::Assistant };
    Ok(Some(Message { role, parts: vec![part] }))
}

/// A thought without words and without seal says nothing.
fn read_reasoning(item: &At<'_>) -> Result<Option<Part>, Refused> {
    let mut texts = Vec::new();
    for name in ["summary", "content"] {
        if let Some(list) = item.get(name) {
            for part in list.items()? {
                texts.push(part.need("text", "a string")?.text()?.to_owned());
            }
        }
    }
    let id = item.get("id").map(|id| id.text().map(str::to_owned)).transpose()?;
    let sealed = item.get("encrypted_content").map(|sealed| sealed.text().map(str::to_owned)).transpose()?;
    let signature = sealed.map(|sealed| seal::seal(id.as_deref(), &sealed));
    let text = texts.join("\n\n");
    Ok((!text.is_empty() || signature.is_some()).then_some(Part::Thinking { text, signature }))
}

fn read_message(item: &At<'_>) -> Result<Message, Refused> {
    const ROLES: &str = "`system`, `developer`, `user` or `assistant`";
    let role = item.need("role", ROLES)?;
    let role = match role.text()? {
        "system" | "developer" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => return Err(role.expected(ROLES)),
    };
    let content = item.need("content", "a string or a list of parts")?;
    Ok(Message { role, parts: read_parts(&content)? })
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
    let word = |name| part.get(name).map(|field| field.text().map(str::to_owned)).transpose();
    match part.need("type", "the kind of part, such as `input_text`")?.text()? {
        "input_text" | "output_text" | "text" => Ok(Part::text(part.need("text", "a string")?.text()?)),
        "refusal" => Ok(Part::Refusal { text: part.need("refusal", "a string")?.text()?.to_owned() }),
        "input_image" => {
            let source = match (word("file_id")?, part.get("image_url")) {
                (Some(id), _) => ImageSource::FileId { id },
                (None, Some(url)) => source::from_url(&url)?,
                (None, None) => return Err(part.refused("expected an image_url or a file_id")),
            };
            let detail = word("detail")?.filter(|detail| detail != "auto");
            Ok(Part::Image { source, detail })
        }
        "input_file" => {
            let source = match (word("file_id")?, part.get("file_data"), word("file_url")?) {
                (Some(id), ..) => ImageSource::FileId { id },
                (None, Some(data), _) => source::from_url(&data)?,
                (None, None, Some(url)) => ImageSource::Url { url },
                (None, None, None) => return Err(part.refused("expected file_data, a file_url or a file_id")),
            };
            Ok(Part::File { source, name: word("filename")? })
        }
        _ => Ok(Part::Foreign { value: part.value.clone() }),
    }
}

/// Writes the messages as items.
pub(super) fn write(
    request: &Request,
    messages: &[Message],
    left_out: &mut Vec<String>,
) -> Result<Vec<Value>, Refused> {
    let mut write = Write { request, left_out, items: Vec::new() };
    for message in messages {
        match message.role {
            Role::System => write.message("system", &message.parts)?,
            Role::User => write.user(&message.parts)?,
            Role::Assistant => write.assistant(&message.parts)?,
        }
    }
    Ok(write.items)
}

struct Write<'a> {
    request: &'a Request,
    left_out: &'a mut Vec<String>,
    items: Vec<Value>,
}

impl Write<'_> {
    fn user(&mut self, parts: &[Part]) -> Result<(), Refused> {
        let mut said = Vec::new();
        for part in parts {
            match part {
                Part::ToolResult(result) => self.result(result)?,
                Part::Beside { value } => self.items.push(value.clone()),
                part => said.push(part.clone()),
            }
        }
        if said.is_empty() && !parts.is_empty() { Ok(()) } else { self.message("user", &said) }
    }

    fn result(&mut self, result: &ToolResult) -> Result<(), Refused> {
        if result.failed {
            self.left_out.push("is_error".to_owned());
        }
        let output = self.content("user", &result.content)?;
        self.items.push(json!({ "type": "function_call_output", "call_id": result.call, "output": output }));
        Ok(())
    }

    fn assistant(&mut self, parts: &[Part]) -> Result<(), Refused> {
        let mut said: Vec<Part> = Vec::new();
        for part in parts {
            let item = match part {
                Part::ToolCall(ToolCall { id, name, arguments }) => Some(json!({
                    "type": "function_call", "call_id": id, "name": name, "arguments": arguments,
                })),
                Part::Thinking { text, signature } => {
                    let item = reasoning(text, signature.as_deref());
                    if item.is_none() {
                        self.left_out.push("thinking".to_owned());
                        continue;
                    }
                    item
                }
                Part::RedactedThinking { .. } => {
                    self.left_out.push("thinking".to_owned());
                    continue;
                }
                Part::Beside { value } => Some(value.clone()),
                part => {
                    said.push(part.clone());
                    None
                }
            };
            if let Some(item) = item {
                self.said(&mut said)?;
                self.items.push(item);
            }
        }
        self.said(&mut said)
    }

    fn said(&mut self, said: &mut Vec<Part>) -> Result<(), Refused> {
        let parts = std::mem::take(said);
        if parts.is_empty() { Ok(()) } else { self.message("assistant", &parts) }
    }

    fn message(&mut self, role: &str, parts: &[Part]) -> Result<(), Refused> {
        let content = self.content(role, parts)?;
        self.items.push(json!({ "type": "message", "role": role, "content": content }));
        Ok(())
    }

    fn content(&mut self, role: &str, parts: &[Part]) -> Result<Value, Refused> {
        if let [Part::Text { text, cache_control: None }] = parts {
            return Ok(json!(text));
        }
        parts.iter().map(|part| self.part(role, part)).collect::<Result<Vec<_>, _>>().map(Value::Array)
    }

    fn part(&mut self, role: &str, part: &Part) -> Result<Value, Refused> {
        let unsaid = |what: &str| Err(extra::unsaid_part(self.request, what, Wire::Responses));
        match part {
            Part::Text { text, cache_control } => {
                if cache_control.is_some() {
                    self.left_out.push("cache_control".to_owned());
                }
                let kind = if role == "assistant" { "output_text" } else { "input_text" };
                Ok(json!({ "type": kind, "text": text }))
            }
            Part::Refusal { text } => Ok(json!({ "type": "refusal", "refusal": text })),
            Part::Image { source, detail } => {
                let detail = detail.as_deref().unwrap_or("auto");
                Ok(match source {
                    ImageSource::FileId { id } => {
                        json!({ "type": "input_image", "file_id": id, "detail": detail })
                    }
                    source => {
                        json!({ "type": "input_image", "image_url": source::to_url(source), "detail": detail })
                    }
                })
            }
            Part::File { source, name } => {
                let mut file = match source {
                    ImageSource::FileId { id } => json!({ "type": "input_file", "file_id": id }),
                    ImageSource::Url { url } => json!({ "type": "input_file", "file_url": url }),
                    ImageSource::Base64 { .. } => {
                        json!({ "type": "input_file", "file_data": source::to_url(source) })
                    }
                };
                if let Some(name) = name {
                    file["filename"] = json!(name);
                }
                Ok(file)
            }
            Part::Foreign { value } if self.request.wire == Wire::Responses => Ok(value.clone()),
            Part::Foreign { value } | Part::Beside { value } => unsaid(&extra::kind_of(value)),
            Part::ToolCall(_) => unsaid("a tool call of the user"),
            Part::ToolResult(_) => unsaid("a tool result of the assistant"),
            Part::Thinking { .. } | Part::RedactedThinking { .. } => unsaid("a thought of the user"),
        }
    }
}

/// Only a thought that OpenAI sealed can be given back to it.
fn reasoning(text: &str, signature: Option<&str>) -> Option<Value> {
    let (id, sealed) = seal::open(signature?)?;
    let mut item = json!({ "type": "reasoning", "summary": summary(text), "encrypted_content": sealed });
    if let Some(id) = id {
        item["id"] = json!(id);
    }
    Some(item)
}

/// The words of a thought.
pub(super) fn summary(text: &str) -> Vec<Value> {
    if text.is_empty() { Vec::new() } else { vec![json!({ "type": "summary_text", "text": text })] }
}
