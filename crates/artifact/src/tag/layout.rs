//! The object that pieces of a text make: what each is read as, and what is said where there is none.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::normal::Read;

/// How pieces become an object.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Layout {
    /// What fields say that are not found, or are no pieces of the input. A field that is neither found nor here is left out.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub otherwise: Map<String, Value>,
    /// What the pieces of a field are read as, where they are not told as they are.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reads: BTreeMap<String, Read>,
}

impl Layout {
    /// Whether it says nothing.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// What the pieces of `field` are read as.
    #[must_use]
    pub fn read(&self, field: &str) -> Read {
        self.reads.get(field).copied().unwrap_or(Read::Text)
    }

    /// An object of `pieces`, each a field and its text: a list where a field is there twice, and what is said otherwise where it is
    /// not there at all. `None`: a piece is not what it should be read as.
    #[must_use]
    pub fn object<'a>(&self, pieces: impl Iterator<Item = (&'a str, &'a str)>) -> Option<Map<String, Value>> {
        let mut found: Map<String, Value> = Map::new();
        for (field, piece) in pieces {
            let piece = self.read(field).apply(piece)?;
            match found.get_mut(field) {
                None => drop(found.insert(field.to_owned(), piece)),
                Some(Value::Array(pieces)) => pieces.push(piece),
                Some(one) => *one = Value::Array(vec![one.take(), piece]),
            }
        }
        let mut object = self.otherwise.clone();
        object.extend(found);
        Some(object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_found_is_read_and_takes_the_place_of_what_is_said_otherwise() {
        let layout =
            json!({ "otherwise": { "intent": "play", "artist": null }, "reads": { "count": "number" } });
        let layout: Layout = serde_json::from_value(layout).unwrap();
        let pieces = [("artist", "Ann"), ("song", "Blue"), ("song", "Red"), ("count", "1,200")];
        assert_eq!(
            Value::Object(layout.object(pieces.into_iter()).unwrap()).to_string(),
            r#"{"intent":"play","artist":"Ann","song":["Blue","Red"],"count":1200}"#
        );
        assert_eq!(layout.object([("count", "many")].into_iter()), None);
    }
}
