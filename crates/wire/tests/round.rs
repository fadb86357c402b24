//! What is written on a wire and read from it is the same, where the wire can say it; and nothing that is sent makes a
//! reader fall over.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

use proptest::prelude::*;
use schema::Usage;
use serde_json::{Value, json};
use wire::{
    Answer, Choice, Delta, Effort, Format, Gather, ImageSource, Message, Part, Reasoning, Request, Role,
    Sampling, Stamp, Stop, Tool, ToolCall, ToolChoice, ToolResult, Wire, sse,
};

const OPENAI: [Wire; 2] = [Wire::Chat, Wire::Responses];

fn text() -> impl Strategy<Value = Part> {
    "[a-zé \n\"]{1,20}".prop_map(Part::text)
}

fn word() -> impl Strategy<Value = String> {
    "[a-z]{1,8}"
}

fn source() -> impl Strategy<Value = ImageSource> {
    prop_oneof![
        word().prop_map(|name| ImageSource::Url { url: format!("https://example.com/{name}") }),
        word().prop_map(|data| ImageSource::Base64 { media_type: "image/png".to_owned(), data }),
    ]
}

fn said_by_user() -> impl Strategy<Value = Part> {
    prop_oneof![
        3 => text(),
        1 => (source(), prop::option::of(Just("high".to_owned())))
            .prop_map(|(source, detail)| Part::Image { source, detail }),
        1 => (word(), prop::option::of(word())).prop_map(|(data, name)| {
            let source = ImageSource::Base64 { media_type: "application/pdf".to_owned(), data };
            Part::File { source, name }
        }),
    ]
}

fn call() -> impl Strategy<Value = Part> {
    (word(), word(), "[{}\":a-z0-9]{0,12}")
        .prop_map(|(id, name, arguments)| Part::ToolCall(ToolCall { id, name, arguments }))
}

fn thought(wire: Wire) -> impl Strategy<Value = Part> {
    let seal = word().prop_map(move |sealed| (wire == Wire::Responses).then(|| format!("rs_1.{sealed}")));
    (word(), seal).prop_map(|(text, signature)| Part::Thinking { text, signature })
}

/// A message in the order in which the wire has its parts.
fn message(wire: Wire) -> impl Strategy<Value = Message> {
    let result = (word(), prop::collection::vec(text(), 1..3))
        .prop_map(|(call, content)| Part::ToolResult(ToolResult { call, content, failed: false }));
    let assistant = (
        prop::option::of(thought(wire)),
        prop::collection::vec(text(), 0..3),
        prop::collection::vec(call(), 0..3),
    )
        .prop_filter("says something", |(_, texts, calls)| !texts.is_empty() || !calls.is_empty())
        .prop_map(|(thought, texts, calls)| thought.into_iter().chain(texts).chain(calls).collect());
    let of = |role| move |parts| Message { role, parts };
    prop_oneof![
        prop::collection::vec(text(), 1..3).prop_map(of(Role::System)),
        prop::collection::vec(said_by_user(), 1..4).prop_map(of(Role::User)),
        result.prop_map(|result| Message { role: Role::User, parts: vec![result] }),
        assistant.prop_map(of(Role::Assistant)),
    ]
}

/// What the responses wire says in several items in a row is one message.
fn joined(messages: Vec<Message>) -> Vec<Message> {
    let mut joined: Vec<Message> = Vec::new();
    let results = |message: &Message| message.parts.iter().all(|part| matches!(part, Part::ToolResult(_)));
    for message in messages {
        match joined.last_mut() {
            Some(last)
                if last.role == message.role
                    && (last.role == Role::Assistant || (results(last) && results(&message))) =>
            {
                last.parts.extend(message.parts);
            }
            _ => joined.push(message),
        }
    }
    joined
}

