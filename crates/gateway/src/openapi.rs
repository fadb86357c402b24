//! The OpenAPI 3.1 document, made from the table of endpoints.

use std::sync::LazyLock;

use axum::body::Bytes;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::endpoint::{Content, Describe, Endpoint, Guard, object_with};
use crate::endpoints;
use crate::error::Wire;

/// The document as it is served: made once, when it is first asked for.
static BYTES: LazyLock<Bytes> = LazyLock::new(|| Bytes::from(document().to_string()));

pub(crate) async fn show() -> Response {
    let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-cache")];
    (headers, BYTES.clone()).into_response()
}

/// The document.
#[must_use]
pub fn document() -> Value {
    let mut schemas = Schemas::new();
    let mut paths: Map<String, Value> = Map::new();
    for endpoint in endpoints::all() {
        // A part that goes on to the end of the path is the router's notion; the document has no word for it.
        let operations = paths.entry(endpoint.path.replace("{*", "{")).or_insert_with(|| json!({}));
        operations[endpoint.method.as_str().to_ascii_lowercase()] = operation(&endpoint, &mut schemas);
    }
    let tags: Vec<Value> =
        endpoints::TAGS.iter().map(|tag| json!({ "name": tag.name, "description": tag.about })).collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Punk",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "An adaptive, governed runtime for AI agents",
            "description": "Errors have one shape: a code to branch on, a message for people, and a hint that says what to do. \
                Lists are pages: pass `next` on as `before` until it is null. Money is a decimal number of US dollars, \
                times are UTC with milliseconds.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "tags": tags,
        "paths": paths,
        "components": {
            "schemas": schemas.finish(),
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer", "description": "A key that starts with `pk_`, a token of `POST /api/v1/auth/token` or of an issuer that is trusted, or the value of PUNK_API_KEY." },
                "session": { "type": "apiKey", "in": "cookie", "name": "punk_session", "description": "The session of a person, on `/api/v1` alone; `__Host-punk_session` over https. What changes something also needs `x-punk-csrf`." },
                "apiKey": { "type": "apiKey", "in": "header", "name": "x-api-key", "description": "The same, as Anthropic's clients send it." },
            },
            "parameters": {
                "app": caller_header("X-Punk-App", "The application that asks; a key may be pinned to one."),
                "agent": caller_header("X-Punk-Agent", "The agent identity that asks."),
                "subject": caller_header("X-Punk-Subject", "The pseudonymous end user that this is about."),
            },
        },
    })
}

fn caller_header(name: &str, about: &str) -> Value {
    json!({
        "name": name, "in": "header", "required": false, "description": about,
        "schema": { "type": "string", "minLength": 1, "maxLength": 120 },
    })
}

/// What is said of a guard where clients look for it.
pub(crate) fn guard_name(guard: Guard) -> &'static str {
    match guard {
        Guard::Public => "public",
        Guard::Anyone => "anyone",
        Guard::Person => "person",
        Guard::Needs(permission) => permission.as_str(),
    }
}

fn operation(endpoint: &Endpoint, schemas: &mut Schemas) -> Value {
    let mut operation = json!({
        "operationId": endpoint.id, "tags": [endpoint.tag.name], "summary": endpoint.summary,
        "x-punk-guard": guard_name(endpoint.guard),
    });
    if !endpoint.about.is_empty() {
        operation["description"] = json!(endpoint.about);
    }
    operation["security"] = match endpoint.guard {
        Guard::Public | Guard::Anyone => json!([]),
        Guard::Person => json!([{ "session": [] }]),
        // The last one is a gateway without a bootstrap key and without people, which asks for none.
        Guard::Needs(_) if endpoint.wire == Wire::Rest => {
            json!([{ "bearer": [] }, { "apiKey": [] }, { "session": [] }, {}])
        }
        Guard::Needs(_) => json!([{ "bearer": [] }, { "apiKey": [] }, {}]),
    };
    let parameters = parameters(endpoint, schemas);
    if !parameters.is_empty() {
        operation["parameters"] = Value::Array(parameters);
    }
    if let Some(body) = endpoint.body {
        let mut content = content(body, |describe| schemas.input(describe));
        if let Some(example) = endpoint.example.and_then(|text| serde_json::from_str::<Value>(text).ok()) {
            content["application/json"]["example"] = example;
        }
        operation["requestBody"] = json!({ "required": true, "content": content });
    }
    operation["responses"] = responses(endpoint, schemas);
    operation
}

