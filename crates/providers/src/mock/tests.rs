#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::time::Duration;
use wire::{Gather, ImageSource, Message, Reasoning, Role, Tool, ToolCall, ToolResult};

mod schemas;

/// A request with one message of a user.
pub(crate) fn ask(model: &str, text: &str) -> Request {
    Request { messages: vec![message(Role::User, text)], ..Request::new(wire::Wire::Chat, model) }
}

fn message(role: Role, text: &str) -> Message {
    Message { role, parts: vec![Part::text(text)] }
}

fn with_rules(rules: &str, text: &str) -> Request {
    let mut request = ask("mock-small", text);
    request.messages.insert(0, message(Role::System, rules));
    request
}

fn tool(name: &str, about: &str, parameters: Value) -> Tool {
    Tool {
        name: name.into(),
        description: Some(about.into()),
        parameters: Some(parameters),
        strict: None,
        cache_control: None,
    }
}

fn weather() -> Tool {
    let parameters = json!({
        "type": "object",
        "properties": {
            "city": { "type": "string", "description": "The city" },
            "unit": { "type": "string", "enum": ["celsius", "fahrenheit"] },
        },
        "required": ["city"],
    });
    tool("get_weather", "The weather in a city", parameters)
}

fn refund() -> Tool {
    let parameters = json!({
        "type": "object",
        "properties": { "order_id": { "type": "string" }, "amount": { "type": "number" } },
        "required": ["order_id", "amount"],
    });
    tool("refund_order", "Refund an order of a customer", parameters)
}

/// The answer as a reader sees it: words, calls, and why it ends.
fn told(request: &Request) -> String {
    let answer = answer(request).unwrap();
    let choice = &answer.choices[0];
    let parts = choice.parts.iter().map(|part| match part {
        Part::Text { text, .. } => text.clone(),
        Part::Thinking { text, .. } => format!("<{text}>"),
        Part::ToolCall(call) => format!("{}({})", call.name, call.arguments),
        other => format!("{other:?}"),
    });
    let end = choice.stop.as_ref().unwrap().as_str();
    format!("{} [{end}]", parts.collect::<Vec<_>>().join(" "))
}

#[track_caller]
fn check(request: &Request, expected: &Expect) {
    expected.assert_eq(&told(request));
}

#[test]
fn plain_chat_says_back_what_it_was_told() {
    check(&ask("gpt-4o", "Where is my parcel? 📦"), &expect!["You said: Where is my parcel? 📦 [stop]"]);
    check(&ask("gpt-4o", ""), &expect!["Nobody has asked anything yet. [stop]"]);
}

#[test]
fn labels_are_picked_sums_done_and_texts_summed_up() {
    check(
        &with_rules("Classify as one of: billing, shipping, account", "Where is my parcel?"),
        &expect!["shipping [stop]"],
    );
    check(&ask("m", "What is 12*7?"), &expect!["12*7 = 84 [stop]"]);
    check(&with_rules("Summarise what you get.", "The cat sat. It purred."), &expect!["The cat sat. [stop]"]);
    check(
        &ask("m", "Summarize this: The sky is blue today. Tomorrow it rains."),
        &expect!["The sky is blue today. [stop]"],
    );
    check(
        &with_rules("Extract the email address.", "Write to ada@example.org, please"),
        &expect!["ada@example.org [stop]"],
    );
}

#[test]
fn a_picture_is_acknowledged() {
    let mut request = ask("m", "What is this?");
    let source = ImageSource::Base64 { media_type: "image/png".into(), data: "AAAA".into() };
    request.messages[0].parts.push(Part::Image { source, detail: None });
    check(&request, &expect!["I see a picture (image/png). You said: What is this? [stop]"]);
}

fn extraction(schema: Value, text: &str) -> Request {
    let mut request = with_rules("Extract the order.", text);
    request.format = Format::Schema { name: "order".into(), description: None, schema, strict: Some(true) };
    request
}

