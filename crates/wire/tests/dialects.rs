//! What servers say in their own ways, and what must never be lost of it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

use serde_json::{Value, json};
use wire::{Answer, Delta, Gather, Part, Stop, ToolCall, Wire, sse};

/// Reads a stream of these frames to its end.
fn read(wire: Wire, frames: &[Value]) -> (Answer, Vec<Delta>) {
    let (mut reader, mut deltas) = (wire.reader(), Vec::new());
    for frame in frames {
        let data = frame.as_str().map_or_else(|| frame.to_string(), str::to_owned);
        reader.read(&sse::Event { name: None, data: &data }, &mut deltas).unwrap();
    }
    reader.close(&mut deltas);
    let mut gather = Gather::default();
    deltas.iter().for_each(|delta| gather.take(delta));
    (gather.into_answer(), deltas)
}

/// A chunk with calls.
fn calls(list: &Value) -> Value {
    json!({ "id": "c1", "model": "m", "choices": [{ "index": 0, "delta": { "tool_calls": list } }] })
}

fn finish(reason: &str) -> Value {
    json!({ "id": "c1", "model": "m", "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] })
}

fn call(id: &str, name: &str, arguments: &str) -> Part {
    Part::ToolCall(ToolCall { id: id.to_owned(), name: name.to_owned(), arguments: arguments.to_owned() })
}

#[track_caller]
fn check_calls(frames: &[Value], expected: &[Part]) {
    let (answer, deltas) = read(Wire::Chat, frames);
    assert_eq!(answer.choices[0].parts, expected);
    assert_eq!(answer.choices[0].stop, Some(Stop::ToolCalls));
    assert_eq!(deltas.last(), Some(&Delta::End));
}

#[test]
fn calls_whose_pieces_come_in_turns_keep_their_arguments() {
    check_calls(
        &[
            calls(&json!([{ "index": 0, "id": "a", "function": { "name": "x", "arguments": "{\"n" } }])),
            calls(&json!([{ "index": 1, "id": "b", "function": { "name": "y", "arguments": "{\"m" } }])),
            calls(&json!([{ "index": 0, "function": { "arguments": "\":1}" } }])),
            calls(&json!([{ "index": 1, "function": { "arguments": "\":2}" } }])),
            finish("tool_calls"),
            json!("[DONE]"),
        ],
        &[call("a", "x", "{\"n\":1}"), call("b", "y", "{\"m\":2}")],
    );
}

#[test]
fn calls_without_numbers_are_told_apart_by_their_ids() {
    check_calls(
        &[
            calls(&json!([{ "id": "a", "function": { "name": "x", "arguments": "{}" } }])),
            calls(&json!([{ "id": "b", "function": { "name": "x", "arguments": "[1" } }])),
            calls(&json!([{ "function": { "arguments": "]" } }])),
            finish("tool_calls"),
        ],
        &[call("a", "x", "{}"), call("b", "x", "[1]")],
    );
}

#[test]
fn calls_that_are_all_numbered_0_are_told_apart_by_their_ids() {
    check_calls(
        &[
            calls(&json!([{ "index": 0, "id": "a", "function": { "name": "x", "arguments": "{}" } }])),
            calls(&json!([{ "index": 0, "id": "b", "function": { "name": "x", "arguments": "[]" } }])),
            finish("stop"),
        ],
        &[call("a", "x", "{}"), call("b", "x", "[]")],
    );
}

#[test]
fn an_id_and_a_name_repeated_in_every_chunk_begin_one_call() {
    check_calls(
        &[
            calls(&json!([{ "index": 0, "id": "a", "function": { "name": "x", "arguments": "{\"n\"" } }])),
            calls(&json!([{ "index": 0, "id": "a", "function": { "name": "x", "arguments": ":1}" } }])),
            finish("tool_calls"),
        ],
        &[call("a", "x", "{\"n\":1}")],
    );
}

#[test]
fn a_name_that_comes_after_the_arguments_loses_none_of_them() {
    check_calls(
        &[
            calls(&json!([{ "index": 0, "id": "a", "function": { "arguments": "{\"n\"" } }])),
            calls(&json!([{ "index": 0, "function": { "name": "x", "arguments": ":1}" } }])),
            finish("tool_calls"),
        ],
        &[call("a", "x", "{\"n\":1}")],
    );
}

#[test]
fn calls_without_ids_get_different_ones() {
    let frames = [
        calls(&json!([{ "index": 0, "function": { "name": "x", "arguments": { "n": 1 } } }])),
        calls(&json!([{ "index": 1, "id": "", "function": { "name": "y", "arguments": "{}" } }])),
        finish("tool_calls"),
    ];
    check_calls(&frames, &[call("call_c1_0", "x", "{\"n\":1}"), call("call_c1_1", "y", "{}")]);
}

#[test]
fn several_answers_are_kept_apart() {
    let piece =
        |index: u32, text: &str| json!({ "choices": [{ "index": index, "delta": { "content": text } }] });
    let stop = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" },
        { "index": 1, "delta": {}, "finish_reason": "length" }] });
    let (answer, deltas) = read(Wire::Chat, &[piece(0, "a"), piece(1, "b"), piece(0, "c"), stop]);
    let texts: Vec<_> = answer.choices.iter().map(|choice| choice.parts.clone()).collect();
    assert_eq!(texts, [vec![Part::text("ac")], vec![Part::text("b")]]);
    assert_eq!(answer.choices[1].stop, Some(Stop::Length));
    assert_eq!(deltas.last(), Some(&Delta::End));
}

