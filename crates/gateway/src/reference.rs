//! The reference of the REST interface as Markdown, made from the OpenAPI document; those of errors and events are beside it.

pub mod errors;
pub mod events;

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::openapi::document;

/// The page, as it is committed in `docs/reference/api.md`.
#[must_use]
pub fn markdown() -> String {
    let document = document();
    let mut page = String::from(
        "# API reference\n\n\
         Made from the table of endpoints; a test compares it. A running gateway serves the same at `/docs/api`, and as an OpenAPI\n\
         3.1 document at `/api/v1/openapi.json` ([openapi.json](openapi.json)).\n\n\
         - **Keys.** `Authorization: Bearer <key>` or `x-api-key: <key>`. A gateway without `PUNK_API_KEY` and without people asks for none.\n\
         - **Sessions.** People log in with a cookie, which counts on `/api/v1` alone; what changes something also needs `x-punk-csrf`.\n\
         - **Who may call.** Every endpoint names one permission; [permissions.md](permissions.md) says which roles and keys have it. An id\n\
         \u{20} of another tenant is 404, never 403.\n\
         - **Errors.** `{\"error\":{\"code\",\"message\",\"hint\",\"param\"?,\"runId\"?,\"verdict\"?}}`; on `/v1` in the vendor's shape.\n\
         - **Lists.** Pass `next` on as `before` until it is null.\n\
         - **Limits.** Every counted answer has `RateLimit`, `RateLimit-Policy` and `x-ratelimit-*` headers; 429 has `Retry-After`.\n",
    );
    for tag in items(&document["tags"]) {
        let _ = write!(page, "\n## {}\n\n{}\n", text(&tag["name"]), text(&tag["description"]));
        for (path, operations) in members(&document["paths"]) {
            for (method, operation) in members(operations) {
                if operation["tags"][0] == tag["name"] {
                    endpoint(&mut page, path, method, operation);
                }
            }
        }
    }
    page.push_str("\n## Shapes\n");
    for (name, schema) in members(&document["components"]["schemas"]) {
        shape(&mut page, name, schema);
    }
    page
}

fn endpoint(page: &mut String, path: &str, method: &str, operation: &Value) {
    let guard = match text(&operation["x-punk-guard"]) {
        "public" | "anyone" => "everybody".to_owned(),
        "person" => "whoever is logged in".to_owned(),
        permission => format!("whoever has `{permission}`"),
    };
    let _ = write!(page, "\n### `{} {path}`\n\n", method.to_ascii_uppercase());
    let _ =
        writeln!(page, "{}. For {guard}. {}", text(&operation["summary"]), text(&operation["description"]));
    trim_line(page);
    let own: Vec<&Value> =
        items(&operation["parameters"]).filter(|parameter| parameter["name"].is_string()).collect();
    if !own.is_empty() {
        page.push_str("\n| parameter | in | type | |\n|---|---|---|---|\n");
        for parameter in own {
            let name = text(&parameter["name"]);
            let star = if parameter["required"] == true { " (required)" } else { "" };
            let (place, kind, about) =
                (text(&parameter["in"]), kind(&parameter["schema"]), text(&parameter["description"]));
            let _ = writeln!(page, "| `{name}`{star} | {place} | {kind} | {about} |");
        }
    }
    let body = &operation["requestBody"]["content"]["application/json"];
    if !body.is_null() {
        let _ = write!(page, "\nTakes {}:\n\n```json\n{}\n```\n", kind(&body["schema"]), body["example"]);
    }
    page.push_str("\nAnswers ");
    let (good, bad): (Vec<_>, Vec<_>) =
        members(&operation["responses"]).partition(|(status, _)| status.starts_with('2'));
    for (status, response) in good {
        let shape = members(&response["content"]).next().map(|(media, content)| {
            if media == "application/json" { kind(&content["schema"]) } else { format!("`{media}`") }
        });
        let _ = write!(page, "{status}: {} ({}) ", text(&response["description"]), shape.unwrap_or_default());
    }
    let bad: Vec<&str> = bad.into_iter().map(|(status, _)| status.as_str()).collect();
    if !bad.is_empty() {
        let _ = write!(page, "Refuses with {}.", bad.join(", "));
    }
    trim_line(page);
    page.push('\n');
}

fn shape(page: &mut String, name: &str, schema: &Value) {
    let _ = write!(page, "\n### {name}\n\n{}\n", text(&schema["description"]));
    trim_line(page);
    let required: Vec<&Value> = items(&schema["required"]).collect();
    if schema["properties"].is_object() {
        page.push_str("\n| member | type | |\n|---|---|---|\n");
        for (member, schema) in members(&schema["properties"]) {
            let star = if required.iter().any(|name| *name == member) { "" } else { "?" };
            let _ =
                writeln!(page, "| `{member}`{star} | {} | {} |", kind(schema), text(&schema["description"]));
        }
    } else {
        let _ = write!(page, "\n{}\n", kind(schema));
    }
}

/// What a schema says, in a few words.
fn kind(schema: &Value) -> String {
    if let Some(place) = schema["$ref"].as_str() {
        let name = place.rsplit('/').next().unwrap_or(place);
        return format!("[{name}](#{})", name.to_ascii_lowercase());
    }
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(" or ");
    }
    if !schema["const"].is_null() {
        return format!("`{}`", schema["const"]);
    }
    for any in ["anyOf", "oneOf"] {
        if schema[any].is_array() {
            return items(&schema[any]).map(kind).collect::<Vec<_>>().join(" or ");
        }
    }
    let one = |name: &str| match name {
        "array" => format!("list of {}", kind(&schema["items"])),
        "string" if schema["format"].is_string() => format!("string ({})", text(&schema["format"])),
        other => other.to_owned(),
    };
    match &schema["type"] {
        Value::String(name) => one(name),
        Value::Array(names) => names.iter().map(|name| one(text(name))).collect::<Vec<_>>().join(" or "),
        _ => "any JSON".to_owned(),
    }
}

fn trim_line(page: &mut String) {
    page.truncate(page.trim_end().len());
    page.push('\n');
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter)
}
