//! What a vendor is asked on the Anthropic messages wire, from a request that came by any wire.
//!
//! What the wire wants otherwise than the shape between, and what becomes of it:
//!
//! - Instructions are one field before the dialogue. All of them go there, in their order, those from the middle of the
//!   dialogue too: that is what the vendor's own OpenAI-compatible endpoint does.
//! - Messages of one role in a row are one message, and what tools gave comes first in it.
//! - `max_tokens` is required: see [`DEFAULT_MAX_TOKENS`].
//! - A schema for the answer is `output_config.format`, which needs no beta header. There is no word for "any JSON
//!   object": the model is told in its instructions, and `response_format` is named as left out, as nobody holds it to it.
//! - How much to think is said in words or in tokens, by the generation of the model (`model.rs`).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::model::{Model, budget};
use crate::extra;
use crate::part::{ImageSource, Part, ToolCall, ToolResult};
use crate::request::{
    Effort, Format, Message, Refused, Request, Role, Sampling, Tool, ToolChoice, Translated,
};
use crate::responses::seal;
use crate::wire::Wire;

/// How long an answer may be when the caller does not say: the vendor wants a number, and every Claude that still answers
/// can say that much.
pub(crate) const DEFAULT_MAX_TOKENS: u64 = 16_384;

/// The same for a model that thinks first, as thoughts count too: no more than the least that such a model can say.
pub(crate) const DEFAULT_MAX_TOKENS_THINKING: u64 = 32_000;

/// The vendor thinks at least this long, when it is told in tokens.
const MIN_BUDGET: u64 = 1024;

/// What the model is told when any JSON object will do.
const ANSWER_IN_JSON: &str = "Answer with one JSON object and nothing else.";

/// Writes a request for the vendor.
pub(crate) fn write(request: &Request) -> Result<Translated, Refused> {
    refuse_unsayable(request)?;
    let model = Model::of(&request.model);
    let mut draft = Draft { wire: request.wire, body: Map::new(), left_out: Vec::new() };
    draft.put("model", json!(request.model));

    let thinking = draft.thinking(request, model);
    draft.put("max_tokens", json!(max_tokens(request, &thinking)));
    let dialogue = Dialogue::of(request, &mut draft)?;
    draft.put("system", dialogue.system());
    draft.put("messages", Value::Array(dialogue.messages));
    draft.tools(request);
    draft.sampling(&request.sampling, model, &thinking);
    draft.output(request, model, thinking)?;
    if let Some(user) = &request.user {
        draft.put("metadata", json!({ "user_id": user }));
    }
    if request.stream {
        draft.put("stream", json!(true));
    }
    draft.extra(request)?;
    Ok(Translated { body: Value::Object(draft.body), left_out: draft.left_out })
}

/// Refuses what the wire has no word for and what the answer would be wrong without.
fn refuse_unsayable(request: &Request) -> Result<(), Refused> {
    let sampling = &request.sampling;
    if request.choices > 1 {
        return Err(extra::unsaid("n", Wire::Messages));
    }
    if sampling.logprobs || sampling.top_logprobs.is_some_and(|top| top > 0) {
        return Err(extra::unsaid("logprobs", Wire::Messages));
    }
    if sampling.stop.iter().any(|stop| stop.trim().is_empty()) {
        return Err(Refused::new("stop", "this model cannot stop at a text of spaces alone"));
    }
    Ok(())
}

/// How much to think, as the vendor wants it said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Thinking {
    /// Nothing is said.
    Unsaid,
    /// Not at all.
    Off,
    /// At most so many tokens.
    Budget(u64),
    /// As the model likes, with this word for how much.
    Adaptive(Option<Effort>),
    /// Nothing is said but the word: a forced call and `thinking` exclude each other.
    EffortOnly(Effort),
}

impl Thinking {
    fn is_on(self) -> bool {
        matches!(self, Self::Budget(_) | Self::Adaptive(_))
    }
}

struct Draft {
    wire: Wire,
    body: Map<String, Value>,
    left_out: Vec<String>,
}

impl Draft {
    fn put(&mut self, name: &str, value: Value) {
        if !value.is_null() {
            self.body.insert(name.to_owned(), value);
        }
    }

    fn leave_out(&mut self, name: &str) {
        if !self.left_out.iter().any(|left_out| left_out == name) {
            self.left_out.push(name.to_owned());
        }
    }