fn parameters(endpoint: &Endpoint, schemas: &mut Schemas) -> Vec<Value> {
    let mut parameters: Vec<Value> = endpoint
        .params
        .iter()
        .map(|param| {
            json!({
                "name": param.name, "in": "path", "required": true, "description": param.about,
                "schema": schemas.input(param.schema),
            })
        })
        .collect();
    if let Some(query) = endpoint.query {
        let schema = schemas.apart(query);
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
            let mut schema = without_null(schema.clone());
            let about = schema.as_object_mut().and_then(|schema| schema.remove("description"));
            let mut parameter = json!({ "name": name, "in": "query", "required": required.contains(&name.as_str()), "schema": schema });
            if let Some(about) = about {
                parameter["description"] = about;
            }
            parameters.push(parameter);
        }
    }
    if endpoint.guard != Guard::Public {
        let names = ["app", "agent", "subject"];
        parameters.extend(names.map(|name| json!({ "$ref": format!("#/components/parameters/{name}") })));
    }
    parameters
}

/// A query has no null: a member is there, or it is not.
fn without_null(mut schema: Value) -> Value {
    if let Some(types) = schema["type"].as_array() {
        let types: Vec<&Value> = types.iter().filter(|each| **each != "null").collect();
        if let [only] = types[..] {
            schema["type"] = only.clone();
        }
    }
    let others: Vec<Value> = schema["anyOf"]
        .as_array()
        .map(|each| each.iter().filter(|each| each["type"] != "null").cloned().collect())
        .unwrap_or_default();
    if let ([only], Some(members)) = (&others[..], schema.as_object_mut()) {
        members.remove("anyOf");
        members.extend(only.as_object().cloned().unwrap_or_default());
    }
    if let Some(members) =
        schema.as_object_mut().filter(|members| members.get("default") == Some(&Value::Null))
    {
        members.remove("default");
    }
    if let Some(values) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        values.retain(|value| !value.is_null());
    }
    schema
}

fn content(content: Content, mut describe: impl FnMut(Describe) -> Value) -> Value {
    match content {
        Content::Json(schema) => json!({ "application/json": { "schema": describe(schema) } }),
        Content::ObjectOrStream(required) => json!({
            "application/json": { "schema": object_with(required) },
            "text/event-stream": {},
        }),
        Content::Object(required) => json!({ "application/json": { "schema": object_with(required) } }),
        Content::Stream => json!({ "text/event-stream": {} }),
        Content::Other(media) => text_of(&[media]),
        Content::Others(media) => text_of(media),
    }
}

/// Text, in each of these media types.
fn text_of(media: &[&str]) -> Value {
    media.iter().map(|media| ((*media).to_owned(), json!({ "schema": { "type": "string" } }))).collect()
}

fn responses(endpoint: &Endpoint, schemas: &mut Schemas) -> Value {
    let mut responses = Map::new();
    for answer in &endpoint.answers {
        let content = content(answer.content, |describe| schemas.output(describe));
        let response = json!({ "description": answer.about, "content": content });
        responses.insert(answer.status.as_u16().to_string(), response);
    }
    let shape = match endpoint.wire {
        Wire::Rest => schemas.output(crate::endpoint::schema_of::<shape::Error>),
        Wire::OpenAi => schemas.output(crate::endpoint::schema_of::<shape::OpenAiError>),
        Wire::Anthropic => schemas.output(crate::endpoint::schema_of::<shape::AnthropicError>),
    };
    for status in endpoint.all_refusals() {
        let about = status.canonical_reason().unwrap_or("refused");
        let mut response =
            json!({ "description": about, "content": { "application/json": { "schema": shape } } });
        if status == http::StatusCode::TOO_MANY_REQUESTS {
            response["headers"] = json!({
                "Retry-After": { "description": "Seconds to wait.", "schema": { "type": "integer", "minimum": 1 } },
            });
        }
        responses.insert(status.as_u16().to_string(), response);
    }
    Value::Object(responses)
}

