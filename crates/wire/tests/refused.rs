//! Requests that are refused, and what the caller is told.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use wire::Wire;

/// A good request with one field changed.
fn changed(wire: Wire, field: &str, value: Value) -> Value {
    let mut body = match wire {
        Wire::Responses => json!({ "model": "m", "input": "hi" }),
        _ => json!({ "model": "m", "messages": [{ "role": "user", "content": "hi" }] }),
    };
    assert!(wire.read_request(&body).is_ok());
    body[field] = value;
    body
}

#[track_caller]
fn check(wire: Wire, changes: &[(&str, Value)], expected: &Expect) {
    let mut told = String::new();
    for (field, value) in changes {
        match wire.read_request(&changed(wire, field, value.clone())) {
            Ok(_) => told.push_str(&format!("taken: {field} {value}\n")),
            Err(refused) => {
                assert!(refused.message.starts_with(&refused.param));
                told.push_str(&format!("{refused}\n"));
            }
        }
    }
    expected.assert_eq(&told);
}

#[test]
fn a_control_that_is_not_right_is_refused() {
    let changes = [
        ("model", json!("")),
        ("model", json!(null)),
        ("model", json!("x".repeat(201))),
        ("stream", json!("true")),
        ("stream", json!(1)),
        ("stream_options", json!({ "include_usage": "yes" })),
        ("stream_options", json!(true)),
        ("temperature", json!(2.1)),
        ("temperature", json!("hot")),
        ("top_p", json!(-0.1)),
        ("presence_penalty", json!(3)),
        ("frequency_penalty", json!(-3)),
        ("n", json!(0)),
        ("n", json!(129)),
        ("n", json!(1.5)),
        ("stop", json!(["a", "b", "c", "d", "e"])),
        ("stop", json!([1])),
        ("max_tokens", json!(0)),
        ("max_completion_tokens", json!(-1)),
        ("logprobs", json!(1)),
        ("top_logprobs", json!(21)),
        ("seed", json!(1.5)),
        ("reasoning_effort", json!("huge")),
        ("user", json!(7)),
        ("metadata", json!([])),
        ("modalities", json!("audio")),
        ("parallel_tool_calls", json!("no")),
        ("functions", json!([])),
        ("function_call", json!("auto")),
    ];
    check(
        Wire::Chat,
        &changes,
        &expect![[r#"
            model: expected a string of 1 to 200 characters, found ""
            model: is required: expected the name of a model
            model: expected a string of 1 to 200 characters, found a longer string
            stream: expected true or false, found "true"
            stream: expected true or false, found 1
            stream_options.include_usage: expected true or false, found "yes"
            stream_options: expected an object, found true
            temperature: expected a number from 0 to 2, found 2.1
            temperature: expected a number from 0 to 2, found "hot"
            top_p: expected a number from 0 to 1, found -0.1
            presence_penalty: expected a number from -2 to 2, found 3
            frequency_penalty: expected a number from -2 to 2, found -3
            n: expected an integer from 1 to 128, found 0
            n: expected an integer from 1 to 128, found 129
            n: expected an integer from 1 to 128, found 1.5
            stop: expected a string or a list of at most 4 strings, found a list
            stop[0]: expected a string, found 1
            max_tokens: expected an integer of at least 1, found 0
            max_completion_tokens: expected an integer of at least 1, found -1
            logprobs: expected true or false, found 1
            top_logprobs: expected an integer from 0 to 20, found 21
            seed: expected an integer, found 1.5
            reasoning_effort: expected `none`, `minimal`, `low`, `medium`, `high` or `xhigh`, found "huge"
            user: expected a string, found 7
            metadata: expected an object, found a list
            modalities: expected a list, found "audio"
            parallel_tool_calls: expected true or false, found "no"
            functions: is no longer supported: use `tools`
            function_call: is no longer supported: use `tool_choice`
        "#]],
    );
}

#[test]
fn a_message_that_is_not_right_is_refused() {
    let changes = [
        json!([]),
        json!("hi"),
        json!(["hi"]),
        json!([{ "content": "hi" }]),
        json!([{ "role": "robot", "content": "hi" }]),
        json!([{ "role": "function", "name": "f", "content": "hi" }]),
        json!([{ "role": "user" }]),
        json!([{ "role": "user", "content": 5 }]),
        json!([{ "role": "user", "content": [{ "text": "hi" }] }]),
        json!([{ "role": "user", "content": [{ "type": "text" }] }]),
        json!([{ "role": "user", "content": [{ "type": "image_url", "image_url": "https://e.com" }] }]),
        json!([{ "role": "user", "content": [{ "type": "image_url", "image_url": { "url": "data:image/png,abc" } }] }]),
        json!([{ "role": "user", "content": [{ "type": "file", "file": {} }] }]),
        json!([{ "role": "user", "content": "hi" }, { "role": "tool", "content": "18" }]),
        json!([{ "role": "assistant" }]),
        json!([{ "role": "user", "content": "a" }, { "role": "assistant", "tool_calls": [{ "id": "c", "function": { "name": "" , "arguments": "" } }] }]),
        json!([{ "role": "assistant", "tool_calls": [{ "id": "c", "function": { "name": "f", "arguments": {} } }] }]),
        json!([{ "role": "assistant", "tool_calls": [{ "function": { "name": "f", "arguments": "{}" } }] }]),
    ];
    let changes: Vec<_> = changes.into_iter().map(|messages| ("messages", messages)).collect();
    check(
        Wire::Chat,
        &changes,
        &expect![[r#"
            messages: expected at least one message
            messages: expected a list, found "hi"
            messages[0]: expected an object, found "hi"
            messages[0].role: is required: expected `system`, `developer`, `user`, `assistant` or `tool`
            messages[0].role: expected `system`, `developer`, `user`, `assistant` or `tool`, found "robot"
            messages[0].role: `function` is no longer supported: use `tool`
            messages[0].content: is required: expected a string or a list of parts
            messages[0].content: expected a string or a list of parts, found 5
            messages[0].content[0].type: is required: expected the kind of part, such as `text`
            messages[0].content[0].text: is required: expected a string
            messages[0].content[0].image_url: expected an object, found "https://e.com"
            messages[0].content[0].image_url.url: expected `data:<media type>;base64,<bytes>`
            messages[0].content[0].file: expected file_data or a file_id
            messages[1].tool_call_id: is required: expected the id of the call that this is the result of
            messages[0].content: is required: expected a string, a list of parts, or tool_calls
            messages[1].tool_calls[0].function.name: expected a string of 1 to 256 characters, found ""
            messages[0].tool_calls[0].function.arguments: expected a string, found an object
            messages[0].tool_calls[0].id: is required: expected the id of the call
        "#]],
    );
}

#[test]
fn a_tool_that_is_not_right_is_refused() {
    let changes = [
        ("tools", json!({})),
        ("tools", json!([{ "function": { "name": "f" } }])),
        ("tools", json!([{ "type": "function" }])),
        ("tools", json!([{ "type": "function", "function": {} }])),
        ("tools", json!([{ "type": "function", "function": { "name": "a b" } }])),
        ("tools", json!([{ "type": "function", "function": { "name": "f", "parameters": [] } }])),
        ("tools", json!([{ "type": "function", "function": { "name": "f", "strict": "yes" } }])),
        ("tool_choice", json!("any")),
        ("tool_choice", json!({ "type": "function", "function": { "name": "f" } })),
        ("tool_choice", json!({ "function": { "name": "f" } })),
        ("tool_choice", json!(1)),
        ("response_format", json!("json")),
        ("response_format", json!({ "type": "xml" })),
        ("response_format", json!({ "type": "json_schema" })),
        ("response_format", json!({ "type": "json_schema", "json_schema": { "schema": {} } })),
        ("response_format", json!({ "type": "json_schema", "json_schema": { "name": "n", "schema": 1 } })),
    ];
    check(
        Wire::Chat,
        &changes,
        &expect![[r#"
            tools: expected a list, found an object
            tools[0].type: is required: expected `function`
            tools[0].function: is required: expected an object with a name
            tools[0].function.name: is required: expected the name of the function
            tools[0].function.name: expected 1 to 64 letters, digits, `_` or `-`, found "a b"
            tools[0].function.parameters: expected an object, found a list
            tools[0].function.strict: expected true or false, found "yes"
            tool_choice: expected `auto`, `none`, `required` or {"type": "function", "function": {"name": …}}, found "any"
            tool_choice: names `f`, which is not in `tools`
            tool_choice.type: is required: expected `function`
            tool_choice: expected `auto`, `none`, `required` or {"type": "function", "function": {"name": …}}, found 1
            response_format: expected an object, found "json"
            response_format.type: expected `text`, `json_object` or `json_schema`, found "xml"
            response_format.json_schema: is required: expected an object with a name and a schema
            response_format.json_schema.name: is required: expected a name for the schema
            response_format.json_schema.schema: expected an object, found 1
        "#]],
    );
}

#[test]
fn what_is_not_right_on_the_responses_wire_is_refused() {
    let changes = [
        ("model", json!(4)),
        ("input", json!(null)),
        ("input", json!([])),
        ("input", json!(4)),
        ("input", json!([{ "content": "hi" }])),
        ("input", json!([{ "role": "tool", "content": "hi" }])),
        ("input", json!([{ "role": "user", "content": [{ "type": "input_text" }] }])),
        ("input", json!([{ "role": "user", "content": [{ "type": "input_image" }] }])),
        ("input", json!([{ "type": "function_call", "name": "f", "arguments": "{}" }])),
        ("input", json!([{ "type": "function_call", "call_id": "c", "name": "f", "arguments": {} }])),
        ("input", json!([{ "type": "function_call_output", "call_id": "c" }])),
        ("input", json!([{ "type": "reasoning", "id": "rs_1", "summary": "words" }])),
        ("instructions", json!([])),
        ("tools", json!([{ "type": "function", "name": "a b" }])),
        ("tools", json!([{ "name": "f" }])),
        ("tool_choice", json!({ "type": "function", "name": "f" })),
        ("tool_choice", json!("any")),
        ("text", json!({ "format": { "type": "xml" } })),
        ("reasoning", json!({ "effort": "huge" })),
        ("max_output_tokens", json!(0)),
        ("temperature", json!(3)),
        ("stream", json!("yes")),
        ("include", json!("all")),
        ("store", json!("no")),
        ("previous_response_id", json!(4)),
    ];
    check(
        Wire::Responses,
        &changes,
        &expect![[r#"
            model: expected a string, found 4
            input: is required: expected a string or a list of items
            input: expected at least one item
            input: expected a list, found 4
            input[0]: expected a `type`, or a `role` and `content`
            input[0].role: expected `system`, `developer`, `user` or `assistant`, found "tool"
            input[0].content[0].text: is required: expected a string
            input[0].content[0]: expected an image_url or a file_id
            input[0].call_id: is required: expected the id of the call
            input[0].arguments: expected a string, found an object
            input[0].output: is required: expected a string or a list of parts
            input[0].summary: expected a list, found "words"
            instructions: expected a string, found a list
            tools[0].name: expected 1 to 128 letters, digits, `_` or `-`, found "a b"
            tools[0].type: is required: expected `function` or a tool of OpenAI's
            tool_choice: names `f`, which is not in `tools`
            tool_choice: expected `auto`, `none`, `required` or {"type": "function", "name": …}, found "any"
            text.format.type: expected `text`, `json_object` or `json_schema`, found "xml"
            reasoning.effort: expected `none`, `minimal`, `low`, `medium`, `high` or `xhigh`, found "huge"
            max_output_tokens: expected an integer of at least 1, found 0
            temperature: expected a number from 0 to 2, found 3
            stream: expected true or false, found "yes"
            include: expected a list, found "all"
            store: expected true or false, found "no"
            previous_response_id: expected a string, found 4
        "#]],
    );
}

#[test]
fn a_body_that_is_no_object_is_refused() {
    for wire in [Wire::Chat, Wire::Responses] {
        for body in [json!(null), json!([]), json!("hi")] {
            let refused = wire.read_request(&body).unwrap_err();
            assert_eq!(refused.param, "");
        }
    }
}

#[test]
fn null_is_as_good_as_absent() {
    let body = json!({ "model": "m", "messages": [{ "role": "user", "content": "hi", "name": null }], "stream": null,
        "temperature": null, "tools": null, "tool_choice": null, "stop": null, "n": null, "metadata": null,
        "response_format": null, "stream_options": null, "seed": null, "user": null });
    let bare = json!({ "model": "m", "messages": [{ "role": "user", "content": "hi" }] });
    assert_eq!(Wire::Chat.read_request(&body).unwrap(), Wire::Chat.read_request(&bare).unwrap());
}