fn tool() -> impl Strategy<Value = Tool> {
    let parameters = Just(json!({ "type": "object", "properties": { "n": { "type": "integer" } } }));
    (word(), prop::option::of(word()), parameters, prop::option::of(any::<bool>())).prop_map(
        |(name, description, parameters, strict)| Tool {
            name,
            description,
            parameters: Some(parameters),
            strict,
            cache_control: None,
        },
    )
}

fn sampling(wire: Wire) -> impl Strategy<Value = Sampling> {
    let chat = (
        prop::option::of(-2.0..2.0_f64),
        prop::option::of(any::<i64>()),
        prop::collection::vec(word(), 0..4),
        prop::option::of(1..100_u64),
    );
    let both = (
        prop::option::of(0.0..2.0_f64),
        prop::option::of(0.0..1.0_f64),
        prop::option::of(1..10_000_u64),
        any::<bool>(),
        prop::option::of(0..20_u64),
    );
    (chat, both).prop_map(
        move |((penalty, seed, stop, top_k), (temperature, top_p, max_tokens, logprobs, top))| {
            let both = Sampling {
                temperature,
                top_p,
                max_tokens,
                logprobs,
                top_logprobs: top,
                ..Sampling::default()
            };
            match wire {
                Wire::Chat => Sampling {
                    presence_penalty: penalty,
                    frequency_penalty: penalty.map(|penalty| -penalty),
                    seed,
                    stop,
                    top_k,
                    ..both
                },
                _ => both,
            }
        },
    )
}

fn format() -> impl Strategy<Value = Format> {
    prop_oneof![
        Just(Format::Text),
        Just(Format::Json),
        (word(), prop::option::of(word()), prop::option::of(any::<bool>())).prop_map(
            |(name, description, strict)| Format::Schema {
                name,
                description,
                schema: json!({ "type": "object" }),
                strict,
            }
        ),
    ]
}

fn request(wire: Wire) -> impl Strategy<Value = Request> {
    let controls = (
        prop::option::of(any::<bool>()),
        prop::option::of(prop::sample::select(vec![Effort::None, Effort::Low, Effort::Xhigh])),
        any::<bool>(),
        1..3_u32,
        prop::option::of(word()),
        prop::option::of(Just(json!({ "team": "blue" }))),
    );
    let tools = (prop::collection::vec(tool(), 0..3), any::<prop::sample::Index>(), 0..5_u8);
    (
        prop::sample::select(vec!["gpt-4o", "gpt-5-mini", "o3", "vendor/o1", "llama3"]),
        prop::collection::vec(message(wire), 1..6),
        tools,
        sampling(wire),
        format(),
        controls,
    )
        .prop_map(move |(model, messages, (tools, index, choice), sampling, format, controls)| {
            let (parallel, effort, stream, choices, user, metadata) = controls;
            let mut request = Request::new(wire, model);
            request.messages = if wire == Wire::Responses { joined(messages) } else { messages };
            request.tool_choice = match choice {
                _ if tools.is_empty() => None,
                0 => None,
                1 => Some(ToolChoice::Auto),
                2 => Some(ToolChoice::None),
                3 => Some(ToolChoice::Required),
                _ => Some(ToolChoice::Tool(index.get(&tools).name.clone())),
            };
            request.parallel_tool_calls = parallel.filter(|_| !tools.is_empty());
            request.tools = tools;
            request.sampling = sampling;
            request.format = format;
            request.reasoning =
                effort.map(|effort| Reasoning { effort: Some(effort), budget_tokens: None, summary: None });
            request.stream = stream;
            request.include_usage = wire == Wire::Responses || stream;
            request.choices = if wire == Wire::Chat { choices } else { 1 };
            request.user = user;
            request.extra.extend(metadata.map(|metadata| ("metadata".to_owned(), metadata)));
            request
        })
}

fn stop() -> impl Strategy<Value = Option<Stop>> {
    prop::option::of(prop::sample::select(vec![Stop::End, Stop::Length, Stop::ToolCalls, Stop::Filtered]))
}

