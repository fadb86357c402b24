//! Requests, answers and streams of any kind, and how to pass them through a wire.
#![allow(
    clippy::unwrap_used,
    dead_code,
    reason = "helpers of tests are tests, and not every test needs all of them"
)]

use proptest::prelude::*;
use schema::Usage;
use serde_json::{Map, Value, json};
use wire::sse::Decoder;
use wire::{
    Answer, Broken, Choice, Delta, Effort, Format, Gather, ImageSource, Message, Part, Piece, Reasoning,
    Request, Role, Sampling, Stamp, Stop, Tool, ToolCall, ToolChoice, ToolResult, Wire,
};

/// What an answer says of itself in tests.
pub(crate) fn stamp() -> Stamp {
    Stamp { id: "1".into(), created: 1_700_000_000, model: "model".into(), ..Stamp::default() }
}

/// The answer as a stream of the wire.
pub(crate) fn streamed(wire: Wire, answer: &Answer) -> Vec<u8> {
    written(wire, &answer.deltas())
}

/// These pieces as a stream of the wire.
pub(crate) fn written(wire: Wire, deltas: &[Delta]) -> Vec<u8> {
    let (mut writer, mut bytes) = (wire.writer(&stamp(), true), Vec::new());
    for delta in deltas {
        writer.write(delta, &mut bytes);
    }
    bytes
}

/// What a stream of the wire says.
pub(crate) fn deltas(wire: Wire, bytes: &[u8]) -> Result<Vec<Delta>, Broken> {
    let (mut decoder, mut reader, mut out) = (Decoder::default(), wire.reader(), Vec::new());
    decoder.feed(bytes);
    decoder.finish();
    while let Some(frame) = decoder.next()? {
        if let Some(event) = frame.event {
            reader.read(&event, &mut out)?;
        }
    }
    reader.close(&mut out);
    Ok(out)
}

/// The pieces put together.
pub(crate) fn gathered(deltas: &[Delta]) -> Answer {
    let mut gather = Gather::default();
    for delta in deltas {
        gather.take(delta);
    }
    gather.into_answer()
}

/// The events of a stream: their names and data.
pub(crate) fn events(bytes: &[u8]) -> Vec<(Option<String>, Value)> {
    let (mut decoder, mut events) = (Decoder::default(), Vec::new());
    decoder.feed(bytes);
    decoder.finish();
    while let Some(frame) = decoder.next().unwrap() {
        let event = frame.event.unwrap();
        let data = serde_json::from_str(event.data).unwrap_or_else(|_| json!(event.data));
        events.push((event.name.map(str::to_owned), data));
    }
    events
}

/// Words that say something.
pub(crate) fn words() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9äß€漢🦀\"\\\\\n {}]{0,20}[a-z🦀]"
}

/// A tool's arguments.
pub(crate) fn arguments() -> impl Strategy<Value = Value> {
    let member = prop_oneof![
        words().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
        prop::collection::vec(0..9u8, 0..3).prop_map(Value::from),
    ];
    prop::collection::btree_map("[a-z]{1,6}", member, 0..4).prop_map(|members| json!(members))
}

pub(crate) fn call() -> impl Strategy<Value = ToolCall> {
    ("call_[a-zA-Z0-9]{8}", "[a-z_]{1,10}", arguments()).prop_map(|(id, name, arguments)| ToolCall {
        id,
        name,
        arguments: arguments.to_string(),
    })
}

pub(crate) fn usage() -> impl Strategy<Value = Usage> {
    (0..10_000u64, 0..10_000u64, 0..10_000u64, 0..10_000u64).prop_map(|(fresh, cached, said, thought)| {
        Usage {
            input_tokens: fresh + cached,
            output_tokens: said + thought,
            cache_read_tokens: cached,
            reasoning_tokens: thought,
            ..Usage::default()
        }
    })
}

/// An answer that every wire can say: words, then calls.
pub(crate) fn common_answer() -> impl Strategy<Value = Answer> {
    let calls = prop::collection::vec(call(), 0..4);
    (prop::option::of(words()), calls, usage(), any::<bool>()).prop_map(|(text, calls, usage, cut)| {
        let stop = match (calls.is_empty(), cut) {
            (true, true) => Stop::Length,
            (true, false) => Stop::End,
            (false, _) => Stop::ToolCalls,
        };
        let mut parts: Vec<Part> = text.map(Part::text).into_iter().collect();
        parts.extend(calls.into_iter().map(Part::ToolCall));
        answer(parts, stop, usage)
    })
}

