//! What every wire must keep when it meets another: each promise here was broken by somebody before.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod any;

use any::{deltas, gathered, stamp, streamed, written};
use proptest::prelude::*;
use schema::Usage;
use serde_json::{Value, json};
use wire::{
    Answer, Delta, ImageSource, Message, Part, Piece, Request, Role, Sampling, Stop, Tool, ToolCall,
    ToolResult, Wire,
};

/// Every wire that a vendor may speak with every wire that a caller may.
fn pairs() -> impl Iterator<Item = (Wire, Wire)> {
    Wire::ALL.into_iter().flat_map(|from| Wire::ALL.map(|to| (from, to)))
}

/// The answer as a caller hears it whose wire is `to`, from a vendor whose wire is `from`.
fn across(from: Wire, to: Wire, answer: &Answer) -> Answer {
    let vendor = from.write_answer(answer, &stamp());
    to.read_answer(&to.write_answer(&from.read_answer(&vendor).unwrap(), &stamp())).unwrap()
}

/// The same as a stream.
fn across_streamed(from: Wire, to: Wire, answer: &Answer) -> Answer {
    let vendor = deltas(from, &streamed(from, answer)).unwrap();
    gathered(&deltas(to, &written(to, &vendor)).unwrap())
}

fn nameless(mut answer: Answer) -> Answer {
    answer.id = None;
    answer
}

proptest! {
    // Each case goes through nine pairs of wires.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn an_answer_is_the_same_on_both_sides_of_every_pair(answer in any::common_answer()) {
        for (from, to) in pairs() {
            prop_assert_eq!(&nameless(across(from, to, &answer)), &answer, "{:?} to {:?}", from, to);
        }
    }

    #[test]
    fn a_stream_is_the_same_on_both_sides_of_every_pair(answer in any::common_answer()) {
        for (from, to) in pairs() {
            prop_assert_eq!(&nameless(across_streamed(from, to, &answer)), &answer, "{:?} to {:?}", from, to);
        }
    }

    #[test]
    fn nothing_panics_on_any_wire_whatever_is_sent(
        request in any::messages_request(), answer in any::common_answer(), at in any::<prop::sample::Index>(),
        new in any::any_json(),
    ) {
        let changed = |mut value: Value| {
            let mut nth = at.index(any::count(&value));
            any::replace(&mut value, &mut nth, &new);
            value
        };
        for (from, to) in pairs() {
            let Ok(translated) = from.write_request(&request) else { continue };
            if let Ok(request) = from.read_request(&changed(translated.body)) {
                let _ = to.write_request(&request);
            }
            if let Ok(answer) = from.read_answer(&changed(from.write_answer(&answer, &stamp()))) {
                let _ = to.write_answer(&answer, &stamp());
                let _ = written(to, &answer.deltas());
            }
        }
    }
}

fn usage() -> Usage {
    Usage {
        input_tokens: 1310,
        output_tokens: 42,
        cache_read_tokens: 1000,
        reasoning_tokens: 40,
        ..Usage::default()
    }
}

/// Complaint: spend reads zero, as the usage of streams is lost.
#[test]
fn streamed_usage_arrives_on_every_pair() {
    let answer = any::answer(vec![Part::text("Yes.")], Stop::End, usage());
    for (from, to) in pairs() {
        assert_eq!(across_streamed(from, to, &answer).usage, Some(usage()), "{from:?} to {to:?}");
    }
}

/// Complaint: with the vendor's caching on, tokens are counted twice or not at all.
#[test]
fn cached_tokens_are_counted_once_on_every_pair() {
    let body = json!({ "id": "msg_1", "model": "m", "content": [], "stop_reason": "end_turn", "usage": {
        "input_tokens": 10, "cache_read_input_tokens": 1000, "cache_creation_input_tokens": 300, "output_tokens": 2,
    } });
    let answer = Wire::Messages.read_answer(&body).unwrap();
    assert_eq!(answer.usage.unwrap().input_tokens, 1310);
    for to in Wire::ALL {
        let heard = to.read_answer(&to.write_answer(&answer, &stamp())).unwrap().usage.unwrap();
        assert_eq!((heard.input_tokens, heard.cache_read_tokens), (1310, 1000), "{to:?}");
        let back = Wire::Messages.write_answer(&Answer { usage: Some(heard), ..answer.clone() }, &stamp());
        let told = |name: &str| back["usage"][name].as_u64().unwrap();
        let all =
            told("input_tokens") + told("cache_read_input_tokens") + told("cache_creation_input_tokens");
        assert_eq!(all, 1310, "{to:?}");
    }
}