    fn thinking(&mut self, request: &Request, model: Model) -> Thinking {
        let thinking = self.how_to_think(request, model);
        let summary = request.reasoning.as_ref().and_then(|reasoning| reasoning.summary.as_ref());
        if summary.is_some() && !thinking.is_on() {
            self.leave_out("reasoning.summary");
        }
        thinking
    }

    fn how_to_think(&mut self, request: &Request, model: Model) -> Thinking {
        let Some(reasoning) = &request.reasoning else { return Thinking::Unsaid };
        let forced = matches!(request.tool_choice, Some(ToolChoice::Required | ToolChoice::Tool(_)));
        match (reasoning.effort, reasoning.budget_tokens) {
            (Some(Effort::None), _) if model.may_rest() => Thinking::Off,
            (Some(Effort::None), _) => {
                self.leave_out_as("reasoning_effort", "reasoning.effort", "thinking");
                Thinking::EffortOnly(Effort::Low)
            }
            (_, Some(_)) if !model.thinks_by_budget() => {
                self.leave_out("thinking.budget_tokens");
                Thinking::Adaptive(reasoning.in_words())
            }
            (_, Some(tokens)) if request.wire == Wire::Messages => Thinking::Budget(tokens),
            (Some(effort), _) if model.thinks_by_effort() && forced => Thinking::EffortOnly(effort),
            (effort, None) if model.thinks_by_effort() => Thinking::Adaptive(effort),
            (effort, tokens) => {
                let wanted = tokens.unwrap_or_else(|| budget(effort.unwrap_or(Effort::Medium)));
                let fitting = fit(wanted, request.sampling.max_tokens);
                match fitting.filter(|_| !forced && !answers_calls_without_thoughts(&request.messages)) {
                    Some(tokens) => Thinking::Budget(tokens),
                    None => {
                        self.leave_out_as("reasoning_effort", "reasoning.effort", "thinking");
                        Thinking::Unsaid
                    }
                }
            }
        }
    }

    fn tools(&mut self, request: &Request) {
        let served = request.wire == Wire::Messages && request.extra.contains_key("tools");
        if request.tools.is_empty() && !served {
            return;
        }
        let mut tools: Vec<Value> = request.tools.iter().map(|tool| write_tool(tool, request.wire)).collect();
        if served && let Some(Value::Array(more)) = request.extra.get("tools") {
            tools.extend(more.iter().cloned());
        }
        self.put("tools", Value::Array(tools));
        let mut choice = match &request.tool_choice {
            None if request.parallel_tool_calls != Some(false) => return,
            None | Some(ToolChoice::Auto) => json!({ "type": "auto" }),
            Some(ToolChoice::Required) => json!({ "type": "any" }),
            Some(ToolChoice::Tool(name)) => json!({ "type": "tool", "name": name }),
            Some(ToolChoice::None) => json!({ "type": "none" }),
        };
        // Saying the default is for those who said it in these words; servers that came before it do not know it.
        let worded = |said: &bool| !said || request.wire == Wire::Messages;
        if let Some(parallel) = request.parallel_tool_calls.filter(worded)
            && request.tool_choice != Some(ToolChoice::None)
        {
            choice["disable_parallel_tool_use"] = json!(!parallel);
        }
        self.put("tool_choice", choice);
    }

    fn sampling(&mut self, sampling: &Sampling, model: Model, thinking: &Thinking) {
        // 1 is the default: leaving it out says the same.
        let free = model.takes_sampling() && !thinking.is_on();
        match sampling.temperature {
            Some(temperature) if free => {
                if temperature > 1.0 {
                    // The vendor's scale ends here.
                    self.leave_out("temperature");
                }
                self.put("temperature", json!(temperature.min(1.0)));
            }
            Some(temperature) if temperature != 1.0 => self.leave_out("temperature"),
            _ => {}
        }
        let taken = model.takes_one_of_temperature_and_top_p() && self.body.contains_key("temperature");
        match sampling.top_p {
            Some(top_p) if free && !taken => self.put("top_p", json!(top_p)),
            // While it thinks, the model takes nothing below.
            Some(top_p) if model.takes_sampling() && !taken && top_p >= 0.95 => {
                self.put("top_p", json!(top_p));
            }
            Some(top_p) if top_p < 1.0 => self.leave_out("top_p"),
            _ => {}
        }
        match sampling.top_k {
            Some(top_k) if free => self.put("top_k", json!(top_k)),
            Some(_) => self.leave_out("top_k"),
            None => {}
        }
        if !sampling.stop.is_empty() {
            self.put("stop_sequences", json!(sampling.stop));
        }
        for (name, given) in [
            ("presence_penalty", sampling.presence_penalty.is_some_and(|penalty| penalty != 0.0)),
            ("frequency_penalty", sampling.frequency_penalty.is_some_and(|penalty| penalty != 0.0)),
            ("seed", sampling.seed.is_some()),
        ] {
            if given {
                self.leave_out(name);
            }
        }
    }