/// An answer that the messages wire can say.
pub(crate) fn messages_answer() -> impl Strategy<Value = Answer> {
    let thought = (words(), prop::option::of("[A-Za-z0-9+/]{1,20}"));
    let part = prop_oneof![
        words().prop_map(Part::text),
        thought.prop_map(|(text, signature)| Part::Thinking { text, signature }),
        "[A-Za-z0-9+/]{1,20}".prop_map(|data| Part::RedactedThinking { data }),
        call().prop_map(Part::ToolCall),
    ];
    let stop = prop_oneof![
        Just(Stop::Length),
        Just(Stop::Filtered),
        Just(Stop::Paused),
        prop::option::of(words()).prop_map(Stop::Sequence),
    ];
    let written = (0..1000u64, 0..1000u64);
    (prop::collection::vec(part, 0..6), stop, usage(), written).prop_map(
        |(parts, stop, mut usage, (short, long))| {
            usage.input_tokens += short + long;
            (usage.cache_write_tokens, usage.cache_write_long_tokens) = (short, long);
            // Words in a row are one part, and so are thoughts without a seal: that is how they are gathered.
            let mut apart: Vec<Part> = Vec::new();
            for part in parts {
                match (apart.last(), &part) {
                    (Some(Part::Text { .. }), Part::Text { .. })
                    | (Some(Part::Thinking { signature: None, .. }), Part::Thinking { .. }) => {}
                    _ => apart.push(part),
                }
            }
            answer(apart, stop, usage)
        },
    )
}

/// An answer as wires give it back when it was stamped with [`stamp`].
pub(crate) fn answer(parts: Vec<Part>, stop: Stop, usage: Usage) -> Answer {
    let choices = vec![Choice { parts, stop: Some(stop), logprobs: None }];
    Answer { id: None, model: "model".into(), choices, usage: Some(usage) }
}

/// Any pieces in any order, as long as calls begin before they go on.
pub(crate) fn any_deltas() -> impl Strategy<Value = Vec<Delta>> {
    let piece = prop_oneof![
        words().prop_map(Piece::Text),
        words().prop_map(Piece::Thinking),
        words().prop_map(Piece::Signature),
        words().prop_map(Piece::RedactedThinking),
        words().prop_map(Piece::Refusal),
        (0..4u32, words()).prop_map(|(index, json)| Piece::Arguments { index, json }),
        (0..4u32, "[a-z]{3}").prop_map(|(index, id)| Piece::Call { index, id, name: "tool".into() }),
    ];
    let delta = prop_oneof![
        20 => (0..2u32, piece).prop_map(|(choice, piece)| Delta::Piece { choice, piece }),
        1 => usage().prop_map(Delta::Usage),
        1 => Just(Delta::Stop { choice: 0, stop: Stop::End }),
        1 => Just(Delta::Start { id: None, model: "model".into() }),
    ];
    prop::collection::vec(delta, 0..40)
}

fn marker() -> impl Strategy<Value = Option<Value>> {
    prop_oneof![
        Just(None),
        Just(Some(json!({ "type": "ephemeral" }))),
        Just(Some(json!({ "type": "ephemeral", "ttl": "1h" })))
    ]
}

fn text_part() -> impl Strategy<Value = Part> {
    (words(), marker()).prop_map(|(text, cache_control)| Part::Text { text, cache_control })
}

fn source() -> impl Strategy<Value = ImageSource> {
    prop_oneof![
        "https://[a-z]{3}\\.test/[a-z]{3}".prop_map(|url| ImageSource::Url { url }),
        "[A-Za-z0-9]{8}".prop_map(|data| ImageSource::Base64 { media_type: "application/pdf".into(), data }),
        "file_[a-z]{4}".prop_map(|id| ImageSource::FileId { id }),
    ]
}

fn user_part() -> impl Strategy<Value = Part> {
    prop_oneof![
        3 => text_part(),
        1 => source().prop_map(|source| Part::Image { source, detail: None }),
        1 => (source(), prop::option::of(words())).prop_map(|(source, name)| Part::File { source, name }),
    ]
}

fn assistant_part() -> impl Strategy<Value = Part> {
    prop_oneof![
        3 => text_part(),
        1 => (words(), words()).prop_map(|(text, seal)| Part::Thinking { text, signature: Some(seal) }),
        1 => words().prop_map(|data| Part::RedactedThinking { data }),
        1 => call().prop_map(Part::ToolCall),
    ]
}

fn user_turn() -> impl Strategy<Value = Message> {
    let result = ("call_[a-z]{4}", prop::collection::vec(user_part(), 0..3), any::<bool>())
        .prop_map(|(call, content, failed)| Part::ToolResult(ToolResult { call, content, failed }));
    (prop::collection::vec(result, 0..3), prop::collection::vec(user_part(), 1..3)).prop_map(
        |(results, others)| Message { role: Role::User, parts: results.into_iter().chain(others).collect() },
    )
}

