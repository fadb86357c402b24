//! Segments as they are kept: JSON, with what every field repeats said in a few bytes.
//!
//! JSON has no bytes below a space in it, except between its parts, where ours has none. So three of them can stand for longer
//! texts: the salt before a value, with or without one of the names that the runtime gives to fields, and a digest. What has
//! none of them is as it was: a segment from before they were used reads the same.

use ledger::{Spot, Transcript};

/// A salt, and that its value follows.
const SALT: u8 = 1;
/// A digest.
const DIGEST: u8 = 2;
/// A name by its number, a salt, and that its value follows.
const NAMED: u8 = 3;

const BEFORE_SALT: &[u8] = b"{\"salt\":\"";
const BEHIND_SALT: &[u8] = b"\",\"value\":";

/// Names of fields. What is kept has their numbers in it: new ones are added at the end, and none is ever taken away.
const NAMES: [&str; 62] = [
    "agent",
    "answer",
    "app",
    "cacheBytes",
    "cacheExpiresAt",
    "cacheKey",
    "cacheReadTokens",
    "cacheWriteTokens",
    "costMicroUsd",
    "error",
    "errorCode",
    "explanation",
    "fault",
    "finishReason",
    "gatewayMode",
    "ghostRoute",
    "ghostSavedMicroUsd",
    "inputTokens",
    "key",
    "keyId",
    "kind",
    "latencyMs",
    "model",
    "outcome",
    "outputTokens",
    "provider",
    "reasoningTokens",
    "request",
    "route",
    "savedMicroUsd",
    "savedMs",
    "startedMs",
    "status",
    "stream",
    "subject",
    "tookMs",
    "traceId",
    "usageEstimated",
    "wire",
    "action",
    "context",
    "engine",
    "policies",
    "verdict",
    "upstream",
    "arguments",
    "tool",
    "toolName",
    "sideEffect",
    "result",
    "approval",
    "reason",
    "text",
    "name",
    "level",
    "payload",
    "metadata",
    "messages",
    "usage",
    "version",
    "id",
    "rating",
];

/// Where the numbers of names are looked for, in a table that is mostly empty: every field of every run is looked up.
static NUMBERS: [u8; 256] = numbers();

/// No number.
const NONE: u8 = u8::MAX;

const fn numbers() -> [u8; 256] {
    let (mut numbers, mut number) = ([NONE; 256], 0);
    while number < NAMES.len() {
        let mut at = place(NAMES[number].as_bytes());
        while numbers[at] != NONE {
            at = (at + 1) % 256;
        }
        numbers[at] = number as u8;
        number += 1;
    }
    numbers
}

/// Where the search for a name begins.
const fn place(name: &[u8]) -> usize {
    match name {
        [] => 0,
        [first, .., last] => {
            let middle = name[name.len() / 2] as usize;
            (name.len() * 3 + *first as usize * 5 + *last as usize * 17 + middle * 37) % 256
        }
        [only] => *only as usize,
    }
}

/// The number of a name.
fn number(name: &[u8]) -> Option<u8> {
    let mut at = place(name);
    loop {
        let number = NUMBERS[at];
        // There are fewer names than places, so an empty one is met.
        if NAMES.get(usize::from(number))?.as_bytes() == name {
            return Some(number);
        }
        at = (at + 1) % 256;
    }
}

/// A text as it is kept, of which it is known what stands where.
pub(super) fn pack_known(transcript: &Transcript) -> Vec<u8> {
    let text = transcript.text();
    // So much is saved at every spot, and usually more.
    let room = text.len().saturating_sub(transcript.spots().len() * 33);
    let (mut out, mut from) = (Vec::with_capacity(room), 0);
    for spot in transcript.spots() {
        match spot {
            Spot::Hash { at, hash } => {
                // `"HASH"`
                out.extend_from_slice(&text[from..at - 1]);
                push_digest(&mut out, hash.as_bytes());
                from = at + 65;
            }
            Spot::Field { name, at, salt } => {
                out.extend_from_slice(&text[from..*name]);
                // `"NAME":{"salt":"SALT","value":`
                let behind_name = at - BEFORE_SALT.len();
                let value = at + 32 + BEHIND_SALT.len();
                let named = &text[name + 1..behind_name - "\":".len()];
                match number(named) {
                    Some(number) => {
                        let mut said = [NAMED; 18];
                        said[1] = number;
                        said[2..].copy_from_slice(salt.as_bytes());
                        out.extend_from_slice(&said);
                    }
                    None => {
                        out.extend_from_slice(&text[*name..behind_name]);
                        out.push(SALT);
                        out.extend_from_slice(salt.as_bytes());
                    }
                }
                from = value;
                if let Some((digest, behind)) = digest(&text[value..]) {
                    push_digest(&mut out, &digest);
                    from = text.len() - behind.len();
                }
            }
        }
    }
    out.extend_from_slice(&text[from..]);
    out
}