fn usage() -> impl Strategy<Value = Usage> {
    (0..1000_u64, 0..1000_u64, 0..1000_u64, 0..1000_u64).prop_map(|(cached, rest, thoughts, said)| Usage {
        input_tokens: cached + rest,
        output_tokens: thoughts + said,
        cache_read_tokens: cached,
        cache_write_tokens: 0,
        cache_write_long_tokens: 0,
        reasoning_tokens: thoughts,
    })
}

/// An answer as a model gives it: nothing of one kind twice in a row but calls.
fn answer() -> impl Strategy<Value = Answer> {
    let spoken = ("[a-zé \n]{1,60}").prop_map(Part::text);
    let refusal = word().prop_map(|text| Part::Refusal { text });
    let thought = (word(), prop::option::of(word())).prop_map(|(text, seal)| {
        let signature = seal.map(|seal| format!("rs_1_0.{seal}"));
        Part::Thinking { text, signature }
    });
    let choice = (
        prop::option::of(thought),
        prop::option::of(spoken),
        prop::option::of(refusal),
        prop::collection::vec(call(), 0..3),
        stop(),
    )
        .prop_map(|(thought, spoken, refusal, calls, stop)| Choice {
            parts: thought.into_iter().chain(spoken).chain(refusal).chain(calls).collect(),
            stop,
            logprobs: None,
        });
    let choice = choice
        .prop_filter("says or ends something", |choice| !choice.parts.is_empty() || choice.stop.is_some());
    (prop::collection::vec(choice, 1..3), prop::option::of(usage())).prop_map(|(choices, usage)| Answer {
        id: Some("answer-1".to_owned()),
        model: "m".to_owned(),
        choices,
        usage,
    })
}

fn gathered(deltas: &[Delta]) -> Answer {
    let mut gather = Gather::default();
    deltas.iter().for_each(|delta| gather.take(delta));
    gather.into_answer()
}

/// As the wire says it: a stop at calls is told by the calls, and some of what one answer can hold is not said.
fn as_said(mut answer: Answer, wire: Wire) -> Answer {
    for choice in &mut answer.choices {
        let called = choice.parts.iter().any(|part| matches!(part, Part::ToolCall(_)));
        if wire == Wire::Chat {
            for part in &mut choice.parts {
                if let Part::Thinking { signature, .. } = part {
                    *signature = None;
                }
            }
        }
        choice.stop = match choice.stop.take() {
            Some(Stop::End) if called => Some(Stop::ToolCalls),
            Some(Stop::ToolCalls) if !called && wire == Wire::Responses => Some(Stop::End),
            // On this wire an answer without a reason is one that is not complete.
            None if wire == Wire::Responses => Some(Stop::Length),
            stop => stop,
        };
    }
    answer
}