/// Complaint: arguments of tool calls are dropped or land in another call when streams are translated.
#[test]
fn arguments_of_parallel_calls_stay_with_their_call_on_every_pair() {
    let call = |index: u32, id: &str| Delta::Piece {
        choice: 0,
        piece: Piece::Call { index, id: id.into(), name: id.into() },
    };
    let more = |index: u32, json: &str| Delta::Piece {
        choice: 0,
        piece: Piece::Arguments { index, json: json.into() },
    };
    let stream = [
        Delta::Start { id: None, model: "model".into() },
        Delta::Piece { choice: 0, piece: Piece::Text("Both.".into()) },
        call(0, "call_a"),
        more(0, "{\"a\""),
        call(1, "call_b"),
        more(1, "{\"b\""),
        call(2, "call_c"),
        more(0, ":1}"),
        more(2, "{}"),
        more(1, ":2}"),
        Delta::Stop { choice: 0, stop: Stop::ToolCalls },
        Delta::Usage(usage()),
        Delta::End,
    ];
    let whole = |id: &str, arguments: &str| {
        Part::ToolCall(ToolCall { id: id.into(), name: id.into(), arguments: arguments.into() })
    };
    let expected = vec![
        Part::text("Both."),
        whole("call_a", "{\"a\":1}"),
        whole("call_b", "{\"b\":2}"),
        whole("call_c", "{}"),
    ];
    for (from, to) in pairs() {
        let vendor = deltas(from, &written(from, &stream)).unwrap();
        let heard = gathered(&deltas(to, &written(to, &vendor)).unwrap());
        assert_eq!(heard.choices[0].parts, expected, "{from:?} to {to:?}");
        assert_eq!(heard.choices[0].stop, Some(Stop::ToolCalls));
    }
}

