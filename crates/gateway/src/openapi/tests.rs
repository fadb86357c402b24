use std::collections::BTreeSet;

use super::*;

#[test]
fn no_name_has_two_shapes() {
    let mut schemas = Schemas::new();
    for endpoint in endpoints::all() {
        operation(&endpoint, &mut schemas);
    }
    let (inputs, outputs) = (schemas.inputs.take_definitions(true), schemas.outputs.take_definitions(true));
    for (name, shape) in &inputs {
        assert!(
            outputs.get(name).is_none_or(|other| other == shape),
            "{name} comes in and goes out in two shapes"
        );
    }
}

#[test]
fn every_reference_leads_somewhere() {
    let document = document();
    let mut places = Vec::new();
    references(&document, &mut places);
    assert!(!places.is_empty());
    for place in places {
        assert!(document.pointer(place.trim_start_matches('#')).is_some(), "{place} is nowhere");
    }
}

fn references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get("$ref").and_then(Value::as_str).map(str::to_owned));
            members.values().for_each(|member| references(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

#[test]
fn every_endpoint_says_what_it_does_and_has_a_name_of_its_own() {
    let mut names = BTreeSet::new();
    for endpoint in endpoints::all() {
        let place = format!("{} {}", endpoint.method, endpoint.path);
        assert!(names.insert(endpoint.id), "{place}: {} is taken", endpoint.id);
        assert!(!endpoint.summary.is_empty() && !endpoint.answers.is_empty(), "{place}");
        assert!(endpoints::TAGS.contains(&endpoint.tag), "{place}");
        let named: Vec<&str> = endpoint.params.iter().map(|param| param.name).collect();
        let parts = endpoint.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
        let wanted: Vec<&str> = parts.map(|part| part.trim_start_matches('*')).collect();
        assert_eq!(named, wanted, "{place}");
        if let Some(example) = endpoint.example {
            assert!(serde_json::from_str::<Value>(example).is_ok(), "{place}: {example}");
        }
        let is_open = [
            "/",
            "/assets/{*path}",
            "/health",
            "/ready",
            "/metrics",
            "/docs",
            "/api/v1/openapi.json",
            "/.well-known/jwks.json",
        ]
        .iter()
        .any(|open| endpoint.path == *open || endpoint.path.starts_with("/docs/"));
        assert_eq!(endpoint.guard == Guard::Public, is_open, "{place} is guarded, or known not to be");
    }
}
