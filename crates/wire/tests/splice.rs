//! A caller's bytes with a few members changed.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use wire::splice::with_fields;

fn spliced(body: &str, edits: &[(&str, Option<Value>)]) -> String {
    String::from_utf8(with_fields(body.as_bytes(), edits).unwrap()).unwrap()
}

#[test]
fn only_the_named_member_changes() {
    let body = "{ \"model\" : \"a\",\n  \"seed\": 1e2, \"text\": \"\\u00e9\" }\n";
    let expected = body.replace("\"a\"", "\"b/c\"");
    assert_eq!(spliced(body, &[("model", Some(json!("b/c")))]), expected);
}

#[test]
fn a_member_that_was_not_there_is_added() {
    let options = Some(json!({ "include_usage": true }));
    let expected = r#"{"stream":true,"stream_options":{"include_usage":true}}"#;
    assert_eq!(spliced(r#"{"stream":true}"#, &[("stream_options", options)]), expected);
    assert_eq!(spliced("{ }", &[("a", Some(json!(1)))]), "{\"a\":1 }");
}

#[test]
fn a_member_can_go() {
    let body = r#"{"a":1, "b":2, "c":3}"#;
    assert_eq!(spliced(body, &[("a", None)]), r#"{ "b":2, "c":3}"#);
    assert_eq!(spliced(body, &[("b", None)]), r#"{"a":1, "c":3}"#);
    assert_eq!(spliced(body, &[("c", None)]), r#"{"a":1, "b":2}"#);
    assert_eq!(spliced(body, &[("a", None), ("b", None), ("c", None), ("d", Some(json!(4)))]), r#"{"d":4}"#);
}

#[test]
fn a_member_said_twice_is_changed_twice() {
    let body = r#"{"model":"a","model":"b"}"#;
    assert_eq!(spliced(body, &[("model", Some(json!("c")))]), r#"{"model":"c","model":"c"}"#);
}

#[test]
fn what_is_no_object_is_refused() {
    for body in ["", "[]", "1", "{", "{}x", "{\"a\":}"] {
        assert!(with_fields(body.as_bytes(), &[("a", None)]).is_err(), "{body}");
    }
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-e\"]{1,2}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn it_does_what_setting_members_does(
        body in prop::collection::btree_map("[a-e\"]{1,2}", json_value(), 0..6),
        edits in prop::collection::btree_map("[a-e\"]{1,2}", prop::option::of(json_value()), 0..4),
        pretty in any::<bool>(),
    ) {
        let body: Map<String, Value> = body.into_iter().collect();
        let text = if pretty { serde_json::to_vec_pretty(&body) } else { serde_json::to_vec(&body) }.unwrap();
        let list: Vec<(&str, Option<Value>)> =
            edits.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        let out = with_fields(&text, &list).unwrap();
        let mut expected = body;
        for (name, value) in edits.clone() {
            match value {
                Some(value) => expected.insert(name, value),
                None => expected.shift_remove(&name),
            };
        }
        let found: Map<String, Value> = serde_json::from_slice(&out).unwrap();
        prop_assert_eq!(&found, &expected);
        if edits.is_empty() {
            prop_assert_eq!(out, text);
        }
    }
}
