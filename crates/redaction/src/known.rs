//! Values that are known to be secret, in every spelling they are likely to be told in.
//!
//! A value is looked for as it is and in base64 (whatever stands before it in the encoded text, in both alphabets), in hexadecimal, with percent
//! signs and with the escapes of JSON. The words that call are only the first few bytes of a spelling; the rest is compared here.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use crypto::Secret;

use crate::detector::{Class, View};
use crate::finding::{Candidate, Encoding, Rule};
use crate::scan::Seen;

/// Encoded spellings shorter than this would be found in any text.
const SHORTEST_ENCODED: usize = 8;

/// One way to write a value.
pub(crate) struct Spelling {
    bytes: Secret<Vec<u8>>,
    class: Class,
    rule: &'static str,
    encoding: Option<Encoding>,
}

impl Spelling {
    /// How the spelling begins: what calls for a look, in any case.
    pub(crate) fn beginning(&self) -> &[u8] {
        let bytes = self.bytes.expose();
        let end = bytes.iter().position(u8::is_ascii_whitespace).unwrap_or(bytes.len()).min(8);
        &bytes[..end]
    }

    pub(crate) fn look(&self, view: View<'_>) -> Seen {
        let bytes = self.bytes.expose();
        let there = &view.text[view.at..view.text.len().min(view.at + bytes.len())];
        let same = match self.encoding {
            Some(Encoding::Hex | Encoding::Url) => there.eq_ignore_ascii_case(&bytes[..there.len()]),
            _ => there == &bytes[..there.len()],
        };
        if !same {
            return Seen::Nothing;
        }
        if there.len() < bytes.len() {
            return Seen::Wait;
        }
        let mut range = view.at..view.at + bytes.len();
        let in_run: fn(&u8) -> bool = match self.encoding {
            Some(Encoding::Base64) => |byte| byte.is_ascii_alphanumeric() || b"+/-_=".contains(byte),
            Some(Encoding::Hex) => u8::is_ascii_hexdigit,
            _ => |_| false,
        };
        range.start -= view.text[..range.start].iter().rev().take_while(|byte| in_run(byte)).count();
        range.end += view.text[range.end..].iter().take_while(|byte| in_run(byte)).count();
        if self.encoding.is_some()
            && range.end == view.text.len()
            && !view.ended
            && range.end < view.at + crate::LOOK_AHEAD
        {
            return Seen::Wait;
        }
        Seen::Found(vec![Candidate {
            range,
            class: self.class,
            rule: Rule::BuiltIn(self.rule),
            encoding: self.encoding,
        }])
    }
}

/// Every spelling of a value that is looked for.
pub(crate) fn spellings(value: &str) -> Vec<Spelling> {
    let value = value.trim();
    let mut all: Vec<(Vec<u8>, Option<Encoding>)> = vec![(value.as_bytes().to_vec(), None)];
    let mut add = |bytes: Vec<u8>, encoding| {
        if bytes.len() >= SHORTEST_ENCODED && !all.iter().any(|(known, _)| *known == bytes) {
            all.push((bytes, Some(encoding)));
        }
    };
    for before in 0..3 {
        add(aligned(value.as_bytes(), before, &STANDARD_NO_PAD), Encoding::Base64);
        add(aligned(value.as_bytes(), before, &URL_SAFE_NO_PAD), Encoding::Base64);
    }
    add(hex::encode(value).into_bytes(), Encoding::Hex);
    add(percent(value, |byte| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte)), Encoding::Url);
    add(
        percent(value, |byte| byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:@/?".contains(&byte)),
        Encoding::Url,
    );
    add(percent(value, |_| false), Encoding::Url);
    for level in 1..=2 {
        add(escaped(value, level).into_bytes(), Encoding::Escaped);
    }
    all.into_iter()
        .filter(|(bytes, _)| !bytes.is_empty())
        .map(|(bytes, encoding)| Spelling {
            bytes: Secret::new(bytes),
            class: Class::Known,
            rule: "known",
            encoding,
        })
        .collect()
}

/// The characters of base64 that depend on `value` alone when `before` bytes stand before it.
pub(crate) fn aligned(value: &[u8], before: usize, engine: &base64::engine::GeneralPurpose) -> Vec<u8> {
    let mut padded = vec![0; before];
    padded.extend_from_slice(value);
    let encoded = engine.encode(&padded).into_bytes();
    // A character holds six bits: the first ones are shared with what stands before, the last one with what follows.
    let first = (before * 8).div_ceil(6);
    let last = padded.len() * 8 / 6;
    encoded.get(first..last).unwrap_or_default().to_vec()
}

fn percent(value: &str, plain: fn(u8) -> bool) -> Vec<u8> {
    let mut out = Vec::new();
    for byte in value.bytes() {
        if plain(byte) {
            out.push(byte);
        } else {
            out.extend_from_slice(format!("%{byte:02X}").as_bytes());
        }
    }
    out
}

/// The value inside a JSON string, or inside one inside another.
fn escaped(value: &str, levels: usize) -> String {
    let mut text = value.to_owned();
    for _ in 0..levels {
        text = text
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n")
            .replace('\r', "\\r")
            .replace('\t', "\\t");
    }
    text
}
