//! Errors cross wires: each client hears of an upstream's error in its own vendor's words.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use wire::{Failure, FailureKind, Wire};

/// What callers of each wire hear when an upstream of `wire` sends this.
#[track_caller]
fn check(wire: Wire, status: u16, body: &Value, expected: &Expect) {
    let failure = wire.read_error(status, body);
    let told = Wire::ALL.map(|wire| format!("{:9} {}", wire.as_str(), wire.write_error(&failure)));
    expected.assert_eq(&format!("{:?} {}\n{}", failure.kind, failure.status, told.join("\n")));
}

#[test]
fn an_anthropic_error_reaches_openai_clients_in_their_words() {
    let body = json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" }, "request_id": "req_1" });
    check(
        Wire::Messages,
        529,
        &body,
        &expect![[r#"
            Overloaded 529
            chat      {"error":{"message":"Overloaded","type":"server_error","param":null,"code":null,"request_id":"req_1"}}
            messages  {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}
            responses {"error":{"message":"Overloaded","type":"server_error","param":null,"code":null,"request_id":"req_1"}}"#]],
    );
}

#[test]
fn an_openai_error_reaches_anthropic_clients_in_their_words() {
    let body = json!({ "error": { "message": "Too long.", "type": "invalid_request_error", "param": "messages",
        "code": "context_length_exceeded" } });
    check(
        Wire::Chat,
        400,
        &body,
        &expect![[r#"
            Invalid 400
            chat      {"error":{"message":"Too long.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}
            messages  {"type":"error","error":{"type":"invalid_request_error","message":"Too long.","code":"context_length_exceeded","param":"messages"}}
            responses {"error":{"message":"Too long.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#]],
    );
    let body = json!({ "error": { "message": "No credit.", "type": "insufficient_quota", "param": null,
        "code": "insufficient_quota" } });
    check(
        Wire::Responses,
        429,
        &body,
        &expect![[r#"
            Billing 429
            chat      {"error":{"message":"No credit.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}
            messages  {"type":"error","error":{"type":"billing_error","message":"No credit.","code":"insufficient_quota"}}
            responses {"error":{"message":"No credit.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#]],
    );
}

#[test]
fn whatever_a_proxy_sends_there_is_an_error_with_words() {
    for (status, body, expected) in [
        (502, json!("Bad gateway"), "Bad gateway"),
        (500, json!({ "error": "boom" }), "boom"),
        (404, json!({ "detail": "Not Found" }), "Not Found"),
        (500, json!({ "message": "no", "code": 500 }), "no"),
        (500, json!(null), "the upstream answered with status 500"),
        (500, json!({ "error": { "message": "" } }), "the upstream answered with status 500"),
    ] {
        let failure = Wire::Chat.read_error(status, &body);
        assert_eq!((failure.message.as_str(), failure.status), (expected, status));
        assert_eq!(failure.kind, FailureKind::of_status(status));
    }
}

#[test]
fn the_status_is_believed_over_a_word_that_does_not_go_with_it() {
    let body = json!({ "error": { "type": "invalid_request_error", "message": "wrong key", "code": "invalid_api_key" } });
    assert_eq!(Wire::Chat.read_error(401, &body).kind, FailureKind::Unauthenticated);
    assert_eq!(Wire::Chat.read_error(429, &body).kind, FailureKind::RateLimited);
    let body = json!({ "error": { "type": "overloaded_error", "message": "busy" } });
    assert_eq!(Wire::Messages.read_error(500, &body).kind, FailureKind::Overloaded);
    assert_eq!(Wire::Messages.read_error(400, &body).kind, FailureKind::Invalid);
}

#[test]
fn every_status_of_a_vendor_has_its_own_word_and_comes_back_as_it() {
    let words = [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (402, "billing_error"),
        (403, "permission_error"),
        (404, "not_found_error"),
        (409, "conflict_error"),
        (413, "request_too_large"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (504, "timeout_error"),
        (529, "overloaded_error"),
    ];
    for (status, word) in words {
        let kind = FailureKind::of_status(status);
        assert_eq!((kind.messages_word(), kind.status(Wire::Messages)), (word, status));
        assert_eq!(FailureKind::of_word(word), Some(kind));
        let failure = Failure::new(Wire::Messages, kind, "no");
        assert_eq!(Wire::Messages.read_error(status, &Wire::Messages.write_error(&failure)), failure);
    }
}

#[test]
fn an_error_within_a_stream_is_a_frame_of_the_wire() {
    let mut failure = Failure::new(Wire::Chat, FailureKind::Timeout, "it took too long");
    failure.extra.insert("runId".to_owned(), json!("run_1"));
    let told = Wire::ALL.map(|wire| {
        let mut frame = Vec::new();
        wire.write_error_frame(&failure, &mut frame);
        String::from_utf8(frame).unwrap()
    });
    expect![[r#"
        data: {"error":{"message":"it took too long","type":"server_error","param":null,"code":null,"runId":"run_1"}}

        event: error
        data: {"type":"error","error":{"type":"timeout_error","message":"it took too long","runId":"run_1"}}

        event: error
        data: {"type":"error","code":"server_error","message":"it took too long","param":null,"runId":"run_1","error":{"message":"it took too long","type":"server_error","param":null,"code":null,"runId":"run_1"}}

    "#]]
    .assert_eq(&told.concat());
}
