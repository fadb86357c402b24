//! What kind of work a request is: what stays the same in it, and what is different every time.
//!
//! It depends on the request alone, so the learner and whoever serves see the same kind, and a verifier sees it years later.
//! The instructions are what stays the same: the system prompt, or the beginning of the only message where there is none.
//! Numbers, dates, ids and addresses in them are taken out and belong to the input (`instructions.rs`), so that a prompt which tells
//! the date is one kind of work and not one a day.

use std::borrow::Cow;
use std::sync::Arc;

use artifact::fingerprint::{self, digest};
use schema::Digest;
use serde_json::json;
use wire::{Message, Part, Request, Role, Tool};

use crate::instructions::Instructions;

/// A request as the learner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// What requests of its kind have in common.
    pub key: Digest,
    /// What people may call the kind: the first words of its instructions.
    pub name: String,
    /// What is different every time.
    pub input: String,
}

/// A request that says what is to be done only by what it has in common with others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loose {
    /// The model, the form of the answer and the sampling.
    pub base: Digest,
    /// All that it says.
    pub text: String,
}

/// Why nothing can be learned from a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unlearnable {
    /// More than one answer, or more than its words.
    #[error("more is wanted than one answer in words")]
    Choices,
    /// Pictures and the like.
    #[error("there is something in it besides words")]
    NotText,
    /// Nothing says what is to be done.
    #[error("nothing in it stays the same: there are no instructions")]
    NoInstructions,
    /// Too much to learn from.
    #[error("it is too long")]
    TooLong,
}

/// Bytes of an input that is learned from.
const LONGEST: usize = 32 * 1024;
/// How far into an only message its instructions may reach.
const LONGEST_INSTRUCTIONS: usize = 400;

impl Task {
    /// The kind of work that `request` is. `model` is the model's one name: aliases are resolved before.
    ///
    /// # Errors
    /// See [`Unlearnable`].
    pub fn of(model: &str, request: &Request) -> Result<Self, Unlearnable> {
        Self::by(|text| Arc::new(Instructions::read(text)), model, request)
    }

    /// The same, where instructions are read like this.
    pub(crate) fn by(
        read: impl FnOnce(&str) -> Arc<Instructions>,
        model: &str,
        request: &Request,
    ) -> Result<Self, Unlearnable> {
        if request.choices > 1 || request.sampling.logprobs {
            return Err(Unlearnable::Choices);
        }
        let said = |role: Role| request.messages.iter().filter(move |message| message.role == role);
        let instructions: Vec<String> =
            said(Role::System).map(words).collect::<Option<_>>().ok_or(Unlearnable::NotText)?;
        let instructions = instructions.join("\n");
        let turns: Vec<(&'static str, String)> = request
            .messages
            .iter()
            .filter(|message| message.role != Role::System)
            .map(|message| Some((speaker(message), words(message)?)))
            .collect::<Option<_>>()
            .ok_or(Unlearnable::NotText)?;
        let (instructions, input) = match (instructions.trim().is_empty(), turns.as_slice()) {
            (false, [(_, only)]) => (instructions, only.clone()),
            (false, _) => (instructions, turns.iter().map(spoken).collect::<Vec<_>>().join("\n\n")),
            (true, [(_, only)]) => {
                let (instructions, input) = divided(only).ok_or(Unlearnable::NoInstructions)?;
                (instructions.to_owned(), input.to_owned())
            }
            (true, _) => return Err(Unlearnable::NoInstructions),
        };
        let read = read(&instructions);
        let Instructions { fixed, varying, name, .. } = &*read;
        let input = if varying.is_empty() { input } else { format!("{varying}\n{input}") };
        if input.len() > LONGEST {
            return Err(Unlearnable::TooLong);
        }
        let roles: Vec<&'static str> = turns.iter().map(|(role, _)| *role).collect();
        let common = || {
            json!({
                "model": model, "instructions": fixed, "roles": roles, "format": request.format,
                "sampling": request.sampling, "reasoning": request.reasoning,
            })
        };
        let key = if request.tools.is_empty() {
            read.kind(model, &roles, request, || digest(&common()))
        } else {
            let mut common = common();
            common["tools"] = json!({
                "schemas": tools(&request.tools), "choice": request.tool_choice,
                "parallel": request.parallel_tool_calls,
            });
            digest(&common)
        };
        Ok(Self { key, name: name.clone(), input })
    }
}

impl Loose {
    /// The request, if it is one message of words and nothing else, and [`Task::of`] finds no instructions in it.
    #[must_use]
    pub fn of(model: &str, request: &Request) -> Option<Self> {
        let [only] = request.messages.as_slice() else { return None };
        if only.role != Role::User
            || !request.tools.is_empty()
            || request.choices > 1
            || request.sampling.logprobs
        {
            return None;
        }
        let text = words(only).filter(|text| text.len() <= LONGEST)?;
        if divided(&text).is_some() {
            return None;
        }
        let base = digest(&json!({
            "model": model, "format": request.format, "sampling": request.sampling, "reasoning": request.reasoning,
        }));
        Some(Self { base, text })
    }
}

/// What there is to call, whatever its order. What was said about caching does not matter.
fn tools(tools: &[Tool]) -> Digest {
    let plain = |tool: &Tool| {
        let Tool { name, description, parameters, strict, .. } = tool;
        json!({ "name": name, "description": description, "parameters": parameters, "strict": strict })
    };
    fingerprint::tools(&tools.iter().map(plain).collect::<Vec<_>>())
}

/// Who speaks: what tools gave, and what calls them, is told from what people and models say.
fn speaker(message: &Message) -> &'static str {
    let has = |test: fn(&Part) -> bool| message.parts.iter().any(test);
    match message.role {
        Role::System => "system",
        Role::User if has(|part| matches!(part, Part::ToolResult(_))) => "tool",
        Role::User => "user",
        Role::Assistant if has(|part| matches!(part, Part::ToolCall(_))) => "call",
        Role::Assistant => "assistant",
    }
}