#[test]
fn facts_find_the_fields_that_want_them() {
    let schema = json!({
        "type": "object",
        "properties": {
            "customer_name": { "type": "string" },
            "email": { "type": "string", "format": "email" },
            "order_id": { "type": "string" },
            "order_date": { "type": "string", "format": "date" },
            "total_amount": { "type": "number" },
            "currency": { "type": "string" },
            "priority": { "enum": ["low", "urgent"] },
            "items": { "type": "integer" },
            "gift_wrap": { "type": "boolean" },
        },
        "required": ["customer_name", "email", "order_id", "order_date", "total_amount", "currency", "priority", "items", "gift_wrap"],
        "additionalProperties": false,
    });
    let text = "Hi, this is Ada Lovelace (ada@example.org). I ordered 3 items on March 5, 2024, order ORD-1234, for $42.50. \
                It is an emergency!";
    check(
        &extraction(schema, text),
        &expect![[
            r#"{"customer_name":"Ada Lovelace","email":"ada@example.org","order_id":"ORD-1234","order_date":"2024-03-05","total_amount":42.5,"currency":"USD","priority":"urgent","items":3,"gift_wrap":false} [stop]"#
        ]],
    );
}

#[test]
fn json_without_a_schema_is_like_the_example() {
    let mut request = with_rules(
        r#"Reply as {"sentiment": "positive|negative", "email": "x"}"#,
        "I love it. ada@example.org",
    );
    request.format = Format::Json;
    check(&request, &expect![[r#"{"sentiment":"positive","email":"ada@example.org"} [stop]"#]]);
    let mut request = ask("m", "hello");
    request.format = Format::Json;
    check(&request, &expect![[r#"{"answer":"You said: hello"} [stop]"#]]);
}

#[test]
fn a_tool_is_called_when_the_text_is_about_what_it_does() {
    let mut request = ask("m", "What is the weather in Paris in celsius?");
    request.tools = vec![refund(), weather()];
    check(&request, &expect![[r#"get_weather({"city":"Paris","unit":"celsius"}) [tool_calls]"#]]);
    let mut request = ask("m", "Tell me a story about a dragon");
    request.tools = vec![refund(), weather()];
    check(&request, &expect!["You said: Tell me a story about a dragon [stop]"]);
}

#[test]
fn several_things_asked_for_are_several_calls_if_that_is_allowed() {
    let mut request = ask("m", "Get the weather in Paris and Rome");
    request.tools = vec![weather()];
    check(&request, &expect![[r#"get_weather({"city":"Paris"}) get_weather({"city":"Rome"}) [tool_calls]"#]]);
    request.parallel_tool_calls = Some(false);
    check(&request, &expect![[r#"get_weather({"city":"Paris"}) [tool_calls]"#]]);
    let mut request = ask("m", "Check the weather in Oslo and refund order ORD-77 with an amount of 12.50");
    request.tools = vec![weather(), refund()];
    check(
        &request,
        &expect![[
            r#"get_weather({"city":"Oslo"}) refund_order({"order_id":"ORD-77","amount":12.5}) [tool_calls]"#
        ]],
    );
}

#[test]
fn the_tool_choice_is_obeyed() {
    let mut request = ask("m", "Good morning");
    request.tools = vec![weather(), refund()];
    request.tool_choice = Some(ToolChoice::Tool("refund_order".into()));
    assert!(told(&request).starts_with("refund_order({"), "{}", told(&request));
    request.tool_choice = Some(ToolChoice::Required);
    assert!(told(&request).ends_with("[tool_calls]"), "{}", told(&request));
    let mut request = ask("m", "What is the weather in Paris?");
    request.tools = vec![weather()];
    request.tool_choice = Some(ToolChoice::None);
    check(&request, &expect!["You said: What is the weather in Paris? [stop]"]);
}

#[test]
fn what_tools_gave_is_said_in_words() {
    let mut request = ask("m", "What is the weather in Paris?");
    request.tools = vec![weather()];
    let call = ToolCall { id: "call_1".into(), name: "get_weather".into(), arguments: "{}".into() };
    request.messages.push(Message { role: Role::Assistant, parts: vec![Part::ToolCall(call)] });
    let result =
        ToolResult { call: "call_1".into(), content: vec![Part::text("18 degrees, sunny")], failed: false };
    request.messages.push(Message { role: Role::User, parts: vec![Part::ToolResult(result)] });
    check(&request, &expect!["get_weather says: 18 degrees, sunny [stop]"]);
}

#[test]
fn calls_of_different_requests_have_different_ids() {
    let id = |text: &str| {
        let mut request = ask("m", text);
        request.tools = vec![weather()];
        match &answer(&request).unwrap().choices[0].parts[0] {
            Part::ToolCall(call) => call.id.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert_ne!(id("weather in Paris"), id("weather in Rome"));
    assert_eq!(id("weather in Paris"), id("weather in Paris"));
}

#[test]
fn stop_texts_and_the_room_are_honoured() {
    let mut request = ask("m", "one two STOP three");
    request.sampling.stop = vec!["three".into(), "STOP".into()];
    check(&request, &expect!["You said: one two  [stop_sequence]"]);
    assert_eq!(answer(&request).unwrap().choices[0].stop, Some(Stop::Sequence(Some("STOP".into()))));
    let mut request = ask("m", "one two three four five six");
    request.sampling.max_tokens = Some(4);
    check(&request, &expect!["You said: one [length]"]);
    assert_eq!(answer(&request).unwrap().usage.unwrap().output_tokens, 4);
}

#[test]
fn thinking_is_shown_and_counted_when_asked_for() {
    let mut request = ask("m", "Why?");
    request.reasoning =
        Some(Reasoning { effort: Some(wire::Effort::Low), budget_tokens: None, summary: None });
    check(&request, &expect!["<The user says: Why?. I answer from what I was told.> You said: Why? [stop]"]);
    let usage = answer(&request).unwrap().usage.unwrap();
    assert!(usage.reasoning_tokens > 0 && usage.reasoning_tokens < usage.output_tokens);
    request.reasoning =
        Some(Reasoning { effort: Some(wire::Effort::None), budget_tokens: None, summary: None });
    check(&request, &expect!["You said: Why? [stop]"]);
}

#[test]
fn as_many_answers_come_as_were_asked_for_and_all_are_paid() {
    let mut request = ask("m", "hello");
    let one = answer(&request).unwrap();
    request.choices = 3;
    let three = answer(&request).unwrap();
    assert_eq!(three.choices.len(), 3);
    assert_eq!(three.usage.unwrap().output_tokens, 3 * one.usage.unwrap().output_tokens);
}

#[test]
fn probabilities_have_a_place_for_every_token() {
    let mut request = ask("m", "hello there");
    request.sampling.logprobs = true;
    request.sampling.top_logprobs = Some(2);
    let answer = answer(&request).unwrap();
    let logprobs = answer.choices[0].logprobs.clone().unwrap();
    let content = logprobs["content"].as_array().unwrap();
    let said: String = content.iter().map(|entry| entry["token"].as_str().unwrap()).collect();
    assert_eq!(said, "You said: hello there");
    for entry in content {
        let top = entry["top_logprobs"].as_array().unwrap();
        assert_eq!((top.len(), &top[0]["token"]), (2, &entry["token"]));
        assert!(entry["logprob"].as_f64().unwrap() <= 0.0 && entry["bytes"].is_array());
    }
}

#[test]
fn a_model_called_error_fails_and_any_other_answers() {
    assert_eq!(answer(&ask("mock-error-429", "x")), Err(Failure { status: 429 }));
    assert_eq!(answer(&ask("mock-error-500", "x")), Err(Failure { status: 500 }));
    assert!(answer(&ask("mock-error-200", "x")).is_ok() && answer(&ask("mock-error-", "x")).is_ok());
}

#[test]
fn what_the_mock_answers_has_a_price() {
    for model in ["mock-small", "mock-large", "gpt-4o-mini"] {
        let usage = answer(&ask(model, &"hello ".repeat(100))).unwrap().usage.unwrap();
        assert!(crate::pricing::price(model).unwrap().cost(&usage).0 > 0, "{model}");
    }
}

#[test]
fn similar_texts_have_near_vectors() {
    let near = |a: &str, b: &str| {
        let (a, b) = (embed(a, 256), embed(b, 256));
        a.iter().zip(&b).map(|(a, b)| a * b).sum::<f32>()
    };
    let (same, other) = (
        near("my card was stolen", "the card I had was stolen"),
        near("my card was stolen", "weather in Rome"),
    );
    assert!(same > 0.6 && other < 0.3, "{same} {other}");
    assert!(near("transfer money", "tranfser money") > near("transfer money", "bake bread"));
}

fn pace_of(pace: Pace) -> Duration {
    pieces(&answer(&ask("m", &"word ".repeat(60))).unwrap(), pace).iter().map(|(pause, _)| *pause).sum()
}

#[test]
fn the_pace_is_realistic_but_short_or_none_at_all() {
    assert_eq!(pace_of(Pace::Instant), Duration::ZERO);
    let realistic = pace_of(Pace::Realistic);
    assert!(realistic > Duration::from_millis(100) && realistic < Duration::from_secs(1), "{realistic:?}");
}

/// Requests of all kinds.
pub(crate) fn any_request() -> impl Strategy<Value = Request> {
    let text = prop_oneof![
        "(?s).{0,80}",
        Just("What is the weather in Paris and Rome?".to_owned()),
        Just("Refund order ORD-1 of $3.50 to Ada Lovelace".to_owned()),
        Just("Classify as one of: a, b. Text: b it is".to_owned()),
    ];
    let flags = any::<[bool; 6]>();
    (text, flags, proptest::option::of(1..40u64), 1..3u32).prop_map(|(text, flags, max_tokens, choices)| {
        let [tools, json, thinking, logprobs, stop, schema] = flags;
        let mut request = ask("mock-small", &text);
        if tools {
            request.tools = vec![weather(), refund()];
        }
        if json {
            request.format = Format::Json;
        }
        if schema {
            let schema =
                json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"] });
            request.format = Format::Schema { name: "x".into(), description: None, schema, strict: None };
        }
        if thinking {
            request.reasoning =
                Some(Reasoning { effort: Some(wire::Effort::Low), budget_tokens: None, summary: None });
        }
        if stop {
            request.sampling.stop = vec!["said".into(), "e".into()];
        }
        request.sampling.logprobs = logprobs;
        request.sampling.max_tokens = max_tokens;
        request.choices = choices;
        request
    })
}

#[test]
fn an_answer_that_is_cut_after_its_thought_is_the_thought() {
    let mut request = ask("mock-small", "What is the weather in Paris and Rome?");
    request.reasoning =
        Some(Reasoning { effort: Some(wire::Effort::Low), budget_tokens: None, summary: None });
    request.sampling.max_tokens = Some(21);
    let answer = answer(&request).unwrap();
    assert!(matches!(&answer.choices[0].parts[..], [Part::Thinking { .. }]), "{answer:?}");
    let mut gather = Gather::default();
    pieces(&answer, Pace::Instant).iter().for_each(|(_, delta)| gather.take(delta));
    assert_eq!(gather.into_answer(), answer);
}

proptest! {
    #[test]
    fn the_same_request_gets_the_same_answer(request in any_request()) {
        prop_assert_eq!(answer(&request), answer(&request));
    }

    #[test]
    fn the_pieces_of_an_answer_are_the_answer(request in any_request()) {
        let answer = answer(&request).unwrap();
        let mut gather = Gather::default();
        for (_, delta) in pieces(&answer, Pace::Instant) {
            gather.take(&delta);
        }
        prop_assert!(gather.ended());
        prop_assert_eq!(gather.into_answer(), answer);
    }

    #[test]
    fn no_answer_is_longer_than_there_is_room_for(request in any_request()) {
        let answer = answer(&request).unwrap();
        for choice in &answer.choices {
            let tokens: u64 = choice.parts.iter().map(|part| match part {
                Part::Text { text, .. } | Part::Thinking { text, .. } => crate::tokens::rough(text),
                Part::ToolCall(call) => crate::tokens::rough(&call.arguments),
                _ => 0,
            }).sum();
            prop_assert!(tokens <= request.sampling.max_tokens.unwrap_or(u64::MAX));
            let text: String = choice.parts.iter().filter_map(Part::as_text).collect();
            prop_assert!(request.sampling.stop.iter().all(|stop| !text.contains(stop)));
        }
    }

    #[test]
    fn arguments_are_json_unless_there_was_no_room(mut request in any_request()) {
        request.sampling.max_tokens = None;
        for part in answer(&request).unwrap().choices.into_iter().flat_map(|choice| choice.parts) {
            if let Part::ToolCall(call) = part {
                prop_assert!(serde_json::from_str::<Map<String, Value>>(&call.arguments).is_ok());
            }
        }
    }

    #[test]
    fn vectors_have_length_one_and_as_many_places_as_asked_for(text in "(?s).{0,60}", dimensions in 1..600usize) {
        let vector = embed(&text, dimensions);
        prop_assert_eq!(vector.len(), dimensions);
        let length: f32 = vector.iter().map(|value| value * value).sum();
        prop_assert!((length - 1.0).abs() < 1e-3, "{}", length);
        prop_assert_eq!(vector, embed(&text, dimensions));
    }
}