proptest! {
    #[test]
    fn a_request_written_to_its_own_wire_reads_the_same(
        (wire, request) in prop_oneof![
            request(Wire::Chat).prop_map(|request| (Wire::Chat, request)),
            request(Wire::Responses).prop_map(|request| (Wire::Responses, request)),
        ],
    ) {
        let translated = wire.write_request(&request).unwrap();
        prop_assert_eq!(&translated.left_out, &Vec::<String>::new());
        prop_assert_eq!(wire.read_request(&translated.body).unwrap(), request);
    }

    #[test]
    fn a_request_is_sendable_on_the_other_wire_or_refused_by_name(
        request in prop_oneof![request(Wire::Chat), request(Wire::Responses)],
    ) {
        for wire in OPENAI {
            match wire.write_request(&request) {
                // What we send is a request that we would take.
                Ok(translated) => prop_assert!(wire.read_request(&translated.body).is_ok(), "{}", translated.body),
                Err(refused) => prop_assert!(["n", "stop"].contains(&refused.param.as_str()), "{refused}"),
            }
        }
    }

    #[test]
    fn an_answer_told_again_as_a_stream_is_the_same_answer(answer in answer()) {
        prop_assert_eq!(gathered(&answer.deltas()), answer);
    }

    #[test]
    fn an_answer_is_the_same_written_whole_or_as_a_stream(answer in answer()) {
        for wire in OPENAI {
            let mut answer = answer.clone();
            if wire == Wire::Responses {
                answer.choices.truncate(1);
            }
            let stamp = Stamp { id: "1".to_owned(), created: 1, model: "m".to_owned(), ..Stamp::default() };
            let whole = wire.read_answer(&wire.write_answer(&answer, &stamp)).unwrap();
            let (mut writer, mut bytes) = (wire.writer(&stamp, true), Vec::new());
            answer.deltas().iter().for_each(|delta| writer.write(delta, &mut bytes));
            let mut decoder = sse::Decoder::default();
            decoder.feed(&bytes);
            let (mut reader, mut heard) = (wire.reader(), Vec::new());
            while let Some(frame) = decoder.next().unwrap() {
                reader.read(&frame.event.unwrap(), &mut heard).unwrap();
            }
            prop_assert_eq!(heard.last(), Some(&Delta::End));
            let streamed = gathered(&heard);
            prop_assert_eq!(&streamed, &whole);
            let said = as_said(answer, wire);
            prop_assert_eq!(&whole.choices, &said.choices);
            prop_assert_eq!(whole.usage, said.usage);
        }
    }

    #[test]
    fn no_json_makes_a_reader_fall_over(value in nonsense(), place in any::<prop::sample::Index>(), seed in 0..4_usize) {
        let mut body = seeds().swap_remove(seed);
        let mut paths = Vec::new();
        paths_of(&body, String::new(), &mut paths);
        *body.pointer_mut(place.get::<String>(&paths).as_str()).unwrap() = value;
        let text = body.to_string();
        for wire in Wire::ALL {
            if let Ok(request) = wire.read_request(&body) {
                for to in Wire::ALL {
                    let _ = to.write_request(&request);
                    let _ = to.echo(&request);
                }
            }
            if let Ok(answer) = wire.read_answer(&body) {
                for to in Wire::ALL {
                    let _ = to.write_answer(&answer, &Stamp::default());
                }
            }
            let (mut reader, mut deltas) = (wire.reader(), Vec::new());
            for name in [None, Some("error"), body.get("type").and_then(Value::as_str)] {
                let _ = reader.read(&sse::Event { name, data: &text }, &mut deltas);
            }
            reader.close(&mut deltas);
            for to in Wire::ALL {
                let (mut writer, mut out) = (to.writer(&Stamp::default(), true), Vec::new());
                deltas.iter().for_each(|delta| writer.write(delta, &mut out));
            }
        }
    }
}

fn nonsense() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(vec![
            "",
            "text",
            "function",
            "tool",
            "assistant",
            "data:",
            "é",
            "function_call"
        ])
        .prop_map(Value::from),
    ];
    let names = prop::sample::select(vec![
        "type", "text", "role", "content", "id", "index", "function", "name", "url",
    ]);
    leaf.prop_recursive(3, 12, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((names.clone(), inner), 0..4).prop_map(|members| {
                Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
            }),
        ]
    })
}

/// Bodies that reach far into the readers, to be spoiled in one place.
fn seeds() -> Vec<Value> {
    let case = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    vec![
        case(include_str!("golden/cases/chat-request-full.json"))["request"].take(),
        case(include_str!("golden/cases/responses-request-full.json"))["request"].take(),
        case(include_str!("golden/cases/chat-stream-calls.json"))["stream"][4].take(),
        case(include_str!("golden/cases/responses-stream-calls.json"))["stream"][9]["data"].take(),
    ]
}

fn paths_of(value: &Value, path: String, paths: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, item)| paths_of(item, format!("{path}/{index}"), paths));
        }
        Value::Object(members) => {
            members.iter().for_each(|(name, value)| paths_of(value, format!("{path}/{name}"), paths));
        }
        _ => {}
    }
    paths.push(path);
}
