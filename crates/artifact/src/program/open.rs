//! Fields that a program leaves open: what is known of their values, and how a part of an answer is completed.
//!
//! Nobody is asked here. Whoever completes a part has to give every open field and nothing else, each as live has given it before:
//! a value of a shape that is known, and one of the known values where there are only a few.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::run::{Limits, size_of_all};
use crate::fingerprint::outline;

/// A field that a program leaves open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Open {
    /// Its name.
    pub name: String,
    /// Its place among all fields, in the order in which they are written.
    pub place: usize,
    /// The shapes of its values ([`outline`]). None: it is not in every answer, or always different, and nobody can complete it.
    pub shapes: Vec<Value>,
    /// The values that it has, where there are only a few. Empty: any of its shapes.
    pub values: Vec<Value>,
}

/// Why a part is not completed by what somebody told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// An open field was not told.
    #[error("`{0}` is missing")]
    Missing(String),
    /// Something else was.
    #[error("`{0}` was not asked for")]
    Extra(String),
    /// It has a value that live never gave, or of another shape.
    #[error("`{0}` is unlike what live says there")]
    Unlike(String),
    /// More than an answer may have.
    #[error("it is too long")]
    TooLong,
}

impl Open {
    /// Whether anybody could tell it at all.
    #[must_use]
    pub const fn can_be_told(&self) -> bool {
        !self.shapes.is_empty()
    }

    /// Whether `value` is like the values that the field has.
    #[must_use]
    pub fn admits(&self, value: &Value) -> bool {
        self.shapes.contains(&outline(value)) && (self.values.is_empty() || self.values.contains(value))
    }
}

/// The whole answer: `part` with all that is `open` as `told`.
///
/// # Errors
/// Something is missing, too much, or unlike what is known.
pub fn complete(
    part: &Map<String, Value>,
    open: &[Open],
    told: &Map<String, Value>,
) -> Result<Map<String, Value>, Misfit> {
    if let Some(extra) = told.keys().find(|name| !open.iter().any(|field| field.name == **name)) {
        return Err(Misfit::Extra(extra.clone()));
    }
    for field in open {
        let value = told.get(&field.name).ok_or_else(|| Misfit::Missing(field.name.clone()))?;
        if !field.admits(value) {
            return Err(Misfit::Unlike(field.name.clone()));
        }
    }
    let mut known = part.iter();
    let mut whole = Map::new();
    for place in 0..part.len() + open.len() {
        let here = open.iter().find(|field| field.place == place);
        if let Some((name, value)) = here.and_then(|field| told.get_key_value(&field.name)) {
            whole.insert(name.clone(), value.clone());
        } else if let Some((name, value)) = known.next() {
            whole.insert(name.clone(), value.clone());
        }
    }
    // Fields of one name, or without a place, are no answer.
    if let Some(lost) = open.iter().find(|field| whole.get(&field.name) != told.get(&field.name)) {
        return Err(Misfit::Missing(lost.name.clone()));
    }
    if let Some((lost, _)) = part.iter().find(|(name, value)| whole.get(*name) != Some(*value)) {
        return Err(Misfit::Extra(lost.clone()));
    }
    if size_of_all(&whole) > Limits::default().bytes { Err(Misfit::TooLong) } else { Ok(whole) }
}