    fn output(&mut self, request: &Request, model: Model, thinking: Thinking) -> Result<(), Refused> {
        let mut config = Map::new();
        match thinking {
            Thinking::Unsaid => {}
            // Up to 4.8 saying nothing is enough, and some refuse to be told.
            Thinking::Off if !model.thinks_unasked() && request.wire != Wire::Messages => {}
            Thinking::Off => self.put("thinking", json!({ "type": "disabled" })),
            Thinking::Budget(tokens) => {
                self.put("thinking", json!({ "type": "enabled", "budget_tokens": tokens }));
            }
            Thinking::Adaptive(effort) => {
                let mut thinking = json!({ "type": "adaptive" });
                // Later generations keep their thoughts to themselves unless asked.
                if request.reasoning.as_ref().is_some_and(|reasoning| reasoning.summary.is_some()) {
                    thinking["display"] = json!("summarized");
                }
                self.put("thinking", thinking);
                config.extend(effort.map(|effort| ("effort".to_owned(), json!(model.effort(effort)))));
            }
            Thinking::EffortOnly(effort) => {
                config.insert("effort".to_owned(), json!(model.effort(effort)));
            }
        }
        match &request.format {
            Format::Text => {}
            Format::Json => self.leave_out_as("response_format", "text.format", "output_config.format"),
            Format::Schema { description, schema, .. } => {
                if !schema.is_object() {
                    return Err(Refused::new("response_format", "expected the schema of an object"));
                }
                let mut schema = closed(schema);
                if let Some(description) = description
                    && schema.get("description").is_none()
                {
                    schema["description"] = json!(description);
                }
                config.insert("format".to_owned(), json!({ "type": "json_schema", "schema": schema }));
            }
        }
        if !config.is_empty() {
            self.put("output_config", Value::Object(config));
        }
        Ok(())
    }

    /// What only the wire it came by knows.
    fn extra(&mut self, request: &Request) -> Result<(), Refused> {
        let config = self.body.get("output_config").cloned();
        extra::carry(request, Wire::Messages, &mut self.body, &mut self.left_out)?;
        // Some of this field has a place in the shape between, and the rest has come back now.
        if let (Some(Value::Object(ours)), Some(Value::Object(all))) =
            (config, self.body.get_mut("output_config"))
        {
            all.extend(ours);
        }
        Ok(())
    }

    /// A hint by the name the caller gave it.
    fn leave_out_as(&mut self, chat: &str, responses: &str, messages: &str) {
        self.leave_out(match self.wire {
            Wire::Chat => chat,
            Wire::Responses => responses,
            Wire::Messages => messages,
        });
    }
}

/// What of a budget fits below the answer's length: half of it, if it is too much.
fn fit(wanted: u64, max_tokens: Option<u64>) -> Option<u64> {
    match max_tokens {
        None => Some(wanted),
        Some(room) if room > wanted => Some(wanted),
        Some(room) if room > MIN_BUDGET => Some((room / 2).max(MIN_BUDGET)),
        Some(_) => None,
    }
}

fn max_tokens(request: &Request, thinking: &Thinking) -> u64 {
    let default = match thinking {
        Thinking::Budget(tokens) => {
            (tokens + DEFAULT_MAX_TOKENS).min(DEFAULT_MAX_TOKENS_THINKING.max(tokens + 1024))
        }
        Thinking::Adaptive(_) => DEFAULT_MAX_TOKENS_THINKING,
        Thinking::EffortOnly(_) => DEFAULT_MAX_TOKENS_THINKING,
        Thinking::Unsaid | Thinking::Off => DEFAULT_MAX_TOKENS,
    };
    request.sampling.max_tokens.unwrap_or(default)
}

