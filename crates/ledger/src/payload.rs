//! The fields of an event, by name, in the order of their names.

use std::borrow::Cow;
use std::fmt;
use std::ops::Index;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::field::Field;

/// The name of a field. Punk's own are written down in its code, and cost no memory.
pub type Name = Cow<'static, str>;

/// The fields of an event. An event has few, so they lie side by side: one piece of memory, and a search by halves.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Payload(Vec<(Name, Field)>);

impl Payload {
    /// No field.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The field of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Field> {
        self.place(name).ok().map(|place| &self.0[place].1)
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Field> {
        self.place(name).ok().map(|place| &mut self.0[place].1)
    }

    /// Whether there is a field of this name.
    #[must_use]
    pub fn contains_key(&self, name: &str) -> bool {
        self.place(name).is_ok()
    }

    /// Puts a field in, and gives back the one that had the name.
    pub fn insert(&mut self, name: impl Into<Name>, field: Field) -> Option<Field> {
        let name = name.into();
        match self.place(&name) {
            Ok(place) => Some(std::mem::replace(&mut self.0[place].1, field)),
            Err(place) => {
                self.0.insert(place, (name, field));
                None
            }
        }
    }

    /// Takes all of them out.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The names.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &Name> {
        self.0.iter().map(|(name, _)| name)
    }

    /// The fields without their names.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &Field> {
        self.0.iter().map(|(_, field)| field)
    }

    /// All of them.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Name, &Field)> {
        self.0.iter().map(|(name, field)| (name, field))
    }

    /// All of them, to be changed; their names stay.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = (&Name, &mut Field)> {
        self.0.iter_mut().map(|(name, field)| (&*name, field))
    }

    fn place(&self, name: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(there, _)| (**there).cmp(name))
    }
}

impl Index<&str> for Payload {
    type Output = Field;

    /// The field of this name, which must be there: for tests, and for what has been looked up before.
    fn index(&self, name: &str) -> &Field {
        &self.0[self.place(name).unwrap_or(usize::MAX)].1
    }
}

impl<N: Into<Name>> FromIterator<(N, Field)> for Payload {
    /// Of two fields with one name the later one counts.
    fn from_iter<I: IntoIterator<Item = (N, Field)>>(fields: I) -> Self {
        let mut fields: Vec<(Name, Field)> =
            fields.into_iter().map(|(name, field)| (name.into(), field)).collect();
        if !fields.is_sorted_by(|(one, _), (other, _)| one < other) {
            // Stable, so that of equal names the one that came last is the last; it takes the place of the others.
            fields.sort_by(|(one, _), (other, _)| one.cmp(other));
            fields.dedup_by(|later, kept| {
                let same = later.0 == kept.0;
                if same {
                    std::mem::swap(&mut later.1, &mut kept.1);
                }
                same
            });
        }
        Self(fields)
    }
}

impl<N: Into<Name>> Extend<(N, Field)> for Payload {
    fn extend<I: IntoIterator<Item = (N, Field)>>(&mut self, fields: I) {
        for (name, field) in fields {
            self.insert(name, field);
        }
    }
}

impl IntoIterator for Payload {
    type Item = (Name, Field);
    type IntoIter = std::vec::IntoIter<(Name, Field)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl Serialize for Payload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Payload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Payload;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the fields of an event")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Payload, A::Error> {
                let mut fields: Vec<(String, Field)> = Vec::new();
                while let Some(member) = members.next_entry()? {
                    fields.push(member);
                }
                Ok(fields.into_iter().collect())
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::Salt;
    use serde_json::json;

    fn field(value: i32) -> Field {
        Field::disclosed(Salt::from_bytes([1; 16]), json!(value))
    }

    #[test]
    fn fields_are_in_order_and_of_two_with_one_name_the_later_counts() {
        let payload: Payload =
            [("b", field(1)), ("a", field(2)), ("b", field(3)), ("c", field(4))].into_iter().collect();
        let seen: Vec<_> = payload.iter().map(|(name, field)| (&**name, field.value())).collect();
        assert_eq!(seen, [("a", Some(&json!(2))), ("b", Some(&json!(3))), ("c", Some(&json!(4)))]);
        assert_eq!(payload.get("d"), None);
        let again: Payload = serde_json::from_value(serde_json::to_value(&payload).unwrap()).unwrap();
        assert_eq!(again, payload);
    }

    #[test]
    fn what_is_put_in_is_found_and_takes_the_place_of_what_was_there() {
        let mut payload = Payload::new();
        for name in ["m", "z", "a", "k"] {
            assert_eq!(payload.insert(name, field(1)), None);
        }
        assert_eq!(payload.insert("k", field(2)), Some(field(1)));
        assert_eq!(payload.keys().map(|name| &**name).collect::<Vec<_>>(), ["a", "k", "m", "z"]);
        assert_eq!(payload["k"], field(2));
        assert!(payload.contains_key("z") && !payload.contains_key("y"));
    }
}