fn turns() -> impl Strategy<Value = Vec<Message>> {
    let assistant = prop::collection::vec(assistant_part(), 1..4)
        .prop_map(|parts| Message { role: Role::Assistant, parts });
    let exchange = (user_turn(), assistant).prop_map(|(user, assistant)| [user, assistant]);
    (prop::collection::vec(exchange, 0..3), user_turn())
        .prop_map(|(exchanges, last)| exchanges.into_iter().flatten().chain([last]).collect())
}

fn tool() -> impl Strategy<Value = Tool> {
    let schema = Just(json!({ "type": "object", "properties": { "city": { "type": "string" } } }));
    ("[a-z]{1,8}", prop::option::of(words()), schema, prop::option::of(any::<bool>()), marker()).prop_map(
        |(name, description, schema, strict, cache_control)| Tool {
            name,
            description,
            parameters: Some(schema),
            strict,
            cache_control,
        },
    )
}

/// A request that the messages wire can say.
pub(crate) fn messages_request() -> impl Strategy<Value = Request> {
    let system = prop::option::of(prop::collection::vec(text_part(), 1..3));
    let tools = (prop::collection::vec(tool(), 0..3), 0..5usize, prop::option::of(any::<bool>()));
    let sampling = (
        prop::option::of(0..=100u8),
        prop::option::of(1..50u64),
        prop::collection::vec(words(), 0..3),
        1..90_000u64,
    );
    let reasoning = prop_oneof![
        Just(None),
        Just(Some((Some(Effort::None), None))),
        (1024..50_000u64).prop_map(|tokens| Some((None, Some(tokens)))),
    ];
    let format = prop_oneof![Just(false), Just(true)];
    let rest = (any::<bool>(), prop::option::of(words()), any::<bool>());
    (system, turns(), tools, sampling, reasoning, format, rest).prop_map(
        |(
            system,
            turns,
            (tools, choice, parallel),
            (temperature, top_k, stop, max),
            reasoning,
            format,
            rest,
        )| {
            let mut request = Request::new(Wire::Messages, "claude-sonnet-4-20250514");
            request.messages.extend(system.map(|parts| Message { role: Role::System, parts }));
            request.messages.extend(turns);
            request.tool_choice = match (choice, tools.first()) {
                (_, None) | (0, _) => None,
                (1, _) => Some(ToolChoice::Auto),
                (2, _) => Some(ToolChoice::Required),
                (3, _) => Some(ToolChoice::None),
                (_, Some(tool)) => Some(ToolChoice::Tool(tool.name.clone())),
            };
            if !matches!(request.tool_choice, None | Some(ToolChoice::None)) {
                request.parallel_tool_calls = parallel;
            }
            request.tools = tools;
            let thinks = reasoning.is_some_and(|(_, tokens)| tokens.is_some());
            request.sampling = Sampling {
                temperature: temperature.filter(|_| !thinks).map(|percent| f64::from(percent) / 100.0),
                top_k: top_k.filter(|_| !thinks),
                stop,
                max_tokens: Some(max),
                ..Sampling::default()
            };
            request.reasoning =
                reasoning.map(|(effort, budget_tokens)| Reasoning { effort, budget_tokens, summary: None });
            if format {
                request.format = Format::Schema {
                    name: "response".into(),
                    description: None,
                    schema: json!({ "type": "object", "properties": {}, "additionalProperties": false }),
                    strict: Some(true),
                };
            }
            let (stream, user, tier) = rest;
            (request.stream, request.include_usage, request.user) = (stream, stream, user);
            if tier {
                request.extra = Map::from_iter([("service_tier".to_owned(), json!("auto"))]);
            }
            request
        },
    )
}

/// A picture that every wire can show.
fn picture() -> impl Strategy<Value = Part> {
    let source = prop_oneof![
        "https://[a-z]{3}\\.test/[a-z]{3}".prop_map(|url| ImageSource::Url { url }),
        "[A-Za-z0-9]{8}".prop_map(|data| ImageSource::Base64 { media_type: "image/png".into(), data }),
    ];
    source.prop_map(|source| Part::Image { source, detail: None })
}

/// What somebody says, with a picture to it or without.
fn question() -> impl Strategy<Value = Vec<Part>> {
    (words(), prop::option::of(picture()))
        .prop_map(|(text, picture)| [Part::text(text)].into_iter().chain(picture).collect())
}