/// Whether tool results come last and the turn that asked for them does not begin with a thought. A model that thinks by a
/// budget then wants its thoughts back, and the OpenAI wires do not carry them.
fn answers_calls_without_thoughts(messages: &[Message]) -> bool {
    let is = |role: Role| move |message: &&Message| message.role == role;
    let asked = messages.iter().rposition(|message| message.role == Role::Assistant);
    let Some(asked) = asked else { return false };
    let answered = messages[asked..].iter().filter(is(Role::User)).flat_map(|message| &message.parts);
    let answered = answered.into_iter().any(|part| matches!(part, Part::ToolResult(_)));
    let turn = messages[..=asked].iter().rev().take_while(is(Role::Assistant));
    let first = turn.last().and_then(|message| message.parts.first());
    let thought = match first {
        Some(Part::Thinking { signature: Some(signature), .. }) => seal::open(signature).is_none(),
        first => matches!(first, Some(Part::RedactedThinking { .. })),
    };
    answered && !thought
}

/// The vendor wants it said of every object in a schema that it has no other members.
fn closed(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let mut closed_members: Map<String, Value> =
                members.iter().map(|(name, value)| (name.clone(), closed(value))).collect();
            if members.get("type").is_some_and(|kind| kind == "object")
                && members.get("properties").is_some_and(Value::is_object)
            {
                closed_members.entry("additionalProperties").or_insert(json!(false));
            }
            Value::Object(closed_members)
        }
        Value::Array(items) => items.iter().map(closed).collect(),
        other => other.clone(),
    }
}

fn write_tool(tool: &Tool, wire: Wire) -> Value {
    let mut schema = tool.parameters.clone().unwrap_or_else(|| json!({ "type": "object", "properties": {} }));
    if let Some(members) = schema.as_object_mut() {
        members.entry("type").or_insert(json!("object"));
    }
    let mut told = json!({ "name": tool.name });
    for (name, value) in [
        ("description", json!(tool.description)),
        ("input_schema", schema),
        ("strict", json!(tool.strict.filter(|strict| *strict || wire == Wire::Messages))),
        ("cache_control", json!(tool.cache_control)),
    ] {
        if !value.is_null() {
            told[name] = value;
        }
    }
    told
}

/// The dialogue in the vendor's order.
struct Dialogue {
    system: Vec<Value>,
    messages: Vec<Value>,
}

impl Dialogue {
    fn of(request: &Request, draft: &mut Draft) -> Result<Self, Refused> {
        let mut system = Vec::new();
        let mut turns: Vec<(Role, Vec<Value>)> = Vec::new();
        for (index, message) in request.messages.iter().enumerate() {
            let mut blocks = Vec::new();
            for part in &message.parts {
                blocks.extend(write_part(part, index, request, draft)?);
            }
            if message.role == Role::System {
                if blocks.iter().any(|block| block["type"] != "text") {
                    return Err(extra::unsaid_part(
                        request,
                        "an instruction that is not words",
                        Wire::Messages,
                    ));
                }
                system.extend(blocks);
                continue;
            }
            match turns.last_mut() {
                _ if blocks.is_empty() => {}
                Some((role, turn)) if *role == message.role => turn.extend(blocks),
                _ => turns.push((message.role, blocks)),
            }
        }
        if request.format == Format::Json {
            system.push(json!({ "type": "text", "text": ANSWER_IN_JSON }));
        }
        if turns.is_empty() {
            return Err(Refused::new("messages", "expected at least one message that says something"));
        }
        let last = turns.len() - 1;
        let write = |(index, (role, mut blocks)): (usize, (Role, Vec<Value>))| {
            let role = if role == Role::Assistant { "assistant" } else { "user" };
            if role == "user" {
                blocks.sort_by_key(|block| block["type"] != "tool_result");
            } else if index == last {
                trim_end(&mut blocks);
            }
            json!({ "role": role, "content": short(blocks) })
        };
        Ok(Self { system, messages: turns.into_iter().enumerate().map(write).collect() })
    }

    fn system(&self) -> Value {
        if self.system.is_empty() { Value::Null } else { short(self.system.clone()) }
    }
}

/// The vendor refuses to go on from a turn that ends in spaces.
fn trim_end(blocks: &mut [Value]) {
    if let Some(block) = blocks.last_mut()
        && block["type"] == "text"
        && let Some(text) = block["text"].as_str().map(str::trim_end).filter(|text| !text.is_empty())
    {
        block["text"] = Value::from(text);
    }
}

/// Words alone may be said in short.
fn short(blocks: Vec<Value>) -> Value {
    match blocks.as_slice() {
        [block] if block["type"] == "text" && block.get("cache_control").is_none() => block["text"].clone(),
        _ => Value::Array(blocks),
    }
}