/// The words of a message, with what it calls and what tools gave; `None` if there is anything else in it. Ids of calls are
/// different every time and mean nothing.
fn words(message: &Message) -> Option<String> {
    let said: Vec<Cow<'_, str>> = message.parts.iter().map(part_words).collect::<Option<_>>()?;
    Some(said.concat())
}

fn part_words(part: &Part) -> Option<Cow<'_, str>> {
    match part {
        Part::Text { text, .. } => Some(Cow::Borrowed(text)),
        Part::ToolCall(call) => Some(Cow::Owned(format!("{} {}\n", call.name, call.arguments))),
        Part::ToolResult(result) => {
            let given: String = result.content.iter().map(Part::as_text).collect::<Option<_>>()?;
            Some(Cow::Owned(given + "\n"))
        }
        _ => None,
    }
}

fn spoken((who, text): &(&str, String)) -> String {
    format!("{who}: {text}")
}

/// The instructions at the beginning of an only message, and the rest: up to the first line's end, or to a colon.
fn divided(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let (first, rest) = text.split_once('\n').or_else(|| {
        let colon = text.find(':')? + 1;
        Some(text.split_at(colon))
    })?;
    let fits = first.len() <= LONGEST_INSTRUCTIONS && first.split_whitespace().nth(1).is_some();
    (fits && !rest.trim().is_empty()).then(|| (first.trim(), rest.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instructions::Known;
    use wire::Wire;

    fn task(body: &serde_json::Value) -> Result<Task, Unlearnable> {
        Task::of("gpt-4o", &Wire::Chat.read_request(body).unwrap())
    }

    fn asked(system: &str, user: &str) -> Task {
        let messages = json!([{ "role": "system", "content": system }, { "role": "user", "content": user }]);
        task(&json!({ "model": "gpt-4o", "messages": messages })).unwrap()
    }

    #[test]
    fn the_same_instructions_are_one_kind_whatever_is_asked() {
        let one = asked("Pick a label for the mail.", "where is my parcel?");
        let two = asked("Pick a label for the mail.", "refund me");
        assert_eq!((one.key, one.name.as_str()), (two.key, "pick-a-label-for-the-mail"));
        assert_eq!(two.input, "refund me");
        assert_ne!(one.key, asked("Pick a colour for the mail.", "refund me").key);
    }

    #[test]
    fn what_differs_in_the_instructions_belongs_to_the_input() {
        let one = asked("Today is 2026-11-17. Is the shop open?", "at noon");
        let two = asked("Today is 2026-11-18. Is the shop open?", "at noon");
        assert_eq!((one.key, one.input.as_str()), (two.key, "2026-11-17\nat noon"));
        assert_ne!(one.input, two.input);
    }

    #[test]
    fn another_model_format_or_temperature_is_another_kind() {
        let body =
            json!({ "model": "m", "messages": [{ "role": "user", "content": "Say in a word: blue" }] });
        let mut warm = body.clone();
        warm["temperature"] = json!(0.5);
        let (plain, warm) = (task(&body).unwrap(), task(&warm).unwrap());
        assert_ne!(plain.key, warm.key);
        let request = Wire::Chat.read_request(&body).unwrap();
        assert_ne!(plain.key, Task::of("gpt-5", &request).unwrap().key);
        assert_eq!((plain.input.as_str(), plain.name.as_str()), ("blue", "say-in-a-word"));
    }

    #[test]
    fn what_is_remembered_of_instructions_is_not_taken_for_another_kind() {
        let known = Known::default();
        let ask = |model: &str, more: serde_json::Value| {
            let messages = json!([{ "role": "system", "content": "Pick a label." }, { "role": "user", "content": "refund me" }]);
            let mut body = json!({ "model": "m", "messages": messages });
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let request = Wire::Chat.read_request(&body).unwrap();
            let by = Task::by(|text| known.read(schema::TenantId::NIL, text), model, &request).unwrap();
            assert_eq!(by, Task::of(model, &request).unwrap());
            by.key
        };
        let tool = json!({ "type": "function", "function": { "name": "a", "parameters": {} } });
        let manners = [
            json!({}),
            json!({ "temperature": 0.5 }),
            json!({ "response_format": { "type": "json_object" } }),
            json!({ "reasoning_effort": "low" }),
            json!({ "tools": [tool] }),
        ];
        for _ in 0..2 {
            let mut keys: Vec<Digest> = manners.iter().map(|more| ask("m", more.clone())).collect();
            keys.push(ask("n", json!({})));
            keys.sort_unstable();
            keys.dedup();
            assert_eq!(keys.len(), manners.len() + 1);
        }
    }

    #[test]
    fn the_wire_makes_no_difference() {
        let chat = asked("Pick a label.", "refund me");
        let body = json!({
            "model": "gpt-4o", "max_tokens": 9, "system": "Pick a label.",
            "messages": [{ "role": "user", "content": "refund me" }],
        });
        let messages = Task::of("gpt-4o", &Wire::Messages.read_request(&body).unwrap()).unwrap();
        // Only the room for the answer, which that wire insists on, tells them apart.
        assert_eq!(messages.input, chat.input);
    }

    #[test]
    fn what_cannot_be_learned_says_why() {
        let messages = json!([{ "role": "user", "content": "hi" }]);
        let why = task(&json!({ "model": "m", "messages": messages })).unwrap_err();
        assert_eq!(why, Unlearnable::NoInstructions);
        let picture = json!([{ "type": "image_url", "image_url": { "url": "https://example.com/a.png" } }]);
        let messages =
            json!([{ "role": "system", "content": "Tell." }, { "role": "user", "content": picture }]);
        let why = task(&json!({ "model": "m", "messages": messages })).unwrap_err();
        assert_eq!(why, Unlearnable::NotText);
    }

    #[test]
    fn the_same_tools_are_one_kind_in_any_order_and_other_tools_are_another() {
        let tool = |name: &str| json!({ "type": "function", "function": { "name": name, "parameters": {} } });
        let with = |tools: serde_json::Value| {
            let messages = json!([
                { "role": "system", "content": "Look things up." }, { "role": "user", "content": "rain in Bern?" },
            ]);
            task(&json!({ "model": "m", "messages": messages, "tools": tools })).unwrap()
        };
        let one = with(json!([tool("a"), tool("b")]));
        assert_eq!(one, with(json!([tool("b"), tool("a")])));
        assert_ne!(one.key, with(json!([tool("a")])).key);
    }

    #[test]
    fn what_a_tool_gave_belongs_to_the_input_and_the_id_of_its_call_does_not() {
        let after = |id: &str, gave: &str| {
            let call =
                json!({ "id": id, "type": "function", "function": { "name": "f", "arguments": "{}" } });
            let messages = json!([
                { "role": "system", "content": "Look things up." }, { "role": "user", "content": "rain?" },
                { "role": "assistant", "content": null, "tool_calls": [call] },
                { "role": "tool", "tool_call_id": id, "content": gave },
            ]);
            let tools = json!([{ "type": "function", "function": { "name": "f", "parameters": {} } }]);
            task(&json!({ "model": "m", "messages": messages, "tools": tools })).unwrap()
        };
        let one = after("call_1", "wet");
        assert_eq!(one, after("call_2", "wet"));
        let dry = after("call_1", "dry");
        assert_eq!(one.key, dry.key);
        assert!(one.input.contains("tool: wet") && dry.input.contains("tool: dry"), "{one:?}");
    }
}