/// A request that every wire can say: instructions, words, pictures, calls and their results.
pub(crate) fn common_request() -> impl Strategy<Value = Request> {
    let exchange = (question(), prop::option::of(words()), prop::collection::vec((call(), words()), 0..3));
    let tools = prop::collection::btree_map("[a-z]{1,8}", prop::option::of(words()), 1..3);
    let rest = (any::<bool>(), any::<bool>(), prop::option::of(words()), 0..=100u8, 1..9000u64, 0..5usize);
    let dialogue = (prop::option::of(words()), prop::collection::vec(exchange, 0..3), question());
    (dialogue, tools, rest).prop_map(|((system, exchanges, last), tools, rest)| {
        let mut request = Request::new(Wire::Chat, "model");
        let mut say = |role, parts: Vec<Part>| request.messages.push(Message { role, parts });
        system.into_iter().for_each(|text| say(Role::System, vec![Part::text(text)]));
        for (question, answer, calls) in exchanges {
            say(Role::User, question);
            let (calls, results): (Vec<_>, Vec<_>) = calls.into_iter().unzip();
            let result = |(call, text): (&ToolCall, String)| {
                Part::ToolResult(ToolResult { call: call.id.clone(), content: vec![Part::text(text)], failed: false })
            };
            let results: Vec<Part> = calls.iter().zip(results).map(result).collect();
            let text = answer.or_else(|| calls.is_empty().then(|| "Yes.".to_owned()));
            let answer = text.map(Part::text).into_iter().chain(calls.into_iter().map(Part::ToolCall));
            say(Role::Assistant, answer.collect());
            if !results.is_empty() {
                say(Role::User, results);
                say(Role::Assistant, vec![Part::text("So it is.")]);
            }
        }
        say(Role::User, last);
        let schema = json!({ "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"],
            "additionalProperties": false });
        let tool = |(name, description): (String, Option<String>)| Tool {
            name,
            description,
            parameters: Some(schema.clone()),
            strict: Some(true),
            cache_control: None,
        };
        request.tools = tools.into_iter().map(tool).collect();
        let (stream, format, user, percent, max_tokens, choice) = rest;
        request.tool_choice = match choice {
            0 => None,
            1 => Some(ToolChoice::Auto),
            2 => Some(ToolChoice::Required),
            3 => Some(ToolChoice::None),
            _ => request.tools.first().map(|tool| ToolChoice::Tool(tool.name.clone())),
        };
        if format {
            let (name, description) = ("response".to_owned(), None);
            request.format = Format::Schema { name, description, schema, strict: Some(true) };
        }
        (request.stream, request.user) = (stream, user);
        request.sampling.temperature = Some(f64::from(percent) / 100.0);
        request.sampling.max_tokens = Some(max_tokens);
        request
    })
}

/// Any JSON.
pub(crate) fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z_]{0,8}", inner, 0..4).prop_map(|members| json!(members)),
        ]
    })
}

/// Cuts one of the pieces in two, as a vendor might; what cannot be cut stays whole.
pub(crate) fn cut(deltas: &mut Vec<Delta>, at: prop::sample::Index) {
    let nth = at.index(deltas.len());
    let Delta::Piece { choice, piece } = deltas[nth].clone() else { return };
    let halves = |text: &str| {
        let middle = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(index, _)| index);
        let (head, tail) = text.split_at(middle);
        (!head.is_empty()).then(|| (head.to_owned(), tail.to_owned()))
    };
    let halves = match &piece {
        Piece::Text(text) => halves(text).map(|(head, tail)| (Piece::Text(head), Piece::Text(tail))),
        Piece::Arguments { index, json } => {
            let piece = |json| Piece::Arguments { index: *index, json };
            halves(json).map(|(head, tail)| (piece(head), piece(tail)))
        }
        _ => None,
    };
    let Some((head, tail)) = halves else { return };
    deltas[nth] = Delta::Piece { choice, piece: head };
    deltas.insert(nth + 1, Delta::Piece { choice, piece: tail });
}

/// How many values there are in a value, itself included.
pub(crate) fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(members) => members.values().map(count).sum(),
        _ => 0,
    }
}

/// Puts `new` in the place of the `nth` value within.
pub(crate) fn replace(value: &mut Value, nth: &mut usize, new: &Value) {
    if *nth == 0 {
        value.clone_from(new);
        *nth = usize::MAX;
        return;
    }
    *nth -= 1;
    let children: Vec<&mut Value> = match value {
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(members) => members.values_mut().collect(),
        _ => return,
    };
    for child in children {
        if *nth == usize::MAX {
            return;
        }
        replace(child, nth, new);
    }
}
