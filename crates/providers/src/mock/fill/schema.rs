//! Reading a schema.

use serde_json::{Map, Value};

/// A schema with its references followed and its parts put together.
#[derive(Debug)]
pub(super) struct Shape(Map<String, Value>);

impl Shape {
    /// Reads `schema`, whose references are into `root`.
    pub(super) fn of(root: &Value, schema: &Value) -> Self {
        let mut merged = Map::new();
        merge(root, schema, &mut merged, 0);
        Self(merged)
    }

    /// What a keyword says.
    pub(super) fn get(&self, keyword: &str) -> Option<&Value> {
        self.0.get(keyword)
    }

    /// What a keyword says, when that is a number.
    pub(super) fn number(&self, keyword: &str) -> Option<f64> {
        self.get(keyword)?.as_f64()
    }

    /// What a keyword says, when that is a count.
    pub(super) fn count(&self, keyword: &str) -> Option<usize> {
        self.get(keyword)?.as_f64().filter(|count| *count >= 0.0).map(|count| count.min(1e6) as usize)
    }

    /// What a keyword says, when that is a text.
    pub(super) fn text(&self, keyword: &str) -> &str {
        self.get(keyword).and_then(Value::as_str).unwrap_or_default()
    }

    /// The branches, of which one is enough.
    pub(super) fn branches(&self) -> Option<&Vec<Value>> {
        self.get("anyOf").or_else(|| self.get("oneOf"))?.as_array().filter(|branches| !branches.is_empty())
    }

    /// The members of an object, with whether each is required, in the order of the schema.
    pub(super) fn members(&self) -> Vec<(String, Value, bool)> {
        let required: Vec<&str> = self
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let properties = self.get("properties").and_then(Value::as_object);
        let mut members: Vec<_> = properties
            .into_iter()
            .flatten()
            .map(|(name, schema)| (name.clone(), schema.clone(), required.contains(&name.as_str())))
            .collect();
        // Required without a word about what it is: the schema for other members holds for it.
        let other = self
            .get("additionalProperties")
            .filter(|other| other.is_object())
            .cloned()
            .unwrap_or(Value::Bool(true));
        for name in required {
            if !members.iter().any(|(known, ..)| known == name) {
                members.push((name.to_owned(), other.clone(), true));
            }
        }
        members
    }

    /// The first type that is wanted and not `null`, as JSON calls it; guessed from the other keywords when none is named.
    pub(super) fn kind(&self) -> &str {
        let named = match self.get("type") {
            Some(Value::String(kind)) => Some(kind.as_str()),
            Some(Value::Array(kinds)) => {
                let mut kinds = kinds.iter().filter_map(Value::as_str);
                kinds.clone().find(|kind| *kind != "null").or_else(|| kinds.next())
            }
            _ => None,
        };
        named.unwrap_or_else(|| {
            let has = |keywords: &[&str]| keywords.iter().any(|keyword| self.0.contains_key(*keyword));
            if has(&["properties", "required", "additionalProperties"]) {
                "object"
            } else if has(&["items", "prefixItems", "minItems"]) {
                "array"
            } else if has(&["minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"]) {
                "number"
            } else {
                "string"
            }
        })
    }

    /// Whether `null` is as good as anything.
    pub(super) fn allows_null(&self) -> bool {
        let null = |value: &Value| value.as_str() == Some("null");
        match self.get("type") {
            Some(Value::Array(kinds)) => kinds.iter().any(null),
            Some(kind) => null(kind),
            None => {
                self.branches().is_some_and(|branches| branches.iter().any(|branch| null(&branch["type"])))
            }
        }
    }
}

/// Puts `schema` into `merged`: what it refers to, then all of `allOf`, then its own words.
fn merge(root: &Value, schema: &Value, merged: &mut Map<String, Value>, depth: usize) {
    let Some(own) = schema.as_object().filter(|_| depth < 16) else { return };
    if let Some(target) =
        own.get("$ref").and_then(Value::as_str).and_then(|reference| target(root, reference))
    {
        merge(root, target, merged, depth + 1);
    }
    for part in own.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        merge(root, part, merged, depth + 1);
    }
    for (keyword, value) in own
        .iter()
        .filter(|(keyword, _)| !matches!(keyword.as_str(), "$ref" | "allOf" | "$defs" | "definitions"))
    {
        match (merged.get_mut(keyword), value) {
            (Some(Value::Object(known)), Value::Object(more)) if keyword == "properties" => {
                known.extend(more.iter().map(|(name, schema)| (name.clone(), schema.clone())));
            }
            (Some(Value::Array(known)), Value::Array(more)) if keyword == "required" => {
                known.extend(more.iter().cloned());
            }
            _ => {
                merged.insert(keyword.clone(), value.clone());
            }
        }
    }
}

/// What a reference into the same schema points at.
fn target<'r>(root: &'r Value, reference: &str) -> Option<&'r Value> {
    root.pointer(reference.strip_prefix('#')?)
}