fn write_part(
    part: &Part,
    message: usize,
    request: &Request,
    draft: &mut Draft,
) -> Result<Option<Value>, Refused> {
    let unsaid = |what: &str| extra::unsaid_part(request, what, Wire::Messages);
    Ok(Some(match part {
        // The vendor refuses a text that says nothing.
        Part::Text { text, .. } | Part::Refusal { text } if text.trim().is_empty() => return Ok(None),
        Part::Text { text, cache_control } => {
            let mut block = json!({ "type": "text", "text": text });
            if let Some(marker) = cache_control {
                block["cache_control"] = marker.clone();
            }
            block
        }
        Part::Refusal { text } => json!({ "type": "text", "text": text }),
        Part::Image { source, detail } => {
            if detail.as_ref().is_some_and(|detail| detail != "auto") {
                draft.leave_out_as(
                    "messages.image_url.detail",
                    "input.image.detail",
                    "messages.content.detail",
                );
            }
            json!({ "type": "image", "source": write_source(source, request.wire).map_err(unsaid)? })
        }
        Part::File { source, name } => {
            let source = write_document(source, request.wire).map_err(unsaid)?;
            let mut block = json!({ "type": "document", "source": source });
            if let Some(name) = name {
                block["title"] = json!(name);
            }
            block
        }
        Part::Thinking { text, signature: Some(signature) } if seal::open(signature).is_none() => {
            json!({ "type": "thinking", "thinking": text, "signature": signature })
        }
        // The vendor takes no thought back without its own seal.
        Part::Thinking { .. } => {
            draft.leave_out_as("messages.reasoning_content", "input.reasoning", "messages.content.thinking");
            return Ok(None);
        }
        Part::RedactedThinking { data } => json!({ "type": "redacted_thinking", "data": data }),
        Part::ToolCall(ToolCall { id, name, arguments }) => {
            let arguments = if arguments.trim().is_empty() { "{}" } else { arguments.as_str() };
            let input =
                serde_json::from_str::<Value>(arguments).ok().filter(Value::is_object).ok_or_else(|| {
                    let why = format!("the arguments of the call `{id}` are not a JSON object");
                    Refused::new(format!("messages[{message}].tool_calls"), &why)
                })?;
            json!({ "type": "tool_use", "id": call_id(id), "name": name, "input": input })
        }
        Part::ToolResult(ToolResult { call, content, failed }) => {
            let mut blocks = Vec::new();
            for part in content {
                blocks.extend(write_part(part, message, request, draft)?);
            }
            let mut block = json!({ "type": "tool_result", "tool_use_id": call_id(call) });
            if !blocks.is_empty() {
                block["content"] = short(blocks);
            }
            if *failed {
                block["is_error"] = json!(true);
            }
            block
        }
        Part::Foreign { value } if request.wire == Wire::Messages => value.clone(),
        Part::Foreign { value } | Part::Beside { value } => return Err(unsaid(&extra::kind_of(value))),
    }))
}

/// The vendor wants letters, digits, `_` and `-` in the id of a call; others put dots and colons in theirs.
fn call_id(id: &str) -> String {
    let letter = |letter: char| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' };
    id.chars().map(letter).collect()
}

fn write_source(source: &ImageSource, wire: Wire) -> Result<Value, &'static str> {
    match source {
        ImageSource::Url { url } => Ok(json!({ "type": "url", "url": url })),
        ImageSource::Base64 { media_type, data } => {
            Ok(json!({ "type": "base64", "media_type": media_type, "data": data }))
        }
        ImageSource::FileId { id } if wire == Wire::Messages => Ok(json!({ "type": "file", "file_id": id })),
        ImageSource::FileId { .. } => Err("a file by the id it has with another vendor"),
    }
}

fn write_document(source: &ImageSource, wire: Wire) -> Result<Value, &'static str> {
    match source {
        ImageSource::Base64 { media_type, data } if media_type.starts_with("text/") => {
            let bytes = STANDARD.decode(data).map_err(|_| "a document that is not base64")?;
            let words = String::from_utf8(bytes).map_err(|_| "a document that is not UTF-8")?;
            Ok(json!({ "type": "text", "media_type": "text/plain", "data": words }))
        }
        ImageSource::Base64 { media_type, .. } if media_type != "application/pdf" => {
            Err("a document that is neither PDF nor plain text")
        }
        source => write_source(source, wire),
    }
}