/// Two answers were asked for, one is finished, and of the other there is nothing yet that could be handed on.
#[test]
fn an_answer_that_has_only_begun_keeps_the_others_from_looking_like_all() {
    let silent = [r#"{"role":"assistant"}"#, r#"{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]}"#];
    for begun in silent {
        let stream = format!(
            "data: {{\"id\":\"c\",\"model\":\"m\",\"choices\":[{{\"index\":1,\"delta\":{begun}}}]}}\n\n\
             data: {{\"id\":\"c\",\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"Hi\"}},\"finish_reason\":\"stop\"}}]}}\n\n"
        );
        let heard = deltas(Wire::Chat, stream.as_bytes()).unwrap();
        assert!(!heard.contains(&Delta::End), "{heard:?}");
        let again = deltas(Wire::Chat, &written(Wire::Chat, &heard)).unwrap();
        assert!(!again.contains(&Delta::End), "{again:?}");
    }
}

/// Complaint: a stream that breaks midway ends cleanly and hides the cut.
#[test]
fn a_stream_that_is_cut_off_or_fails_never_ends_cleanly_on_any_pair() {
    let answer = any::answer(vec![Part::text("one two three four five six seven")], Stop::End, usage());
    for (from, to) in pairs() {
        let whole = answer.deltas();
        let cut = &whole[..3];
        assert!(matches!(cut, [Delta::Start { .. }, Delta::Piece { .. }, Delta::Piece { .. }]));
        let vendor = deltas(from, &written(from, cut)).unwrap();
        assert!(!vendor.contains(&Delta::End), "{from:?}");
        assert!(!deltas(to, &written(to, &vendor)).unwrap().contains(&Delta::End), "{from:?} to {to:?}");

        let error = Delta::Error { kind: "overloaded_error".into(), message: "busy".into() };
        let failed: Vec<Delta> = cut.iter().cloned().chain([error, Delta::End]).collect();
        let vendor = deltas(from, &written(from, &failed)).unwrap();
        let heard = deltas(to, &written(to, &vendor)).unwrap();
        assert!(!heard.contains(&Delta::End), "{from:?} to {to:?}");
        let told = |delta: &Delta| matches!(delta, Delta::Error { message, .. } if message == "busy");
        assert!(heard.iter().any(told), "{from:?} to {to:?}: {heard:?}");
    }
}

/// Complaint: thoughts lose their seal, and the vendor refuses the next turn.
#[test]
fn a_sealed_thought_comes_back_to_anthropic_through_a_responses_caller() {
    let thought = json!({ "type": "thinking", "thinking": "I should look.", "signature": "c2lnbmVk" });
    let call =
        json!({ "type": "tool_use", "id": "toolu_1", "name": "weather", "input": { "city": "Paris" } });
    let body = json!({ "id": "msg_1", "model": "m", "content": [thought, call], "stop_reason": "tool_use",
        "usage": { "input_tokens": 1, "output_tokens": 1 } });
    let answer = Wire::Messages.read_answer(&body).unwrap();
    let whole = Wire::Responses.write_answer(&answer, &stamp())["output"].clone();
    let events = any::events(&streamed(Wire::Responses, &answer));
    let streamed = events.last().unwrap().1["response"]["output"].clone();
    for output in [whole, streamed] {
        let mut input = vec![json!({ "type": "message", "role": "user", "content": "How warm is it?" })];
        input.extend(output.as_array().unwrap().iter().cloned());
        input.push(json!({ "type": "function_call_output", "call_id": "toolu_1", "output": "18 degrees" }));
        let next = json!({ "model": "claude-haiku-4-5", "input": input, "reasoning": { "effort": "low" } });
        let asked = Wire::Messages.write_request(&Wire::Responses.read_request(&next).unwrap()).unwrap().body;
        assert_eq!(asked["messages"][1]["content"], json!([thought, call]));
        // It may go on thinking, as its turn begins with a thought of its own.
        assert_eq!(asked["thinking"]["type"], "enabled");
    }
}

/// Complaint: one vendor's seal reaches another, who refuses it.
#[test]
fn a_seal_goes_only_to_the_vendor_that_set_it() {
    let item = json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA" });
    let user = json!({ "type": "message", "role": "user", "content": "Hi." });
    let next = json!({ "model": "claude-sonnet-4-5", "input": [user, item, { "type": "message", "role": "user", "content": "Go on." }] });
    let request = Wire::Responses.read_request(&next).unwrap();
    let asked = Wire::Messages.write_request(&request).unwrap();
    assert!(!asked.body.to_string().contains("gAAAA"));
    assert_eq!(asked.left_out, ["input.reasoning"]);
    assert!(Wire::Responses.write_request(&request).unwrap().body.to_string().contains("gAAAA"));
}

proptest! {
    // Each case goes through nine pairs of wires.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_request_says_the_same_to_every_vendor(request in any::common_request()) {
        for (from, to) in pairs() {
            let mut request = request.clone();
            request.wire = from;
            let asked = from.read_request(&from.write_request(&request).unwrap().body).unwrap();
            let translated = to.write_request(&asked).unwrap();
            prop_assert_eq!(&translated.left_out, &Vec::<String>::new(), "{:?} to {:?}", from, to);
            let heard = to.read_request(&translated.body).unwrap();
            prop_assert_eq!(said(&heard), said(&request), "{:?} to {:?}", from, to);
            prop_assert_eq!(&heard.tools, &request.tools, "{:?} to {:?}", from, to);
            prop_assert_eq!(&heard.tool_choice, &request.tool_choice, "{:?} to {:?}", from, to);
            prop_assert_eq!(&heard.format, &request.format, "{:?} to {:?}", from, to);
            prop_assert_eq!(&heard.user, &request.user, "{:?} to {:?}", from, to);
            prop_assert_eq!(heard.stream, request.stream);
            prop_assert_eq!(heard.sampling.temperature, request.sampling.temperature);
            prop_assert_eq!(heard.sampling.max_tokens, request.sampling.max_tokens);
        }
    }

    #[test]
    fn a_request_that_went_there_and_back_asks_the_same(request in any::common_request()) {
        for (from, to) in pairs() {
            let mut request = request.clone();
            request.wire = from;
            let asked = from.read_request(&from.write_request(&request).unwrap().body).unwrap();
            let there = to.read_request(&to.write_request(&asked).unwrap().body).unwrap();
            let back = from.read_request(&from.write_request(&there).unwrap().body).unwrap();
            prop_assert_eq!(said(&back), said(&asked), "{:?} to {:?}", from, to);
            let rest = |request: &Request| {
                let Sampling { temperature, max_tokens, .. } = request.sampling;
                let choice = (request.tools.clone(), request.tool_choice.clone(), request.parallel_tool_calls);
                (choice, request.format.clone(), request.user.clone(), request.stream, temperature, max_tokens)
            };
            prop_assert_eq!(rest(&back), rest(&asked), "{:?} to {:?}", from, to);
        }
    }

    #[test]
    fn an_answer_that_went_there_and_back_says_the_same(answer in any::common_answer()) {
        for (from, to) in pairs() {
            let back = across(to, from, &across(from, to, &answer));
            prop_assert_eq!(&nameless(back), &answer, "{:?} to {:?}", from, to);
            let back = across_streamed(to, from, &across_streamed(from, to, &answer));
            prop_assert_eq!(&nameless(back), &answer, "{:?} to {:?}, streamed", from, to);
        }
    }

    /// However an upstream cuts its words and calls into pieces, the caller puts the same together.
    #[test]
    fn a_stream_cut_anywhere_says_the_same_on_every_pair(
        answer in any::common_answer(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let mut stream = answer.deltas();
        for cut in cuts {
            any::cut(&mut stream, cut);
        }
        for (from, to) in pairs() {
            let vendor = deltas(from, &written(from, &stream)).unwrap();
            let heard = gathered(&deltas(to, &written(to, &vendor)).unwrap());
            prop_assert_eq!(&nameless(heard), &answer, "{:?} to {:?}", from, to);
        }
    }
}

/// Complaint: an answer that was cut short or filtered looks like one that was done.
#[test]
fn why_an_answer_ends_arrives_on_every_pair() {
    let call = ToolCall { id: "call_1".into(), name: "look".into(), arguments: "{}".into() };
    let ends = [
        (vec![Part::text("Yes.")], Stop::End),
        (vec![Part::text("Ye")], Stop::Length),
        (vec![Part::text("No.")], Stop::Filtered),
        (vec![Part::text("Look."), Part::ToolCall(call)], Stop::ToolCalls),
    ];
    for (parts, stop) in ends {
        let answer = any::answer(parts, stop.clone(), usage());
        for (from, to) in pairs() {
            for heard in [across(from, to, &answer), across_streamed(from, to, &answer)] {
                assert_eq!(heard.choices[0].stop, Some(stop.clone()), "{from:?} to {to:?}");
            }
        }
    }
}

/// Complaint: a tool's failure, or the picture it took, is lost on the way to another vendor without a word.
#[test]
fn what_a_tool_gave_arrives_or_is_named_on_every_pair() {
    let picture = Part::Image {
        source: ImageSource::Base64 { media_type: "image/png".into(), data: "iVBORw0KGgo".into() },
        detail: None,
    };
    let result = |content: Vec<Part>, failed: bool| {
        let call = ToolCall { id: "call_1".into(), name: "look".into(), arguments: "{}".into() };
        let mut request = Request::new(Wire::Messages, "model");
        request.sampling.max_tokens = Some(50);
        for (role, parts) in [
            (Role::User, vec![Part::text("Look.")]),
            (Role::Assistant, vec![Part::ToolCall(call)]),
            (Role::User, vec![Part::ToolResult(ToolResult { call: "call_1".into(), content, failed })]),
        ] {
            request.messages.push(Message { role, parts });
        }
        request.tools.push(Tool {
            name: "look".into(),
            description: None,
            parameters: Some(json!({ "type": "object" })),
            strict: None,
            cache_control: None,
        });
        request
    };
    for request in [
        result(vec![Part::text("18 degrees")], false),
        result(vec![Part::text("no such city")], true),
        result(vec![Part::text("A cat:"), picture], false),
    ] {
        for to in Wire::ALL {
            match to.write_request(&request) {
                Ok(translated) => {
                    let heard = said(&to.read_request(&translated.body).unwrap());
                    let told = heard == said(&request) || !translated.left_out.is_empty();
                    assert!(told || keeps_all(&translated.body, &request), "{to:?}: {}", translated.body);
                }
                Err(refused) => assert!(!refused.param.is_empty(), "{refused}"),
            }
        }
    }
}

/// Whether everything that was said is there, if in another place.
fn keeps_all(body: &Value, request: &Request) -> bool {
    let body = body.to_string();
    let results = request.messages.iter().flat_map(|message| &message.parts);
    let results = results.filter_map(|part| match part {
        Part::ToolResult(result) => Some(result),
        _ => None,
    });
    results.flat_map(|result| &result.content).all(|part| match part {
        Part::Text { text, .. } => body.contains(text.as_str()),
        Part::Image { source: ImageSource::Base64 { data, .. }, .. } => body.contains(data.as_str()),
        _ => false,
    })
}

/// What was said by whom: wires cut it into messages and parts as they need.
fn said(request: &Request) -> Vec<(Role, Vec<Part>)> {
    let mut turns: Vec<(Role, Vec<Part>)> = Vec::new();
    for message in &request.messages {
        match turns.last_mut() {
            Some((role, parts)) if *role == message.role => parts.extend(message.parts.iter().cloned()),
            _ => turns.push((message.role, message.parts.clone())),
        }
    }
    turns
}