#[test]
fn streamed_usage_is_heard_wherever_it_comes() {
    let usage = json!({ "prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13 });
    let alone = json!({ "id": "c1", "model": "m", "choices": [], "usage": usage });
    let mut with_reason = finish("stop");
    with_reason["usage"] = usage.clone();
    let mut of_its_own = finish("stop");
    of_its_own["x_groq"] = json!({ "usage": usage });
    let done = json!("[DONE]");
    for frames in
        [vec![finish("stop"), alone, done.clone()], vec![with_reason, done.clone()], vec![of_its_own, done]]
    {
        let heard = read(Wire::Chat, &frames).0.usage.unwrap();
        assert_eq!((heard.input_tokens, heard.output_tokens), (10, 3));
    }
}

#[test]
fn usage_is_asked_for_although_the_caller_did_not() {
    let body = json!({ "model": "m", "messages": [{ "role": "user", "content": "hi" }], "stream": true });
    let request = Wire::Chat.read_request(&body).unwrap();
    assert!(!request.include_usage);
    let sent = Wire::Chat.write_request(&request).unwrap().body;
    assert_eq!(sent["stream_options"], json!({ "include_usage": true }));
}

#[test]
fn usage_that_the_caller_did_not_ask_for_is_not_sent() {
    let mut writer = Wire::Chat.writer(&wire::Stamp::default(), false);
    let mut out = Vec::new();
    for delta in
        [Delta::Start { id: None, model: String::new() }, Delta::Usage(schema::Usage::default()), Delta::End]
    {
        writer.write(&delta, &mut out);
    }
    let out = String::from_utf8(out).unwrap();
    assert!(!out.contains("usage"), "{out}");
    assert!(out.ends_with("data: [DONE]\n\n"), "{out}");
}

#[test]
fn cached_tokens_are_counted_once() {
    let chat = json!({ "id": "c", "model": "m", "choices": [], "usage": { "prompt_tokens": 100, "completion_tokens": 5,
        "total_tokens": 105, "prompt_tokens_details": { "cached_tokens": 80 } } });
    let responses = json!({ "id": "r", "model": "m", "status": "completed", "output": [], "usage": { "input_tokens": 100,
        "output_tokens": 5, "total_tokens": 105, "input_tokens_details": { "cached_tokens": 80 } } });
    for (wire, body) in [(Wire::Chat, chat), (Wire::Responses, responses)] {
        let answer = wire.read_answer(&body).unwrap();
        let usage = answer.usage.unwrap();
        assert_eq!((usage.input_tokens, usage.cache_read_tokens, usage.output_tokens), (100, 80, 5));
        let stamp = wire::Stamp::default();
        let again = wire.read_answer(&wire.write_answer(&answer, &stamp)).unwrap();
        assert_eq!(again.usage, Some(usage));
    }
}

#[test]
fn thoughts_counted_beside_the_answer_are_counted_in_it() {
    let body = json!({ "id": "c", "model": "grok", "choices": [], "usage": { "prompt_tokens": 10, "completion_tokens": 5,
        "total_tokens": 45, "completion_tokens_details": { "reasoning_tokens": 30 } } });
    let usage = Wire::Chat.read_answer(&body).unwrap().usage.unwrap();
    assert_eq!((usage.output_tokens, usage.reasoning_tokens), (35, 30));
}

#[test]
fn a_stream_cut_midway_has_no_end() {
    let half =
        json!({ "id": "c1", "model": "m", "choices": [{ "index": 0, "delta": { "content": "Half" } }] });
    let (answer, deltas) = read(Wire::Chat, &[half]);
    assert!(!deltas.contains(&Delta::End));
    assert_eq!(answer.choices[0].stop, None);

    let half = json!({ "type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "Half" });
    let (_, deltas) = read(Wire::Responses, &[half]);
    assert!(!deltas.contains(&Delta::End));
}

#[test]
fn a_stream_that_closes_after_its_last_reason_is_complete() {
    let (_, deltas) = read(Wire::Chat, &[finish("stop")]);
    assert_eq!(deltas.last(), Some(&Delta::End));
}

#[test]
fn an_error_midway_reaches_the_caller_and_no_end_hides_it() {
    let error = Delta::Error { kind: "overloaded_error".to_owned(), message: "no room".to_owned() };
    let end = ["data: [DONE]", "response.completed"];
    for wire in [Wire::Chat, Wire::Responses] {
        let mut writer = wire.writer(&wire::Stamp::default(), true);
        let mut out = Vec::new();
        for delta in [&Delta::Start { id: None, model: String::new() }, &error, &Delta::End] {
            writer.write(delta, &mut out);
        }
        let out = String::from_utf8(out).unwrap();
        assert!(out.contains("no room"), "{out}");
        assert!(!end.iter().any(|end| out.contains(end)), "{out}");
        let frames: Vec<Value> = out
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .map(|data| serde_json::from_str(data).unwrap())
            .collect();
        let (_, deltas) = read(wire, &frames);
        assert!(deltas.iter().any(|delta| matches!(delta, Delta::Error { .. })), "{deltas:?}");
    }
}

#[test]
fn an_error_in_an_answer_of_status_200_is_no_answer() {
    let body = json!({ "error": { "message": "bad key", "type": "invalid_request_error" } });
    for wire in [Wire::Chat, Wire::Responses] {
        let broken = wire.read_answer(&body).unwrap_err();
        assert!(broken.message.contains("bad key"), "{}", broken.message);
    }
}

#[test]
fn every_event_of_responses_is_numbered_and_follows_its_item() {
    let calls = [
        calls(&json!([{ "index": 0, "id": "a", "function": { "name": "x", "arguments": "{}" } }])),
        json!({ "choices": [{ "index": 0, "delta": { "content": "Said after." } }] }),
        finish("tool_calls"),
    ];
    let (_, deltas) = read(Wire::Chat, &calls);
    let (mut writer, mut out) = (Wire::Responses.writer(&wire::Stamp::default(), true), Vec::new());
    deltas.iter().for_each(|delta| writer.write(delta, &mut out));
    let out = String::from_utf8(out).unwrap();
    let events: Vec<Value> = out
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect();
    let (mut open, mut done) = (Vec::new(), Vec::new());
    for (number, event) in events.iter().enumerate() {
        assert_eq!(event["sequence_number"], json!(number));
        let place = event["output_index"].as_u64();
        match event["type"].as_str().unwrap() {
            "response.output_item.added" => open.push(place.unwrap()),
            "response.output_item.done" => {
                open.retain(|open| Some(*open) != place);
                done.push(place.unwrap());
            }
            _ => assert!(place.is_none_or(|place| open.contains(&place)), "{event}"),
        }
    }
    done.sort_unstable();
    assert_eq!((open, done), (vec![], vec![0, 1]));
    assert_eq!(events.last().unwrap()["type"], "response.completed");
    assert_eq!(events.last().unwrap()["response"]["output"].as_array().unwrap().len(), 2);
}

#[test]
fn a_sealed_thought_comes_back_to_openai_through_a_caller_of_another_wire() {
    let body = json!({ "id": "r", "model": "m", "status": "completed", "output": [
        { "type": "reasoning", "id": "rs_9", "summary": [], "encrypted_content": "gAAAA.=" } ] });
    let answer = Wire::Responses.read_answer(&body).unwrap();
    let mut request = wire::Request::new(Wire::Messages, "gpt-5");
    let parts = answer.choices[0].parts.clone();
    request.messages.push(wire::Message { role: wire::Role::Assistant, parts });
    let sent = Wire::Responses.write_request(&request).unwrap().body;
    assert_eq!(sent["input"][0]["id"], "rs_9");
    assert_eq!(sent["input"][0]["encrypted_content"], "gAAAA.=");
}

#[test]
fn a_responses_server_that_sends_only_the_whole_is_understood() {
    let response = json!({ "id": "r", "model": "m", "status": "completed", "output": [
        { "type": "message", "content": [{ "type": "output_text", "text": "All at once." }] },
        { "type": "function_call", "call_id": "a", "name": "x", "arguments": "{}" } ],
        "usage": { "input_tokens": 1, "output_tokens": 2 } });
    let (answer, _) = read(Wire::Responses, &[json!({ "type": "response.completed", "response": response })]);
    assert_eq!(answer.choices[0].parts, [Part::text("All at once."), call("a", "x", "{}")]);
    assert_eq!(answer.choices[0].stop, Some(Stop::ToolCalls));
    assert!(answer.usage.is_some());
}

#[test]
fn fields_that_are_not_known_pass_on_their_own_wire() {
    let body = json!({ "model": "m", "messages": [{ "role": "user", "content": "hi" }], "new_flag": { "deep": [1] } });
    let request = Wire::Chat.read_request(&body).unwrap();
    assert_eq!(Wire::Chat.write_request(&request).unwrap().body["new_flag"], json!({ "deep": [1] }));
    assert_eq!(Wire::Responses.write_request(&request).unwrap().left_out, ["new_flag"]);
}

#[test]
fn what_is_not_known_stays_where_it_stood_whatever_it_is_called() {
    let file = json!({ "type": "input_file", "filename": "a.pdf", "file_data": "no data" });
    let screen = json!({ "type": "screen", "id": "s_1" });
    let said = json!({ "type": "message", "role": "assistant", "content": [screen] });
    let body = json!({ "model": "gpt-5", "input": [file, said, { "type": "later_output", "x": 1 }] });
    assert_eq!(there_and_back(Wire::Responses, &body), body);

    let call = json!({ "id": "call_1", "type": "custom", "custom": { "name": "sql", "input": "select 1" } });
    let said =
        json!({ "role": "assistant", "content": [screen], "tool_calls": [call], "audio": { "id": "a" } });
    let body = json!({ "model": "gpt-5", "messages": [said] });
    assert_eq!(there_and_back(Wire::Chat, &body), body);
}

fn there_and_back(wire: Wire, body: &Value) -> Value {
    wire.write_request(&wire.read_request(body).unwrap()).unwrap().body
}

#[test]
fn what_a_stream_calls_nonsense_is_broken() {
    let mut reader = Wire::Chat.reader();
    for data in ["{", "nonsense", "{\"choices\":[{\"index\":4000000000}]}"] {
        assert!(reader.read(&sse::Event { name: None, data }, &mut Vec::new()).is_err(), "{data}");
    }
}

#[test]
fn pictures_that_a_tool_gave_follow_its_words() {
    let mut request = wire::Request::new(Wire::Messages, "gpt-4o");
    let image = Part::Image {
        source: wire::ImageSource::Url { url: "https://e.com/a.png".to_owned() },
        detail: None,
    };
    let result = |call: &str, content| {
        Part::ToolResult(wire::ToolResult { call: call.to_owned(), content, failed: true })
    };
    let parts = vec![result("a", vec![image]), result("b", vec![Part::text("ok")]), Part::text("Well?")];
    request.messages.push(wire::Message { role: wire::Role::User, parts });
    let sent = Wire::Chat.write_request(&request).unwrap();
    let roles: Vec<_> =
        sent.body["messages"].as_array().unwrap().iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["tool", "tool", "user"]);
    assert_eq!(sent.body["messages"][2]["content"][1]["image_url"]["url"], "https://e.com/a.png");
    assert_eq!(sent.body["messages"][2]["content"][2]["text"], "Well?");
    assert_eq!(sent.left_out, ["is_error"]);
}

#[test]
fn thoughts_and_words_in_a_list_are_told_apart() {
    let content = json!([{ "type": "thinking", "thinking": [{ "type": "text", "text": "Hm." }] },
        { "type": "text", "text": "Yes." }]);
    let stream =
        json!({ "choices": [{ "index": 0, "delta": { "content": content }, "finish_reason": "stop" }] });
    let whole =
        json!({ "choices": [{ "index": 0, "message": { "content": content }, "finish_reason": "stop" }] });
    let expected = [Part::Thinking { text: "Hm.".to_owned(), signature: None }, Part::text("Yes.")];
    assert_eq!(read(Wire::Chat, &[stream]).0.choices[0].parts, expected);
    assert_eq!(Wire::Chat.read_answer(&whole).unwrap().choices[0].parts, expected);
}

#[test]
fn a_responses_answer_repeats_what_it_was_asked() {
    let body = json!({ "model": "m", "input": "hi", "instructions": "Be brief.", "temperature": 0.2, "store": true,
        "max_output_tokens": 9, "metadata": { "a": "b" }, "tools": [{ "type": "function", "name": "f" }, { "type": "web_search" }],
        "tool_choice": "required", "reasoning": { "effort": "low" }, "text": { "verbosity": "low" } });
    let request = Wire::Responses.read_request(&body).unwrap();
    let stamp = wire::Stamp { echo: Wire::Responses.echo(&request), ..wire::Stamp::default() };
    let answer = Answer { id: None, model: "x".to_owned(), choices: vec![], usage: None };
    let written = Wire::Responses.write_answer(&answer, &stamp);
    for name in
        ["instructions", "temperature", "store", "max_output_tokens", "metadata", "tool_choice", "reasoning"]
    {
        assert_eq!(written[name], body[name], "{name}");
    }
    assert_eq!(written["tools"].as_array().unwrap().len(), 2);
    assert_eq!(written["text"], json!({ "verbosity": "low", "format": { "type": "text" } }));
    assert_eq!(written.get("input"), None);
}

#[test]
fn bytes_with_the_seal_of_another_vendor_are_not_forwarded() {
    let thought = |sealed: &str| {
        json!({ "model": "m", "input": [{ "role": "user", "content": "hi" },
            { "type": "reasoning", "summary": [], "encrypted_content": sealed },
            { "role": "assistant", "content": "Yes." }, { "role": "user", "content": "Why?" }] })
    };
    let own = Wire::Responses.read_request(&thought("gAAAA")).unwrap();
    assert!(own.goes_as_it_came(Wire::Responses));
    assert!(!own.goes_as_it_came(Wire::Chat));
    assert_eq!(Wire::Responses.write_request(&own).unwrap().body["input"][1]["encrypted_content"], "gAAAA");

    let foreign = Wire::Responses.read_request(&thought("anthropic:EqQB")).unwrap();
    assert!(!foreign.goes_as_it_came(Wire::Responses));
    let sent = Wire::Responses.write_request(&foreign).unwrap();
    assert_eq!(sent.left_out, ["thinking"]);
    assert!(!sent.body.to_string().contains("EqQB"));
}

#[test]
fn an_item_of_a_responses_stream_keeps_its_id() {
    let sealed = json!({ "type": "response.output_item.done", "output_index": 0, "item": { "id": "rs_1",
        "type": "reasoning", "summary": [], "encrypted_content": "gAAAA" } });
    let thought =
        json!({ "type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "Hm." });
    let end = json!({ "type": "response.completed", "response": { "status": "completed" } });
    let (_, deltas) = read(Wire::Responses, &[thought, sealed, end]);
    let (mut writer, mut out) = (Wire::Responses.writer(&wire::Stamp::default(), true), Vec::new());
    deltas.iter().for_each(|delta| writer.write(delta, &mut out));
    let out = String::from_utf8(out).unwrap();
    let events = out.lines().filter_map(|line| line.strip_prefix("data: "));
    let ids: std::collections::BTreeSet<String> = events
        .map(|data| serde_json::from_str::<Value>(data).unwrap())
        .flat_map(|event| {
            [
                event["item"]["id"].clone(),
                event["item_id"].clone(),
                event["response"]["output"][0]["id"].clone(),
            ]
        })
        .filter_map(|id| id.as_str().map(str::to_owned))
        .collect();
    assert_eq!(ids.len(), 1, "{ids:?}");
    assert!(out.contains("gAAAA"));
}