/// Makes schemas, and keeps those that others refer to. What comes in may leave out what has a default; what goes out does
/// not.
struct Schemas {
    inputs: SchemaGenerator,
    outputs: SchemaGenerator,
}

impl Schemas {
    fn new() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        });
        Self {
            inputs: settings.clone().for_deserialize().into_generator(),
            outputs: settings.for_serialize().into_generator(),
        }
    }

    fn input(&mut self, describe: Describe) -> Value {
        describe(&mut self.inputs).to_value()
    }

    fn output(&mut self, describe: Describe) -> Value {
        describe(&mut self.outputs).to_value()
    }

    /// The schema itself, which nothing else will refer to.
    fn apart(&mut self, describe: Describe) -> Value {
        let schema = self.input(describe);
        let name = schema["$ref"].as_str().and_then(|place| place.rsplit('/').next()).map(str::to_owned);
        name.and_then(|name| self.inputs.definitions_mut().remove(&name)).unwrap_or(schema)
    }

    /// All that was referred to, by name. `no_name_has_two_shapes` holds what is in both together.
    fn finish(mut self) -> Map<String, Value> {
        let mut all = self.outputs.take_definitions(true);
        all.extend(self.inputs.take_definitions(true));
        all.sort_keys();
        all
    }
}

/// The shapes of errors, for the document; `error.rs` writes them.
mod shape {
    #![expect(dead_code, reason = "these describe what `error.rs` writes")]

    use schema::{RunId, Verdict};

    use super::JsonSchema;

    /// Why a request was refused.
    #[derive(JsonSchema)]
    pub(super) struct Error {
        error: Told,
    }

    #[derive(JsonSchema)]
    #[serde(rename_all = "camelCase")]
    #[schemars(rename = "ErrorDetail")]
    struct Told {
        /// For programs: a stable name that starts with `punk_`.
        code: String,
        /// For people: what was wrong.
        message: String,
        /// What to do about it.
        hint: String,
        /// The place in the request, such as `metadata.key`.
        #[serde(skip_serializing_if = "Option::is_none")]
        param: Option<String>,
        /// The run that records the refusal, if there is one.
        #[serde(skip_serializing_if = "Option::is_none")]
        run_id: Option<RunId>,
        /// What the governor said, if it was the one to refuse.
        #[serde(skip_serializing_if = "Option::is_none")]
        verdict: Option<Verdict>,
    }

    /// The same in the shape of OpenAI, so that its clients raise their own exceptions.
    #[derive(JsonSchema)]
    pub(super) struct OpenAiError {
        error: OpenAiTold,
    }

    #[derive(JsonSchema)]
    #[serde(rename_all = "camelCase")]
    #[schemars(rename = "OpenAiErrorDetail")]
    struct OpenAiTold {
        code: String,
        message: String,
        r#type: String,
        param: Option<String>,
        hint: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        run_id: Option<RunId>,
        #[serde(skip_serializing_if = "Option::is_none")]
        verdict: Option<Verdict>,
    }

    /// The same in the shape of Anthropic.
    #[derive(JsonSchema)]
    pub(super) struct AnthropicError {
        /// `error`.
        r#type: String,
        error: AnthropicTold,
    }

    #[derive(JsonSchema)]
    #[serde(rename_all = "camelCase")]
    #[schemars(rename = "AnthropicErrorDetail")]
    struct AnthropicTold {
        r#type: String,
        message: String,
        code: String,
        hint: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        param: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        run_id: Option<RunId>,
        #[serde(skip_serializing_if = "Option::is_none")]
        verdict: Option<Verdict>,
    }
}

#[cfg(test)]
mod tests;
