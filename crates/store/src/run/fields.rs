//! The fields that the row of a run keeps: few, and known beforehand.
//!
//! Every run makes one, so they lie side by side, found by their place in [`KEPT`]: no name is copied and none is hashed.

use std::fmt;
use std::ops::Index;

use ledger::Event;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// Whom a run is about.
pub(crate) const SUBJECT: &str = "subject";

/// Which fields of the first and the last event of a run its row keeps. Rows that are kept have their places in them: new
/// ones are added at the end, and none is ever taken away.
pub(crate) const KEPT: [&str; 26] = [
    "kind",
    "app",
    "agent",
    SUBJECT,
    "gatewayMode",
    "model",
    "status",
    "route",
    "costMicroUsd",
    "savedMicroUsd",
    "inputTokens",
    "outputTokens",
    "latencyMs",
    "provider",
    "upstream",
    "wire",
    "stream",
    "keyId",
    "errorCode",
    "ghostRoute",
    "ghostSavedMicroUsd",
    "savedMs",
    "cacheReadTokens",
    "cacheWriteTokens",
    "reasoningTokens",
    "usageEstimated",
];

/// The fields of a run's row, by their names.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunFields(Box<[Option<Value>; KEPT.len()]>);

/// Where a field is in [`KEPT`]. Every field of every run is asked for: the compiler makes better of this than a search does.
pub(crate) fn place(name: &str) -> Option<usize> {
    Some(match name {
        "kind" => 0,
        "app" => 1,
        "agent" => 2,
        "subject" => 3,
        "gatewayMode" => 4,
        "model" => 5,
        "status" => 6,
        "route" => 7,
        "costMicroUsd" => 8,
        "savedMicroUsd" => 9,
        "inputTokens" => 10,
        "outputTokens" => 11,
        "latencyMs" => 12,
        "provider" => 13,
        "upstream" => 14,
        "wire" => 15,
        "stream" => 16,
        "keyId" => 17,
        "errorCode" => 18,
        "ghostRoute" => 19,
        "ghostSavedMicroUsd" => 20,
        "savedMs" => 21,
        "cacheReadTokens" => 22,
        "cacheWriteTokens" => 23,
        "reasoningTokens" => 24,
        "usageEstimated" => 25,
        _ => return None,
    })
}

impl RunFields {
    /// The field of this name, if the run has said it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0[place(name)?].as_ref()
    }

    /// All of them, by their places.
    pub(crate) fn by_place(&self) -> [Option<&Value>; KEPT.len()] {
        self.0.each_ref().map(Option::as_ref)
    }

    /// Keeps a value at a place, if there is such a place: another release may keep more.
    pub(crate) fn put(&mut self, place: usize, value: Value) {
        if let Some(field) = self.0.get_mut(place) {
            *field = Some(value);
        }
    }

    /// Keeps a value under a name, if rows keep that at all.
    pub(super) fn set(&mut self, name: &str, value: Value) {
        if let Some(place) = place(name) {
            self.0[place] = Some(value);
        }
    }

    /// Keeps nothing under a name.
    pub(super) fn remove(&mut self, name: &str) {
        if let Some(place) = place(name) {
            self.0[place] = None;
        }
    }

    /// Keeps what an event discloses.
    pub(super) fn learn(&mut self, event: &Event) {
        for (name, field) in event.payload.iter() {
            if let (Some(place), Some(value)) = (place(name), field.value()) {
                self.0[place] = Some(value.clone());
            }
        }
    }

    fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        KEPT.into_iter().zip(&*self.0).filter_map(|(name, value)| Some((name, value.as_ref()?)))
    }
}

impl Index<&str> for RunFields {
    type Output = Value;

    /// The field of this name, or null, as for an object of JSON.
    fn index(&self, name: &str) -> &Value {
        self.get(name).unwrap_or(&Value::Null)
    }
}

impl Serialize for RunFields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for RunFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = RunFields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the fields of a run")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RunFields, A::Error> {
                let mut fields = RunFields::default();
                while let Some(name) = map.next_key::<std::borrow::Cow<'de, str>>()? {
                    match place(&name) {
                        Some(place) => fields.0[place] = Some(map.next_value()?),
                        // Of a release that keeps more.
                        None => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(fields)
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    proptest! {
        #[test]
        fn what_is_kept_reads_back_and_looks_like_an_object(
            values in prop::collection::hash_map(0..KEPT.len(), prop::option::of("[a-z\"\\\\]{0,5}"), 0..KEPT.len()),
        ) {
            let (mut fields, mut object) = (RunFields::default(), serde_json::Map::new());
            for (place, value) in values {
                fields.set(KEPT[place], json!(value));
                object.insert(KEPT[place].to_owned(), json!(value));
            }
            prop_assert_eq!(serde_json::to_value(&fields).unwrap(), Value::Object(object));
            let text = serde_json::to_string(&fields).unwrap();
            prop_assert_eq!(serde_json::from_str::<RunFields>(&text).unwrap(), fields);
        }
    }

    #[test]
    fn every_name_is_in_its_place() {
        assert!(KEPT.iter().enumerate().all(|(at, name)| place(name) == Some(at)));
        assert_eq!(place("of tomorrow"), None);
    }

    #[test]
    fn what_nobody_keeps_is_passed_over() {
        let fields: RunFields =
            serde_json::from_value(json!({ "of tomorrow": [1], "model": "small" })).unwrap();
        assert_eq!((fields.get("model"), fields.get("of tomorrow")), (Some(&json!("small")), None));
    }
}
