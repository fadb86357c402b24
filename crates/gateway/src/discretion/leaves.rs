//! Every text in a JSON value, in an order that stays the same while a conversation grows.

use serde_json::{Map, Number, Value};

/// What comes before all else: it stays the same from turn to turn, and so should the numbers of what is found in it.
const FIRST: [&str; 3] = ["system", "instructions", "tools"];
/// Members that name something, by the words of the vendors' wires.
const NAMING: [&str; 9] = [
    "id",
    "tool_call_id",
    "call_id",
    "tool_use_id",
    "item_id",
    "previous_response_id",
    "response_id",
    "signature",
    "encrypted_content",
];
/// What the names begin with that the vendors give.
const GIVEN: [&str; 12] = [
    "call_",
    "toolu_",
    "msg_",
    "resp_",
    "chatcmpl-",
    "fc_",
    "rs_",
    "srvtoolu_",
    "item_",
    "run_",
    "ctc_",
    "mcp_",
];

/// How a text is written where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// As it is.
    Plain,
    /// As JSON inside a text, so what is put into it must be escaped.
    Json,
    /// As a thought that its vendor has signed: it must not change on the way to the vendor.
    Sealed,
}

/// Where a text stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Leaf<'n> {
    /// The name of the member that it is the value of; empty where it has none.
    pub(crate) name: &'n str,
    pub(crate) spelling: Spelling,
}