fn push_digest(out: &mut Vec<u8>, digest: &[u8; 32]) {
    let mut said = [DIGEST; 33];
    said[1..].copy_from_slice(digest);
    out.extend_from_slice(&said);
}

/// The text as it is kept.
pub(super) fn pack(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(quote) = rest.iter().position(|byte| *byte == b'"') {
        let (before, from) = rest.split_at(quote);
        if let Some((salt, behind)) = salt(before, from) {
            out.extend_from_slice(&before[..quote - 1]);
            match name(&out) {
                Some((number, length)) => {
                    out.truncate(out.len() - length);
                    out.extend_from_slice(&[NAMED, number]);
                }
                None => out.push(SALT),
            }
            out.extend_from_slice(&salt);
            rest = behind;
        } else if let Some((digest, behind)) = digest(from) {
            out.extend_from_slice(before);
            out.push(DIGEST);
            out.extend_from_slice(&digest);
            rest = behind;
        } else {
            out.extend_from_slice(&rest[..=quote]);
            rest = &from[1..];
        }
    }
    out.extend_from_slice(rest);
    out
}

/// The salt whose name begins with the quote that `from` begins with, and what is behind it.
fn salt<'t>(before: &[u8], from: &'t [u8]) -> Option<([u8; 16], &'t [u8])> {
    let from = from.strip_prefix(&BEFORE_SALT[1..]).filter(|_| before.last() == Some(&b'{'))?;
    let (salt, from) = from.split_at_checked(32)?;
    Some((bytes(salt)?, from.strip_prefix(BEHIND_SALT)?))
}

/// The digest at the front, in quotes, and what is behind it.
fn digest(from: &[u8]) -> Option<([u8; 32], &[u8])> {
    let (digest, behind) = from.split_at_checked(66)?;
    (digest[0] == b'"' && digest[65] == b'"').then_some(())?;
    Some((bytes(&digest[1..65])?, behind))
}

/// The number of the name that the text ends with, as the name of a field, and how long that is.
fn name(text: &[u8]) -> Option<(u8, usize)> {
    let named = text.strip_suffix(b"\":")?;
    let quote = named.iter().rposition(|byte| *byte == b'"')?;
    Some((number(&named[quote + 1..])?, text.len() - quote))
}

/// What hexadecimal digits stand for, in small letters as they are always written.
fn bytes<const N: usize>(digits: &[u8]) -> Option<[u8; N]> {
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    let (pairs, _) = digits.as_chunks::<2>();
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = (value(*high)? << 4) | value(*low)?;
    }
    Some(bytes)
}

/// The text that is kept like this; nothing, if it is not what was written.
pub(super) fn unpack(kept: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(kept.len() * 2);
    let mut rest = kept;
    while let Some(place) = rest.iter().position(|byte| matches!(*byte, SALT | DIGEST | NAMED)) {
        out.extend_from_slice(&rest[..place]);
        let (mark, behind) = (rest[place], &rest[place + 1..]);
        rest = match mark {
            DIGEST => {
                let (digest, behind) = behind.split_at_checked(32)?;
                out.push(b'"');
                digits(&mut out, digest);
                out.push(b'"');
                behind
            }
            SALT => unpack_salt(&mut out, behind)?,
            _ => {
                let (number, behind) = behind.split_first()?;
                out.push(b'"');
                out.extend_from_slice(NAMES.get(usize::from(*number))?.as_bytes());
                out.extend_from_slice(b"\":");
                unpack_salt(&mut out, behind)?
            }
        };
    }
    out.extend_from_slice(rest);
    Some(out)
}

