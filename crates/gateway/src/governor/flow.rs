//! Memory quarantine: whether untrusted text could have shaped an action, as the `provenance` crate finds.

use governance::Shaped;
use ledger::Event;
use provenance::{Call, Conversation, Finding, Influence, Tool, Trace, Turn, Undeclared};
use schema::SideEffectLevel;
use serde_json::{Map, Value};
use wire::{Part, Request, Role};

use crate::setting::Settings;

/// What was said before an action, ready to be held against it.
pub(crate) struct Flow {
    settings: provenance::Settings,
    conversation: Conversation,
    threshold: SideEffectLevel,
}

impl Flow {
    /// What a request says; nothing, where memory is not in quarantine.
    pub(crate) fn of_request(settings: &Settings, request: &Request) -> Option<Self> {
        settings.memory_quarantine.enabled.then(|| Self::new(settings, conversation(request)))
    }

    /// What the events of a run say; nothing, where memory is not in quarantine.
    pub(crate) fn of_run(settings: &Settings, events: &[Event]) -> Option<Self> {
        settings.memory_quarantine.enabled.then(|| Self::new(settings, recorded(events)))
    }

    fn new(settings: &Settings, conversation: Conversation) -> Self {
        let threshold = settings.memory_quarantine.threshold;
        Self { settings: settings.provenance(), conversation, threshold }
    }

    /// What could have shaped a call, if anything could.
    pub(crate) fn shaped(&self, tool: &str, arguments: &Value) -> Option<Shaped> {
        let arguments = match arguments {
            Value::Object(members) => members.clone(),
            other => Map::from_iter([("arguments".to_owned(), other.clone())]),
        };
        let call = Call { id: None, tool: tool.to_owned(), arguments };
        let judged = Trace::read(&self.settings, &self.conversation).judge(&call);
        let Finding::Shaped { by, reasons, .. } = judged.finding else { return None };
        let by = reasons.iter().map(ToString::to_string).chain(by).collect();
        // What goes out of the house is looked at whatever its level: egress counts as a write. Of a tool that nobody
        // declared, that is only known where it may be guessed.
        let known = self.settings.tools.contains_key(tool) || self.settings.undeclared == Undeclared::Infer;
        let threshold = if known && judged.egress { SideEffectLevel::Pure } else { self.threshold };
        Some(Shaped { threshold, by })
    }
}

/// A request as a conversation.
fn conversation(request: &Request) -> Conversation {
    let tools = request.tools.iter().map(|tool| Tool {
        name: tool.name.clone(),
        description: tool.description.clone().unwrap_or_default(),
        parameters: tool.parameters.clone().unwrap_or_default(),
    });
    let mut turns = Vec::new();
    let mut called: Vec<(String, String)> = Vec::new();
    for message in &request.messages {
        let text: Vec<&str> = message.parts.iter().filter_map(Part::as_text).collect();
        let text = text.join("\n");
        match message.role {
            Role::System if !text.is_empty() => turns.push(Turn::System { text }),
            Role::User if !text.is_empty() => turns.push(Turn::User { text }),
            Role::System | Role::User | Role::Assistant => {}
        }
        let mut calls = Vec::new();
        for part in &message.parts {
            match part {
                Part::ToolCall(call) => {
                    called.push((call.id.clone(), call.name.clone()));
                    let arguments = serde_json::from_str(&call.arguments).unwrap_or_default();
                    calls.push(Call { id: Some(call.id.clone()), tool: call.name.clone(), arguments });
                }
                Part::ToolResult(result) => {
                    let tool = called.iter().rev().find(|(id, _)| *id == result.call);
                    let tool = tool.map_or_else(String::new, |(_, tool)| tool.clone());
                    turns.push(Turn::Result {
                        call: Some(result.call.clone()),
                        tool,
                        output: output(result),
                        digest: None,
                    });
                }
                _ => {}
            }
        }
        if !calls.is_empty() {
            turns.push(Turn::Assistant { calls });
        }
    }
    Conversation { tools: tools.collect(), turns, influences: Vec::new() }
}

/// What a tool gave: JSON where it is, a text elsewhere.
fn output(result: &wire::ToolResult) -> Value {
    let text: Vec<&str> = result.content.iter().filter_map(Part::as_text).collect();
    let text = text.join("\n");
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

/// What a run has on record: its request, and what had a part in it.
fn recorded(events: &[Event]) -> Conversation {
    let field = |event: &Event, name: &str| event.payload.get(name).and_then(|field| field.value()).cloned();
    let mut said = Conversation::default();
    for event in events {
        match event.r#type.as_str() {
            "run.started" => {
                let wire = field(event, "wire").and_then(|wire| wire.as_str().and_then(wire_of));
                let request = wire.zip(field(event, "request"));
                if let Some(Ok(request)) = request.map(|(wire, body)| wire.read_request(&body)) {
                    said = conversation(&request);
                }
            }
            "memory.influenced" => {
                let lane = field(event, "trustLane").and_then(|lane| serde_json::from_value(lane).ok());
                let source = field(event, "source").and_then(|source| source.as_str().map(str::to_owned));
                if let (Some(lane), Some(source)) = (lane, source) {
                    let digest =
                        field(event, "contentHash").and_then(|hash| serde_json::from_value(hash).ok());
                    said.influences.push(Influence { source, lane, digest, text: None });
                }
            }
            _ => {}
        }
    }
    said
}

fn wire_of(name: &str) -> Option<wire::Wire> {
    [wire::Wire::Chat, wire::Wire::Messages, wire::Wire::Responses]
        .into_iter()
        .find(|wire| wire.as_str() == name)
}
