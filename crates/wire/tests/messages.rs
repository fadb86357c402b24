//! The Anthropic messages wire: what it takes, what it refuses, and that nothing is lost on the way through it.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod any;

use any::{deltas, events, gathered, stamp, streamed, written};
use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::{Value, json};
use wire::{
    Delta, Effort, Format, ImageSource, Message, Part, Piece, Reasoning, Request, Role, Stop, Tool, ToolCall,
    ToolChoice, ToolResult, Wire,
};

const MESSAGES: Wire = Wire::Messages;

fn plain() -> Value {
    json!({ "model": "claude-sonnet-4-20250514", "max_tokens": 100, "messages": [{ "role": "user", "content": "hi" }] })
}

/// The plain request with this instead of its own.
fn with(fields: &Value) -> Value {
    let mut body = plain();
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    body
}

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "a value reads better where it is written")]
fn refused(fields: Value, expected: &Expect) {
    let refused = MESSAGES.read_request(&with(&fields)).unwrap_err();
    assert!(refused.message.starts_with(&refused.param));
    expected.assert_eq(&refused.message);
}

#[test]
fn what_is_malformed_is_refused_by_its_field() {
    refused(json!({ "model": null }), &expect!["model: is required: expected the name of a model"]);
    refused(
        json!({ "model": "" }),
        &expect![[r#"model: expected a string of 1 to 512 characters, found """#]],
    );
    refused(json!({ "max_tokens": null }), &expect!["max_tokens: is required: expected an integer"]);
    refused(
        json!({ "max_tokens": "100" }),
        &expect![[r#"max_tokens: expected an integer of at least 0, found "100""#]],
    );
    refused(json!({ "max_tokens": -1 }), &expect!["max_tokens: expected an integer of at least 0, found -1"]);
    refused(
        json!({ "max_tokens": 1.5 }),
        &expect!["max_tokens: expected an integer of at least 0, found 1.5"],
    );
    refused(json!({ "stream": "true" }), &expect![[r#"stream: expected true or false, found "true""#]]);
    refused(json!({ "stream": 1 }), &expect!["stream: expected true or false, found 1"]);
    refused(json!({ "temperature": 1.1 }), &expect!["temperature: expected a number from 0 to 1, found 1.1"]);
    refused(
        json!({ "temperature": "hot" }),
        &expect![[r#"temperature: expected a number from 0 to 1, found "hot""#]],
    );
    refused(json!({ "top_p": -0.1 }), &expect!["top_p: expected a number from 0 to 1, found -0.1"]);
    refused(json!({ "top_k": 1.5 }), &expect!["top_k: expected an integer of at least 0, found 1.5"]);
    refused(
        json!({ "stop_sequences": "stop" }),
        &expect![[r#"stop_sequences: expected a list, found "stop""#]],
    );
    refused(json!({ "stop_sequences": [1] }), &expect!["stop_sequences[0]: expected a string, found 1"]);
    refused(json!({ "metadata": "me" }), &expect![[r#"metadata: expected an object, found "me""#]]);
    refused(
        json!({ "metadata": { "user_id": 1 } }),
        &expect!["metadata.user_id: expected a string, found 1"],
    );
    refused(json!({ "system": 1 }), &expect!["system: expected a string or a list of text blocks, found 1"]);
    refused(
        json!({ "system": [{ "type": "image", "source": { "type": "url", "url": "https://a.test" } }] }),
        &expect!["system[0]: expected a text block"],
    );
}

#[test]
fn malformed_messages_are_refused_by_their_field() {
    let message = |message: Value| json!({ "messages": [message] });
    refused(json!({ "messages": null }), &expect!["messages: is required: expected a list of messages"]);
    refused(json!({ "messages": [] }), &expect!["messages: expected at least one message"]);
    refused(json!({ "messages": {} }), &expect!["messages: expected a list, found an object"]);
    refused(message(json!("hi")), &expect![[r#"messages[0]: expected an object, found "hi""#]]);
    refused(
        message(json!({ "role": "robot", "content": "hi" })),
        &expect![[r#"messages[0].role: expected `user` or `assistant`, found "robot""#]],
    );
    refused(
        message(json!({ "content": "hi" })),
        &expect!["messages[0].role: is required: expected `user` or `assistant`"],
    );
    refused(
        message(json!({ "role": "user" })),
        &expect!["messages[0].content: is required: expected a string or a list of blocks"],
    );
    refused(
        message(json!({ "role": "user", "content": 1 })),
        &expect!["messages[0].content: expected a string or a list of blocks, found 1"],
    );
    let block = |role: &str, block: Value| message(json!({ "role": role, "content": [block] }));
    refused(
        block("user", json!({ "text": "hi" })),
        &expect!["messages[0].content[0].type: is required: expected the type of the block"],
    );
    refused(
        block("user", json!({ "type": "text" })),
        &expect!["messages[0].content[0].text: is required: expected a string"],
    );
    refused(
        block("user", json!({ "type": "image", "source": { "type": "base64", "data": "AA==" } })),
        &expect!["messages[0].content[0].source.media_type: is required: expected a media type"],
    );
    refused(
        block("assistant", json!({ "type": "tool_use", "id": "a", "name": "b", "input": "{}" })),
        &expect![[r#"messages[0].content[0].input: expected an object, found "{}""#]],
    );
    refused(
        block("user", json!({ "type": "tool_use", "id": "a", "name": "b", "input": {} })),
        &expect!["messages[0].content[0]: a message of this role has no such block"],
    );
    refused(
        block("assistant", json!({ "type": "tool_result", "tool_use_id": "a" })),
        &expect!["messages[0].content[0]: a message of this role has no such block"],
    );
    refused(
        block("user", json!({ "type": "tool_result", "tool_use_id": "a", "is_error": "yes" })),
        &expect![[r#"messages[0].content[0].is_error: expected true or false, found "yes""#]],
    );
    refused(
        block(
            "user",
            json!({ "type": "tool_result", "tool_use_id": "a", "content": [{ "type": "tool_use" }] }),
        ),
        &expect!["messages[0].content[0].content[0].type: a result has no such block"],
    );
    refused(
        block("assistant", json!({ "type": "thinking", "thinking": "hm" })),
        &expect!["messages[0].content[0].signature: is required: expected a string"],
    );
}

#[test]
fn malformed_tools_and_controls_are_refused_by_their_field() {
    let tool = |tool: Value| json!({ "tools": [tool] });
    refused(json!({ "tools": {} }), &expect!["tools: expected a list, found an object"]);
    refused(
        tool(json!({ "input_schema": {} })),
        &expect!["tools[0].name: is required: expected the name of the tool"],
    );
    refused(
        tool(json!({ "name": "a b", "input_schema": {} })),
        &expect![[r#"tools[0].name: expected 1 to 128 letters, digits, `_` or `-`, found "a b""#]],
    );
    refused(
        tool(json!({ "name": "a" })),
        &expect!["tools[0].input_schema: is required: expected a JSON Schema"],
    );
    refused(
        tool(json!({ "name": "a", "input_schema": true })),
        &expect!["tools[0].input_schema: expected an object, found true"],
    );
    refused(tool(json!({ "type": 1 })), &expect!["tools[0].type: expected a string, found 1"]);
    refused(
        json!({ "tool_choice": "auto" }),
        &expect!["tool_choice.type: is required: expected `auto`, `any`, `tool` or `none`"],
    );
    refused(
        json!({ "tool_choice": { "type": "required" } }),
        &expect![[r#"tool_choice.type: expected `auto`, `any`, `tool` or `none`, found "required""#]],
    );
    refused(
        json!({ "tool_choice": { "type": "tool", "name": "a" } }),
        &expect!["tool_choice.name: expected the name of one of the tools"],
    );
    refused(
        json!({ "tool_choice": { "type": "auto", "disable_parallel_tool_use": "no" } }),
        &expect![[r#"tool_choice.disable_parallel_tool_use: expected true or false, found "no""#]],
    );
    refused(
        json!({ "thinking": { "type": "enabled" } }),
        &expect!["thinking.budget_tokens: is required: expected an integer of at least 1024"],
    );
    refused(
        json!({ "thinking": { "type": "enabled", "budget_tokens": 10 } }),
        &expect!["thinking.budget_tokens: expected an integer of at least 1024, found 10"],
    );
    refused(
        json!({ "thinking": { "type": "yes" } }),
        &expect![[
            r#"thinking.type: expected `enabled`, `disabled`, `adaptive` or `between_tools`, found "yes""#
        ]],
    );
    refused(
        json!({ "output_config": { "effort": "huge" } }),
        &expect![[
            r#"output_config.effort: expected `low`, `medium`, `high`, `xhigh` or `max`, found "huge""#
        ]],
    );
    refused(
        json!({ "output_config": { "format": { "type": "json" } } }),
        &expect![[r#"output_config.format.type: expected `json_schema`, found "json""#]],
    );
    refused(
        json!({ "output_config": { "format": { "type": "json_schema" } } }),
        &expect!["output_config.format.schema: is required: expected a JSON Schema"],
    );
}

#[test]
fn a_tool_of_a_server_may_be_chosen_by_its_name() {
    let choice = json!({ "type": "tool", "name": "search" });
    let tools = json!([{ "type": "mcp_toolset", "mcp_server_name": "docs" }]);
    let request = MESSAGES.read_request(&with(&json!({ "tools": tools, "tool_choice": choice }))).unwrap();
    assert_eq!(request.tool_choice, Some(ToolChoice::Tool("search".into())));
    assert_eq!(request.extra["tools"], tools);
    assert_eq!(MESSAGES.write_request(&request).unwrap().body["tools"], tools);
}

#[test]
fn counting_needs_no_length_of_the_answer() {
    let mut body = plain();
    body.as_object_mut().unwrap().shift_remove("max_tokens");
    assert_eq!(wire::count::read(&body).unwrap().messages.len(), 1);
    body["messages"] = json!([]);
    assert_eq!(wire::count::read(&body).unwrap_err().param, "messages");
}

/// A request as the OpenAI wires give it.
fn asked(messages: Vec<Message>) -> Request {
    let mut request = Request::new(Wire::Chat, "claude-sonnet-4-20250514");
    request.messages = messages;
    request
}

fn says(role: Role, text: &str) -> Message {
    Message { role, parts: vec![Part::text(text)] }
}

#[track_caller]
fn check(request: &Request, expected: &Expect) {
    let translated = MESSAGES.write_request(request).unwrap();
    let mut told = serde_json::to_string_pretty(&translated.body).unwrap();
    if !translated.left_out.is_empty() {
        told.push_str(&format!("\nleft out: {}", translated.left_out.join(", ")));
    }
    expected.assert_eq(&told);
}

#[test]
fn instructions_come_first_and_roles_alternate() {
    let request = asked(vec![
        says(Role::System, "Be brief."),
        says(Role::User, "One."),
        says(Role::User, "Two."),
        says(Role::Assistant, ""),
        says(Role::System, "Now in French."),
        says(Role::User, "Three."),
    ]);
    check(
        &request,
        &expect![[r#"
            {
              "model": "claude-sonnet-4-20250514",
              "max_tokens": 16384,
              "system": [
                {
                  "type": "text",
                  "text": "Be brief."
                },
                {
                  "type": "text",
                  "text": "Now in French."
                }
              ],
              "messages": [
                {
                  "role": "user",
                  "content": [
                    {
                      "type": "text",
                      "text": "One."
                    },
                    {
                      "type": "text",
                      "text": "Two."
                    },
                    {
                      "type": "text",
                      "text": "Three."
                    }
                  ]
                }
              ]
            }"#]],
    );
}

fn call(id: &str, arguments: &str) -> Part {
    Part::ToolCall(ToolCall { id: id.into(), name: "weather".into(), arguments: arguments.into() })
}

fn result(call: &str, text: &str) -> Message {
    let content = if text.is_empty() { Vec::new() } else { vec![Part::text(text)] };
    let result = ToolResult { call: call.into(), content, failed: false };
    Message { role: Role::User, parts: vec![Part::ToolResult(result)] }
}

#[test]
fn what_tools_gave_is_one_message_right_after_the_calls() {
    let calls = vec![call("a.1:x", r#"{"city":"Oslo"}"#), call("b", "")];
    let request = asked(vec![
        says(Role::User, "Weather?"),
        Message { role: Role::Assistant, parts: calls },
        says(Role::User, "And hurry."),
        result("a.1:x", "rain"),
        result("b", ""),
    ]);
    check(
        &request,
        &expect![[r#"
            {
              "model": "claude-sonnet-4-20250514",
              "max_tokens": 16384,
              "messages": [
                {
                  "role": "user",
                  "content": "Weather?"
                },
                {
                  "role": "assistant",
                  "content": [
                    {
                      "type": "tool_use",
                      "id": "a_1_x",
                      "name": "weather",
                      "input": {
                        "city": "Oslo"
                      }
                    },
                    {
                      "type": "tool_use",
                      "id": "b",
                      "name": "weather",
                      "input": {}
                    }
                  ]
                },
                {
                  "role": "user",
                  "content": [
                    {
                      "type": "tool_result",
                      "tool_use_id": "a_1_x",
                      "content": "rain"
                    },
                    {
                      "type": "tool_result",
                      "tool_use_id": "b"
                    },
                    {
                      "type": "text",
                      "text": "And hurry."
                    }
                  ]
                }
              ]
            }"#]],
    );
}

fn weather() -> Tool {
    let parameters = Some(json!({ "type": "object", "properties": {} }));
    Tool { name: "weather".into(), description: None, parameters, strict: None, cache_control: None }
}

#[test]
fn hints_that_the_wire_has_no_word_for_are_named() {
    let mut request = asked(vec![says(Role::User, "hi")]);
    request.sampling.temperature = Some(1.5);
    request.sampling.top_p = Some(0.5);
    request.sampling.seed = Some(7);
    request.sampling.presence_penalty = Some(0.0);
    request.sampling.frequency_penalty = Some(0.5);
    request.sampling.stop = vec!["END".into()];
    request.user = Some("ann".into());
    request.format = Format::Json;
    request.extra.insert("store".into(), json!(true));
    check(
        &request,
        &expect![[r#"
            {
              "model": "claude-sonnet-4-20250514",
              "max_tokens": 16384,
              "system": "Answer with one JSON object and nothing else.",
              "messages": [
                {
                  "role": "user",
                  "content": "hi"
                }
              ],
              "temperature": 1.0,
              "top_p": 0.5,
              "stop_sequences": [
                "END"
              ],
              "metadata": {
                "user_id": "ann"
              }
            }
            left out: frequency_penalty, response_format, seed, store, temperature"#]],
    );
}

#[test]
fn what_would_change_the_answer_is_refused_by_name() {
    let refused = |change: fn(&mut Request)| {
        let mut request = asked(vec![says(Role::User, "hi")]);
        change(&mut request);
        MESSAGES.write_request(&request).unwrap_err().message
    };
    expect!["n: cannot be said to this model, which is reached by the messages wire"]
        .assert_eq(&refused(|request| request.choices = 2));
    expect!["logprobs: cannot be said to this model, which is reached by the messages wire"]
        .assert_eq(&refused(|request| request.sampling.logprobs = true));
    expect!["stop: this model cannot stop at a text of spaces alone"]
        .assert_eq(&refused(|request| request.sampling.stop = vec!["\n".into()]));
    expect!["audio: cannot be said to this model, which is reached by the messages wire"].assert_eq(
        &refused(|request| {
            request.extra.insert("audio".into(), json!({ "voice": "alto" }));
        }),
    );
    expect!["tools: cannot be said to this model, which is reached by the messages wire"].assert_eq(
        &refused(|request| {
            request.extra.insert("tools".into(), json!([{ "type": "web_search" }]));
        }),
    );
    expect!["messages: `input_audio` cannot be said to this model, which is reached by the messages wire"]
        .assert_eq(&refused(|request| {
            request.messages[0].parts = vec![Part::Foreign { value: json!({ "type": "input_audio" }) }];
        }));
    expect!["messages: a file by the id it has with another vendor cannot be said to this model, which is reached by the messages wire"].assert_eq(
        &refused(|request| {
            let source = ImageSource::FileId { id: "file-1".into() };
            request.messages[0].parts = vec![Part::File { source, name: None }];
        }),
    );
    expect!["messages[0].tool_calls: the arguments of the call `a` are not a JSON object"].assert_eq(
        &refused(|request| {
            request.messages[0] = Message { role: Role::Assistant, parts: vec![call("a", "{\"city")] };
        }),
    );
    expect!["messages: expected at least one message that says something"]
        .assert_eq(&refused(|request| request.messages = vec![says(Role::User, " ")]));
}

/// What is said of thinking, sampling and length to this model.
fn thinking(model: &str, change: impl FnOnce(&mut Request)) -> String {
    let mut request = asked(vec![says(Role::User, "hi")]);
    request.model = model.into();
    request.reasoning = Some(Reasoning { effort: Some(Effort::High), budget_tokens: None, summary: None });
    change(&mut request);
    let Ok(translated) = MESSAGES.write_request(&request) else { return "refused".into() };
    let mut body = translated.body;
    let body = body.as_object_mut().unwrap();
    body.retain(|name, _| !["model", "messages", "tools", "tool_choice"].contains(&name.as_str()));
    format!("{} left out: {:?}", json!(body), translated.left_out)
}

#[test]
fn thinking_is_said_as_each_generation_wants_it() {
    let nothing = |_: &mut Request| {};
    expect![[r#"{"max_tokens":32000,"thinking":{"type":"enabled","budget_tokens":20480}} left out: []"#]]
        .assert_eq(&thinking("claude-haiku-4-5", nothing));
    expect![[r#"{"max_tokens":32000,"thinking":{"type":"adaptive"},"output_config":{"effort":"high"}} left out: []"#]]
        .assert_eq(&thinking("claude-opus-4-6", nothing));
    expect![[r#"{"max_tokens":32000,"thinking":{"type":"adaptive"},"output_config":{"effort":"high"}} left out: []"#]]
        .assert_eq(&thinking("claude-sonnet-5", nothing));
    let none = |request: &mut Request| request.reasoning.as_mut().unwrap().effort = Some(Effort::None);
    expect![[r#"{"max_tokens":16384} left out: []"#]].assert_eq(&thinking("claude-haiku-4-5", none));
    expect![[r#"{"max_tokens":16384,"thinking":{"type":"disabled"}} left out: []"#]]
        .assert_eq(&thinking("claude-sonnet-5", none));
    expect![[r#"{"max_tokens":32000,"output_config":{"effort":"low"}} left out: ["reasoning_effort"]"#]]
        .assert_eq(&thinking("claude-opus-5-5", none));
}

#[test]
fn thinking_gives_way_to_what_it_does_not_go_with() {
    let haiku = "claude-haiku-4-5";
    // A temperature is not taken while the model thinks.
    let hot = |request: &mut Request| {
        (request.sampling.temperature, request.sampling.top_k) = (Some(0.2), Some(5));
        request.sampling.top_p = Some(0.97);
    };
    expect![[r#"{"max_tokens":32000,"top_p":0.97,"thinking":{"type":"enabled","budget_tokens":20480}} left out: ["temperature", "top_k"]"#]]
        .assert_eq(&thinking(haiku, hot));
    expect![[r#"{"max_tokens":32000,"thinking":{"type":"adaptive"},"output_config":{"effort":"high"}} left out: ["temperature", "top_k", "top_p"]"#]]
        .assert_eq(&thinking("claude-opus-5", hot));
    // There must be room for the answer.
    let short = |tokens| move |request: &mut Request| request.sampling.max_tokens = Some(tokens);
    expect![[r#"{"max_tokens":4000,"thinking":{"type":"enabled","budget_tokens":2000}} left out: []"#]]
        .assert_eq(&thinking(haiku, short(4000)));
    expect![[r#"{"max_tokens":1024} left out: ["reasoning_effort"]"#]]
        .assert_eq(&thinking(haiku, short(1024)));
    // A forced call is made without a thought.
    let forced = |request: &mut Request| {
        request.tools = vec![weather()];
        request.tool_choice = Some(ToolChoice::Required);
    };
    expect![[r#"{"max_tokens":16384} left out: ["reasoning_effort"]"#]].assert_eq(&thinking(haiku, forced));
    expect![[r#"{"max_tokens":32000,"output_config":{"effort":"high"}} left out: []"#]]
        .assert_eq(&thinking("claude-opus-4-6", forced));
    // A turn that began without a thought goes on without one.
    let midway = |request: &mut Request| {
        request.messages.push(Message { role: Role::Assistant, parts: vec![call("a", "{}")] });
        request.messages.push(result("a", "rain"));
    };
    expect![[r#"{"max_tokens":16384} left out: ["reasoning_effort"]"#]].assert_eq(&thinking(haiku, midway));
}

#[test]
fn documents_go_as_pdf_or_as_words() {
    let file = |media_type: &str, data: &str| {
        let source = ImageSource::Base64 { media_type: media_type.into(), data: data.into() };
        let part = Part::File { source, name: Some("a".into()) };
        let request = asked(vec![Message { role: Role::User, parts: vec![part] }]);
        match MESSAGES.write_request(&request) {
            Ok(translated) => translated.body["messages"][0]["content"][0].to_string(),
            Err(refused) => refused.message,
        }
    };
    expect![[r#"{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"},"title":"a"}"#]]
        .assert_eq(&file("application/pdf", "AAAA"));
    expect![[
        r#"{"type":"document","source":{"type":"text","media_type":"text/plain","data":"hi"},"title":"a"}"#
    ]]
    .assert_eq(&file("text/plain", "aGk="));
    expect!["messages: a document that is neither PDF nor plain text cannot be said to this model, which is reached by the messages wire"]
        .assert_eq(&file("application/msword", "AAAA"));
}

#[test]
fn thinking_signatures_and_cache_markers_come_through_unchanged() {
    let body = with(&json!({
        "system": [{ "type": "text", "text": "Rules.", "cache_control": { "type": "ephemeral", "ttl": "1h" } }],
        "tools": [{ "name": "weather", "input_schema": { "type": "object" }, "cache_control": { "type": "ephemeral" } }],
        "thinking": { "type": "enabled", "budget_tokens": 2000, "display": "omitted" },
        "context_management": { "edits": [{ "type": "clear_thinking_20251015" }] },
        "messages": [
            { "role": "user", "content": [{ "type": "text", "text": "Weather?", "cache_control": { "type": "ephemeral" } }] },
            { "role": "assistant", "content": [
                { "type": "thinking", "thinking": "Oslo, then.", "signature": "c2VhbA==" },
                { "type": "redacted_thinking", "data": "c2VjcmV0" },
                { "type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {} },
                { "type": "tool_use", "id": "toolu_1", "name": "weather", "input": { "city": "Oslo" } },
            ] },
            { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "toolu_1", "content": "rain" }] },
        ],
    }));
    let translated = MESSAGES.write_request(&MESSAGES.read_request(&body).unwrap()).unwrap();
    assert_eq!(translated.left_out, [""; 0]);
    // Order of members aside, which JSON does not have.
    assert_eq!(translated.body, body);
}

#[test]
fn markers_that_have_no_place_are_named() {
    let marked =
        json!({ "type": "tool_result", "tool_use_id": "a", "cache_control": { "type": "ephemeral" } });
    let body = with(&json!({ "messages": [{ "role": "user", "content": [marked] }] }));
    let request = MESSAGES.read_request(&body).unwrap();
    assert_eq!(request.left_out, ["messages.content.cache_control"]);
}

fn piece(piece: Piece) -> Delta {
    Delta::Piece { choice: 0, piece }
}

fn begin(index: u32, id: &str) -> Delta {
    piece(Piece::Call { index, id: id.into(), name: "tool".into() })
}

fn more(index: u32, json: &str) -> Delta {
    piece(Piece::Arguments { index, json: json.into() })
}

/// A stream in short: one line per event.
fn sketch(bytes: &[u8]) -> String {
    let line = |(name, data): (Option<String>, Value)| {
        assert_eq!(name.as_deref(), data["type"].as_str());
        let about = match data["type"].as_str().unwrap() {
            "content_block_start" => format!(" {} {}", data["index"], data["content_block"]),
            "content_block_delta" => format!(" {} {}", data["index"], data["delta"]),
            "content_block_stop" => format!(" {}", data["index"]),
            "message_delta" => format!(" {}", data["delta"]),
            "error" => format!(" {}", data["error"]),
            _ => String::new(),
        };
        format!("{}{about}\n", name.unwrap())
    };
    events(bytes).into_iter().map(line).collect()
}

#[test]
fn arguments_of_calls_that_interleave_reach_their_own_block_whole() {
    let stream = [
        piece(Piece::Text("Let me see.".into())),
        begin(0, "a"),
        more(0, "{\"city\":"),
        begin(1, "b"),
        more(1, "{\"x\""),
        more(0, "\"Oslo\"}"),
        more(1, ":1}"),
        Delta::Stop { choice: 0, stop: Stop::ToolCalls },
        Delta::End,
    ];
    expect![[r#"
        message_start
        content_block_start 0 {"type":"text","text":""}
        content_block_delta 0 {"type":"text_delta","text":"Let me see."}
        content_block_stop 0
        content_block_start 1 {"type":"tool_use","id":"a","name":"tool","input":{}}
        content_block_delta 1 {"type":"input_json_delta","partial_json":"{\"city\":"}
        content_block_delta 1 {"type":"input_json_delta","partial_json":"\"Oslo\"}"}
        content_block_stop 1
        content_block_start 2 {"type":"tool_use","id":"b","name":"tool","input":{}}
        content_block_delta 2 {"type":"input_json_delta","partial_json":"{\"x\""}
        content_block_delta 2 {"type":"input_json_delta","partial_json":":1}"}
        content_block_stop 2
        message_delta {"stop_reason":"tool_use","stop_sequence":null}
        message_stop
    "#]]
    .assert_eq(&sketch(&written(MESSAGES, &stream)));
}

#[test]
fn thoughts_are_sealed_in_their_own_block() {
    let stream = [
        piece(Piece::Thinking("Hm.".into())),
        piece(Piece::Signature("one".into())),
        piece(Piece::Thinking(String::new())),
        piece(Piece::Signature("two".into())),
        piece(Piece::RedactedThinking("secret".into())),
        piece(Piece::Text("Yes.".into())),
        Delta::Stop { choice: 0, stop: Stop::Sequence(Some("END".into())) },
        Delta::End,
    ];
    let bytes = written(MESSAGES, &stream);
    expect![[r#"
        message_start
        content_block_start 0 {"type":"thinking","thinking":"","signature":""}
        content_block_delta 0 {"type":"thinking_delta","thinking":"Hm."}
        content_block_delta 0 {"type":"signature_delta","signature":"one"}
        content_block_stop 0
        content_block_start 1 {"type":"thinking","thinking":"","signature":""}
        content_block_delta 1 {"type":"signature_delta","signature":"two"}
        content_block_stop 1
        content_block_start 2 {"type":"redacted_thinking","data":"secret"}
        content_block_stop 2
        content_block_start 3 {"type":"text","text":""}
        content_block_delta 3 {"type":"text_delta","text":"Yes."}
        content_block_stop 3
        message_delta {"stop_reason":"stop_sequence","stop_sequence":"END"}
        message_stop
    "#]]
    .assert_eq(&sketch(&bytes));
    let seals: Vec<_> = gathered(&deltas(MESSAGES, &bytes).unwrap()).choices[0].parts.clone();
    assert!(
        matches!(&seals[1], Part::Thinking { text, signature: Some(seal) } if text.is_empty() && seal == "two")
    );
}

#[test]
fn a_stream_that_is_cut_off_has_no_end_but_its_usage() {
    let answer =
        any::answer(vec![Part::text("one two three four five six")], Stop::End, schema::Usage::default());
    let whole = streamed(MESSAGES, &answer);
    let text = String::from_utf8(whole).unwrap();
    let told = text.replacen(r#""input_tokens":0"#, r#""input_tokens":25"#, 1);
    let cut = told.find("event: content_block_stop").unwrap();
    let deltas = deltas(MESSAGES, &told.as_bytes()[..cut]).unwrap();
    assert!(!deltas.contains(&Delta::End));
    assert!(matches!(deltas[1], Delta::Usage(usage) if usage.input_tokens == 25));
}

#[test]
fn an_error_midway_is_told_as_one_and_nothing_follows() {
    let error = Delta::Error { kind: "server_error".into(), message: "no more".into() };
    let stream = [piece(Piece::Text("Yes".into())), error, piece(Piece::Text("!".into())), Delta::End];
    expect![[r#"
        message_start
        content_block_start 0 {"type":"text","text":""}
        content_block_delta 0 {"type":"text_delta","text":"Yes"}
        error {"type":"api_error","message":"no more","code":"server_error"}
    "#]]
    .assert_eq(&sketch(&written(MESSAGES, &stream)));
}

/// What this stream says, written as the vendor writes it.
#[track_caller]
fn reads(stream: &[Value], expected: &Expect) {
    let mut bytes = Vec::new();
    for event in stream {
        wire::sse::write_frame(event["type"].as_str(), &event.to_string(), &mut bytes);
    }
    let told: Vec<String> =
        deltas(MESSAGES, &bytes).unwrap().iter().map(|delta| format!("{delta:?}")).collect();
    expected.assert_eq(&told.join("\n"));
}

#[test]
fn a_call_without_arguments_has_an_empty_object() {
    let start = |index: u64, block: Value| json!({ "type": "content_block_start", "index": index, "content_block": block });
    let stop = |index: u64| json!({ "type": "content_block_stop", "index": index });
    let delta = |index: u64, json: &str| json!({ "type": "content_block_delta", "index": index, "delta": { "type": "input_json_delta", "partial_json": json } });
    reads(
        &[
            json!({ "type": "ping" }),
            start(0, json!({ "type": "server_tool_use", "id": "s", "name": "web_search", "input": {} })),
            delta(0, "{\"query\":1}"),
            stop(0),
            start(1, json!({ "type": "tool_use", "id": "a", "name": "now", "input": {} })),
            delta(1, ""),
            stop(1),
            start(2, json!({ "type": "tool_use", "id": "b", "name": "now", "input": { "whole": true } })),
            stop(2),
            json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" }, "usage": { "output_tokens": 3 } }),
            json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } }),
        ],
        &expect![[r#"
            Piece { choice: 0, piece: Call { index: 0, id: "a", name: "now" } }
            Piece { choice: 0, piece: Arguments { index: 0, json: "{}" } }
            Piece { choice: 0, piece: Call { index: 1, id: "b", name: "now" } }
            Piece { choice: 0, piece: Arguments { index: 1, json: "{\"whole\":true}" } }
            Usage(Usage { input_tokens: 0, output_tokens: 3, cache_read_tokens: 0, cache_write_tokens: 0, cache_write_long_tokens: 0, reasoning_tokens: 0 })
            Stop { choice: 0, stop: ToolCalls }
            Error { kind: "overloaded_error", message: "Overloaded" }"#]],
    );
}

#[test]
fn blocks_that_a_vendor_does_not_open_are_read_all_the_same() {
    let delta =
        |index: u64, delta: Value| json!({ "type": "content_block_delta", "index": index, "delta": delta });
    reads(
        &[
            delta(0, json!({ "type": "thinking_delta", "thinking": "Hm." })),
            delta(1, json!({ "type": "text_delta", "text": "Yes." })),
            json!({ "type": "content_block_stop", "index": 1 }),
            json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" } }),
        ],
        &expect![[r#"
            Piece { choice: 0, piece: Thinking("Hm.") }
            Piece { choice: 0, piece: Text("Yes.") }
            Stop { choice: 0, stop: End }
            End"#]],
    );
}

#[test]
fn blocks_that_say_nothing_are_not_written() {
    let answer =
        any::answer(vec![Part::text(""), call("a", "{}")], Stop::ToolCalls, schema::Usage::default());
    assert_eq!(MESSAGES.write_answer(&answer, &stamp())["content"].as_array().unwrap().len(), 1);
    assert!(!sketch(&streamed(MESSAGES, &answer)).contains("text"));
}

#[test]
fn usage_at_the_end_replaces_only_what_it_repeats() {
    let usage = json!({
        "input_tokens": 10, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 30, "output_tokens": 1,
        "cache_creation": { "ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20 },
    });
    let start =
        json!({ "type": "message_start", "message": { "id": "msg_1", "model": "m", "usage": usage } });
    let end = json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" },
        "usage": { "output_tokens": 40, "input_tokens": null, "cache_read_input_tokens": 100 } });
    let mut bytes = Vec::new();
    for event in [start, end] {
        wire::sse::write_frame(event["type"].as_str(), &event.to_string(), &mut bytes);
    }
    let usage = gathered(&deltas(MESSAGES, &bytes).unwrap()).usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (140, 40));
    assert_eq!((usage.cache_write_tokens, usage.cache_write_long_tokens), (10, 20));
}

proptest! {
    #[test]
    fn a_request_comes_back_from_the_wire_as_it_was(request in any::messages_request()) {
        let translated = MESSAGES.write_request(&request).unwrap();
        prop_assert_eq!(translated.left_out, Vec::<String>::new());
        prop_assert_eq!(MESSAGES.read_request(&translated.body).unwrap(), request);
    }

    #[test]
    fn an_answer_comes_back_from_the_wire_as_it_was(answer in any::messages_answer()) {
        let mut back = MESSAGES.read_answer(&MESSAGES.write_answer(&answer, &stamp())).unwrap();
        prop_assert_eq!(back.id.take().unwrap(), "msg_1");
        prop_assert_eq!(back, answer);
    }

    #[test]
    fn a_stream_says_what_the_answer_says(answer in any::messages_answer()) {
        let mut back = gathered(&deltas(MESSAGES, &streamed(MESSAGES, &answer)).unwrap());
        back.id = None;
        prop_assert_eq!(back, answer);
    }

    #[test]
    fn blocks_open_and_close_one_after_the_other(mut stream in any::any_deltas()) {
        stream.push(Delta::End);
        stream.push(Delta::End);
        let events = events(&written(MESSAGES, &stream));
        let kinds: Vec<&str> = events.iter().map(|(name, _)| name.as_deref().unwrap()).collect();
        prop_assert_eq!(kinds[0], "message_start");
        prop_assert_eq!(&kinds[kinds.len() - 2..], ["message_delta", "message_stop"]);
        let (mut next, mut open) = (0, false);
        for (_, data) in &events[1..events.len() - 2] {
            prop_assert_eq!(&data["index"], &json!(next));
            match data["type"].as_str().unwrap() {
                "content_block_start" => prop_assert!(!std::mem::replace(&mut open, true)),
                "content_block_delta" => prop_assert!(open),
                "content_block_stop" => {
                    prop_assert!(std::mem::replace(&mut open, false));
                    next += 1;
                }
                other => prop_assert!(false, "{other}"),
            }
        }
        prop_assert!(!open);
    }

    #[test]
    fn nothing_panics_whatever_is_sent(
        request in any::messages_request(), answer in any::messages_answer(), at in any::<prop::sample::Index>(),
        new in any::any_json(),
    ) {
        let changed = |mut value: Value| {
            let mut nth = at.index(any::count(&value));
            any::replace(&mut value, &mut nth, &new);
            value
        };
        let body = changed(MESSAGES.write_request(&request).unwrap().body);
        if let Ok(request) = MESSAGES.read_request(&body) {
            let _ = MESSAGES.write_request(&request);
        }
        let _ = wire::count::read(&body);
        let _ = wire::embeddings::read(&body);
        let _ = MESSAGES.read_answer(&changed(MESSAGES.write_answer(&answer, &stamp())));
        for status in [200, 400, 500] {
            let _ = MESSAGES.write_error(&MESSAGES.read_error(status, &body));
        }
        let mut bytes = Vec::new();
        for (name, data) in events(&streamed(MESSAGES, &answer)) {
            wire::sse::write_frame(name.as_deref(), &changed(data).to_string(), &mut bytes);
        }
        let _ = deltas(MESSAGES, &bytes);
    }
}