fn unpack_salt<'k>(out: &mut Vec<u8>, from: &'k [u8]) -> Option<&'k [u8]> {
    let (salt, behind) = from.split_at_checked(16)?;
    out.extend_from_slice(BEFORE_SALT);
    digits(out, salt);
    out.extend_from_slice(BEHIND_SALT);
    Some(behind)
}

fn digits(out: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.extend(
        bytes.iter().flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]),
    );
}

#[cfg(test)]
mod tests {
    use ledger::{Recorder, Salt};
    use proptest::prelude::*;
    use schema::{RunId, TenantId, Timestamp};
    use serde_json::{Value, json};

    use super::*;

    #[track_caller]
    fn comes_back(text: &[u8]) -> usize {
        let kept = pack(text);
        assert!(unpack(&kept).unwrap() == text, "{}", String::from_utf8_lossy(text));
        kept.len()
    }

    /// Whichever way it is packed.
    fn recorded(fields: Value) -> Vec<u8> {
        let mut recorder = Recorder::new(TenantId::NIL, RunId::from_bytes([1; 16]));
        let Value::Object(fields) = fields else { return Vec::new() };
        for number in 0..3 {
            recorder
                .append(Timestamp::EPOCH, "run.started", fields.clone(), || Salt::from_bytes([number; 16]))
                .unwrap();
        }
        let recorded = recorder.end();
        let text = recorded.to_text();
        let known = pack_known(recorded.transcript().unwrap());
        assert!(unpack(&known).unwrap() == text, "{}", String::from_utf8_lossy(&text));
        assert!(known.len() <= pack(&text).len() + 200, "what is known is found");
        text
    }

    #[test]
    fn events_are_kept_in_about_half_and_come_back_as_they_were() {
        let text = recorded(json!({
            "model": "small", "kind": "chat", "costMicroUsd": 7, "unknownName": null, "policies": ledger::sha256(b"a"),
            "inputTokens": 1, "outputTokens": 2, "status": "completed", "cacheReadTokens": 0,
        }));
        let kept = comes_back(&text);
        assert!(kept * 2 < text.len(), "{kept} of {}", text.len());
    }

    #[test]
    fn what_looks_like_it_and_is_not_comes_back_too() {
        let salt = "00112233445566778899aabbccddeeff";
        for text in [
            format!(r#"{{"salt":"{salt}","value":1}}"#),
            format!(r#"{{"salt":"{}","value":1}}"#, salt.to_uppercase()),
            format!(r#"{{"salt":"{salt}","other":1}}"#),
            format!(r#"[{{"salt":"{salt}"}}]"#),
            format!(r#""salt":"{salt}","value":1"#),
            format!(r#"{{"model":{{"salt":"{salt}","value":{{"salt":"{salt}","value":"\u0001"}}}}}}"#),
            format!(r#""{salt}{salt}""#),
            format!(r#""{salt}{salt}0""#),
            r#"{"model":"#.to_owned(),
            "\"\"\"".to_owned(),
            String::new(),
        ] {
            comes_back(text.as_bytes());
        }
    }

    #[test]
    fn names_have_one_number_each() {
        assert!(NAMES.iter().zip(0..).all(|(name, place)| number(name.as_bytes()) == Some(place)));
        assert_eq!([number(b""), number(b"x"), number(b"of tomorrow")], [None; 3]);
    }

    #[test]
    fn what_was_cut_off_in_a_mark_is_not_read() {
        for kept in
            [&[SALT][..], &[SALT, 1, 2], &[DIGEST; 20], &[NAMED], &[NAMED, 0, 1], &[NAMED; 40], &[NAMED, 255]]
        {
            assert_eq!(unpack(kept), None);
        }
    }

    proptest! {
        #[test]
        fn any_fields_come_back(
            fields in prop::collection::hash_map("[a-zA-Z\"\\\\\u{0}-\u{5}ä]{0,9}|model|status", "[ -~\u{0}-\u{1f}]{0,70}|[0-9a-f]{64}", 0..6),
        ) {
            let fields: serde_json::Map<_, _> =
                fields.into_iter().map(|(name, text)| (name, Value::from(text))).collect();
            comes_back(&recorded(Value::Object(fields)));
        }

        #[test]
        fn whatever_is_read_does_not_panic(kept in prop::collection::vec(prop_oneof![0..5u8, any::<u8>()], 0..200)) {
            let _ = unpack(&kept);
        }
    }
}