/// Visits every text of a value that is called `name`, names of members included. What only names something is left out.
pub(crate) fn each_text(value: &mut Value, name: &str, visit: &mut impl FnMut(&mut String, Leaf<'_>)) {
    match value {
        Value::Object(members) => {
            for name in FIRST {
                if has(members, name)
                    && let Some(member) = members.get_mut(name)
                {
                    inner(member, name, Spelling::Plain, visit);
                }
            }
            names(members, visit);
            for (name, member) in members.iter_mut().filter(|(name, _)| !FIRST.contains(&name.as_str())) {
                inner(member, name, Spelling::Plain, visit);
            }
        }
        other => inner(other, name, Spelling::Plain, visit),
    }
}

fn inner(value: &mut Value, name: &str, around: Spelling, visit: &mut impl FnMut(&mut String, Leaf<'_>)) {
    match value {
        Value::String(text) if names_something(name, text) => {}
        Value::String(text) => {
            let json = name == "arguments" || name == "partial_json";
            visit(text, Leaf { name, spelling: if json { Spelling::Json } else { around } });
        }
        Value::Array(items) => items.iter_mut().for_each(|item| inner(item, name, around, visit)),
        Value::Object(members) => {
            let around = if is_sealed(members) { Spelling::Sealed } else { around };
            let media = is_media(members);
            names(members, visit);
            for (name, member) in members.iter_mut().filter(|(name, _)| !(media && *name == "data")) {
                inner(member, name, around, visit);
            }
        }
        Value::Number(number) if is_long(number) => {
            let mut text = number.to_string();
            visit(&mut text, Leaf { name, spelling: around });
            if text != number.to_string() {
                *value = Value::String(text);
            }
        }
        Value::Number(_) | Value::Null | Value::Bool(_) => {}
    }
}

/// The names of members are texts of the caller like any other.
fn names(members: &mut Map<String, Value>, visit: &mut impl FnMut(&mut String, Leaf<'_>)) {
    // What is no longer than any word is not looked at.
    if members.keys().all(|name| name.len() < 8) {
        return;
    }
    let (mut renamed, mut text) = (Vec::new(), String::new());
    for name in members.keys().filter(|name| name.len() >= 8) {
        text.clone_from(name);
        visit(&mut text, Leaf { name: "", spelling: Spelling::Plain });
        if text != *name {
            renamed.push((name.clone(), text.clone()));
        }
    }
    for (before, after) in renamed {
        if let Some(member) = members.remove(&before) {
            members.insert(after, member);
        }
    }
}

/// The bytes of a picture, a recording or a document: scanning them would find nothing but chance.
fn is_media(members: &Map<String, Value>) -> bool {
    let has_text = |name: &str| members.get(name).is_some_and(Value::is_string);
    has(members, "data")
        && has_text("data")
        && (has_text("media_type")
            || has_text("format")
            || members.get("type").is_some_and(|kind| kind == "base64"))
}

/// A thought that is worthless to its vendor when it changes.
fn is_sealed(members: &Map<String, Value>) -> bool {
    let seals = ["signature", "encrypted_content", "data"];
    let kind = || members.get("type").and_then(Value::as_str);
    seals.iter().any(|seal| has(members, seal))
        && matches!(kind(), Some("thinking" | "redacted_thinking" | "reasoning"))
}

/// Whether there is a member of this name. Nearly every object has a few only, and comparing their names is less than hashing one.
fn has(members: &Map<String, Value>, name: &str) -> bool {
    const FEW: usize = 16;
    if members.len() > FEW { members.contains_key(name) } else { members.keys().any(|there| there == name) }
}

/// Whether a number may be that of a card, which is one without quotes as well; what is shorter is more often a moment or an amount.
pub(super) fn is_long(number: &Number) -> bool {
    number.as_u64().is_some_and(|number| number >= 100_000_000_000_000)
}

/// Whether a text is a name that a vendor gave, or a picture, where such things stand.
fn names_something(name: &str, text: &str) -> bool {
    if NAMING.contains(&name) {
        let given = GIVEN.iter().any(|start| text.strip_prefix(start).is_some_and(|rest| rest.len() <= 64));
        let sealed = name == "signature" || name == "encrypted_content";
        return given || (sealed && text.len() > 100);
    }
    // Pictures and documents inside an address.
    matches!(name, "url" | "image_url" | "file_data" | "file_url") && text.starts_with("data:")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn texts(mut value: Value) -> Vec<(String, Spelling)> {
        let mut seen = Vec::new();
        each_text(&mut value, "", &mut |text, leaf| seen.push((text.clone(), leaf.spelling)));
        seen
    }

    #[test]
    fn what_stays_the_same_comes_first_and_names_are_left_out() {
        let seen = texts(json!({
            "messages": [
                { "role": "user", "content": "hello" },
                { "role": "assistant", "tool_calls": [{ "id": "call_abc", "function": { "arguments": "{\"a\":1}" } }] },
                { "role": "tool", "tool_call_id": "sk-not-a-name", "content": "x" },
            ],
            "system": "be brief",
        }));
        let words: Vec<&str> = seen.iter().map(|(text, _)| text.as_str()).collect();
        assert_eq!(words[0], "be brief");
        assert!(words.contains(&"sk-not-a-name") && !words.contains(&"call_abc"));
        assert!(seen.contains(&("{\"a\":1}".to_owned(), Spelling::Json)));
    }

    #[test]
    fn thoughts_that_are_signed_are_told_apart_and_large_numbers_are_texts() {
        let seen = texts(
            json!({ "a": { "type": "thinking", "thinking": "hm", "signature": "s" }, "b": 4_111_111_111_111_111u64, "c": 7 }),
        );
        assert!(seen.contains(&("hm".to_owned(), Spelling::Sealed)));
        assert!(seen.contains(&("4111111111111111".to_owned(), Spelling::Plain)));
        assert!(!seen.iter().any(|(text, _)| text == "7"));
    }

    #[test]
    fn pictures_are_left_out() {
        let seen = texts(json!([
            { "type": "base64", "media_type": "image/png", "data": "aGVsbG8gd29ybGQgaGVsbG8gd29ybGQ=" },
            { "image_url": { "url": "data:image/png;base64,aGVsbG8gd29ybGQgaGVsbG8gd29ybGQ=" } },
            { "data": "not a picture" },
        ]));
        let words: Vec<&str> = seen.iter().map(|(text, _)| text.as_str()).collect();
        assert_eq!(words, ["media_type", "base64", "image/png", "image_url", "not a picture"]);
    }

    #[test]
    fn a_member_may_be_renamed() {
        let mut value = json!({ "outer": { "sk-12345678": 1, "b": 2 } });
        each_text(&mut value, "", &mut |text, _| {
            if text.starts_with("sk-") {
                *text = "⟨secret:1⟩".to_owned();
            }
        });
        assert_eq!(value, json!({ "outer": { "⟨secret:1⟩": 1, "b": 2 } }));
    }
}
