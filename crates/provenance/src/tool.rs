//! What is known of a tool, by declaration or by guess.

use schema::SideEffectLevel;
use serde_json::Value;

use crate::conversation::Tool;
use crate::infer;
use crate::intent::verb_of;
use crate::settings::{Declaration, Label, Role, Settings, Undeclared};
use crate::words::{is_one_of, name_words};

/// A tool under the settings in force.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known<'a> {
    /// As the model was told about it; absent if it was not.
    pub(crate) tool: Option<&'a Tool>,
    name: &'a str,
    declared: Option<&'a Declaration>,
    infers: bool,
}

impl<'a> Known<'a> {
    /// The tool called `name`.
    pub(crate) fn new(settings: &'a Settings, tools: &'a [Tool], name: &'a str) -> Self {
        Self {
            tool: tools.iter().find(|tool| tool.name == name),
            name,
            declared: settings.tools.get(name),
            infers: settings.undeclared == Undeclared::Infer,
        }
    }

    /// How much it changes.
    pub(crate) fn level(&self) -> SideEffectLevel {
        match (self.declared.and_then(|declared| declared.level), self.tool) {
            (Some(level), _) => level,
            (None, Some(tool)) if self.infers => infer::level(tool),
            _ => SideEffectLevel::UNDECLARED,
        }
    }

    /// Whether it takes something out of the house.
    pub(crate) fn is_egress(&self) -> bool {
        match self.declared {
            Some(declared) => declared.egress,
            None => self.tool.is_none_or(infer::is_egress),
        }
    }

    /// What an argument does, by its field.
    pub(crate) fn role(&self, field: &str, value: &Value) -> Role {
        let top = field.split('.').next().unwrap_or(field);
        let declared = self.declared.map(|declared| &declared.arguments);
        if let Some(role) = declared.and_then(|roles| roles.get(field).or_else(|| roles.get(top))) {
            return *role;
        }
        match self.infers {
            true => {
                let verb = verb_of(self.name).map(|(verb, _)| verb).unwrap_or_default();
                infer::role(field, &verb, value)
            }
            false => Role::Target,
        }
    }

    /// Who writes a field of its result.
    pub(crate) fn label(&self, field: &str, text: &str) -> Label {
        match self.declared {
            // A declaration for the level alone says nothing about fields.
            Some(declared) if !declared.fields.is_empty() => {
                let fields = &declared.fields;
                fields.get(field).or_else(|| fields.get("*")).copied().unwrap_or(Label::Untrusted)
            }
            _ if self.infers => infer::label(self.name, field, text),
            _ => Label::Untrusted,
        }
    }

    /// What it says about itself.
    pub(crate) fn description(&self) -> &'a str {
        self.tool.map_or("", |tool| tool.description.as_str())
    }

    /// What an id in the argument `field` is an id of: `file` for `file_id`, the tool's own things for `id`.
    pub(crate) fn nouns(&self, field: &str) -> Vec<String> {
        const NO_NOUNS: &str = "id ids key uuid new the number list by to in";
        let last = field.rsplit('.').next().unwrap_or(field);
        let mut nouns = name_words(last);
        nouns.retain(|word| !is_one_of(word, NO_NOUNS));
        if nouns.is_empty() {
            nouns = verb_of(self.name).map_or_else(|| name_words(self.name), |(_, things)| things);
        }
        nouns
    }

    /// Whether the schema leaves so little choice that nobody can have smuggled anything in.
    pub(crate) fn is_constant(&self, field: &str, value: &Value) -> bool {
        match value {
            Value::Null | Value::Bool(_) => return true,
            Value::String(text) if text.is_empty() => return true,
            _ => {}
        }
        let Some(root) = self.tool.map(|tool| &tool.parameters) else { return false };
        let mut schema = Some(root);
        for part in field.split('.') {
            let inner = schema.map(|schema| resolve(root, schema));
            schema = inner
                .and_then(|schema| schema.get("items").or(Some(schema)))
                .and_then(|schema| schema.get("properties")?.get(part));
        }
        schema.is_some_and(|schema| offers(root, schema, value, 0))
    }
}

/// The schema that a reference stands for.
fn resolve<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let pointer = schema.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
    pointer.and_then(|pointer| root.pointer(pointer)).unwrap_or(schema)
}

/// Whether `schema` itself has `value` in it.
fn offers(root: &Value, schema: &Value, value: &Value, depth: usize) -> bool {
    if depth > 8 {
        return false;
    }
    let schema = resolve(root, schema);
    let listed = |name: &str| schema.get(name).and_then(Value::as_array).into_iter().flatten();
    listed("enum").any(|option| option == value)
        || schema.get("const") == Some(value)
        || schema.get("default") == Some(value)
        || listed("anyOf").chain(listed("oneOf")).any(|option| offers(root, option, value, depth + 1))
        || schema.get("items").is_some_and(|items| offers(root, items, value, depth + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_the_schema_offers_is_nobodys_choice() {
        let parameters = json!({
            "$defs": { "Level": { "enum": ["r", "rw"] } },
            "properties": { "level": { "$ref": "#/$defs/Level" }, "n": { "default": 100 }, "to": { "type": "string" } },
        });
        let tools = [Tool { name: "t".into(), description: String::new(), parameters }];
        let settings = Settings::default();
        let known = Known::new(&settings, &tools, "t");
        assert!(known.is_constant("level", &json!("r")) && known.is_constant("n", &json!(100)));
        assert!(!known.is_constant("level", &json!("x")) && !known.is_constant("to", &json!("x")));
    }

    #[test]
    fn nothing_is_guessed_unless_the_operator_says_so() {
        let tools = [Tool { name: "get_x".into(), ..Tool::default() }];
        let mut settings = Settings::default();
        assert_eq!(Known::new(&settings, &tools, "get_x").level(), SideEffectLevel::VisibleWrite);
        assert_eq!(Known::new(&settings, &tools, "get_x").label("id", "4"), Label::Untrusted);
        settings.undeclared = Undeclared::Infer;
        assert_eq!(Known::new(&settings, &tools, "get_x").level(), SideEffectLevel::Read);
        assert_eq!(Known::new(&settings, &tools, "get_x").label("id", "4"), Label::Trusted);
    }
}
