//! Changes to a caller's own bytes.

use std::fmt;
use std::ops::Range;

use serde::Deserializer as _;
use serde::de::{MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// Why a body cannot be changed in place.
#[derive(Debug, thiserror::Error)]
#[error("the body is not a JSON object")]
pub struct NotAnObject(#[source] Option<serde_json::Error>);

/// Sets (or, with `None`, removes) members of the object that `body` is, and leaves every other byte as it was.
///
/// A member that is there several times is changed everywhere: parsers do not agree on which one counts.
pub fn with_fields(body: &[u8], edits: &[(&str, Option<Value>)]) -> Result<Vec<u8>, NotAnObject> {
    let members = members(body)?;
    let open = body.iter().position(|byte| *byte == b'{').ok_or(NotAnObject(None))?;
    let mut out = Vec::with_capacity(body.len() + 64);
    out.extend_from_slice(&body[..=open]);
    let (mut from, mut kept) = (open + 1, false);
    for (name, value) in &members {
        let edit = edits.iter().find(|(edited, _)| edited == name).map(|(_, value)| value);
        // From the end of the member before: a comma, spaces, the name and a colon.
        let mut lead = body.get(from..value.start).unwrap_or_default();
        from = value.end;
        if edit == Some(&None) {
            continue;
        }
        if !kept && let Some(comma) = lead.iter().position(|byte| !byte.is_ascii_whitespace()) {
            // What was before it is gone, and its comma goes too.
            lead = if lead[comma] == b',' { &lead[comma + 1..] } else { lead };
        }
        kept = true;
        out.extend_from_slice(lead);
        match edit {
            Some(Some(new)) => out.extend_from_slice(new.to_string().as_bytes()),
            _ => out.extend_from_slice(body.get(value.clone()).unwrap_or_default()),
        }
    }
    for (name, value) in edits {
        if let Some(value) = value
            && !members.iter().any(|(member, _)| member == name)
        {
            let comma = if std::mem::replace(&mut kept, true) { "," } else { "" };
            out.extend_from_slice(format!("{comma}{}:{value}", Value::from(*name)).as_bytes());
        }
    }
    out.extend_from_slice(body.get(from..).unwrap_or_default());
    Ok(out)
}

/// The members of an object: their names, and where their values are.
fn members(body: &[u8]) -> Result<Vec<(String, Range<usize>)>, NotAnObject> {
    struct Members(usize);
    impl<'de> Visitor<'de> for Members {
        type Value = Vec<(String, Range<usize>)>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = Vec::new();
            while let Some((name, value)) = map.next_entry::<String, &'de RawValue>()? {
                // The value is borrowed from the body: where it is there is how far its address is from the body's.
                let start = value.get().as_ptr().addr() - self.0;
                members.push((name, start..start + value.get().len()));
            }
            Ok(members)
        }
    }
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let members = deserializer.deserialize_map(Members(body.as_ptr().addr()));
    let members = members.map_err(|error| NotAnObject(Some(error)))?;
    deserializer.end().map_err(|error| NotAnObject(Some(error)))?;
    Ok(members)
}
