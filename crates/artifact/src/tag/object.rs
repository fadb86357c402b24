//! The object that pieces of a text make.

use serde_json::{Map, Value};

/// An object of `pieces`, each a field and its text: a list where a field is there twice, and what `otherwise` says where it is not
/// there at all.
#[must_use]
pub fn object<'a>(
    pieces: impl Iterator<Item = (&'a str, &'a str)>,
    otherwise: &Map<String, Value>,
) -> Map<String, Value> {
    let mut found: Map<String, Value> = Map::new();
    for (field, piece) in pieces {
        let piece = Value::from(piece);
        match found.get_mut(field) {
            None => drop(found.insert(field.to_owned(), piece)),
            Some(Value::Array(pieces)) => pieces.push(piece),
            Some(one) => *one = Value::Array(vec![one.take(), piece]),
        }
    }
    let mut object = otherwise.clone();
    object.extend(found);
    object
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_found_takes_the_place_of_what_is_said_otherwise() {
        let otherwise = json!({ "intent": "play", "artist": null });
        let pieces = [("artist", "Ann"), ("song", "Blue"), ("song", "Red")];
        assert_eq!(
            Value::Object(object(pieces.into_iter(), otherwise.as_object().unwrap())).to_string(),
            r#"{"intent":"play","artist":"Ann","song":["Blue","Red"]}"#
        );
    }
}
