//! The committed references are what the code gives: the table of endpoints, the codes of errors, the types of events.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

#[test]
fn the_openapi_document_is_up_to_date() {
    let mut text = serde_json::to_string_pretty(&gateway::openapi()).unwrap();
    text.push('\n');
    expect_test::expect_file!["../../../docs/reference/openapi.json"].assert_eq(&text);
}

#[test]
fn the_reference_is_up_to_date() {
    expect_test::expect_file!["../../../docs/reference/api.md"].assert_eq(&gateway::reference::markdown());
}

#[test]
fn the_table_of_permissions_is_up_to_date() {
    expect_test::expect_file!["../../../docs/reference/permissions.md"]
        .assert_eq(&identity::role::markdown());
}

#[test]
fn the_reference_of_errors_is_up_to_date() {
    expect_test::expect_file!["../../../docs/reference/errors.md"]
        .assert_eq(&gateway::reference::errors::markdown());
}

#[test]
fn the_reference_of_events_is_up_to_date() {
    expect_test::expect_file!["../../../docs/reference/events.md"]
        .assert_eq(&gateway::reference::events::markdown());
}

/// The Rust of the crates below, without what only tests see.
fn sources(crates: &[&str]) -> String {
    fn walk(folder: &std::path::Path, text: &mut String) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() && !["conformance", "reference"].contains(&name) {
                walk(&path, text);
            } else if name.ends_with(".rs") && name != "tests.rs" {
                let source = std::fs::read_to_string(&path).unwrap();
                text.push_str(source.split("#[cfg(test)]\nmod tests {").next().unwrap());
            }
        }
    }
    let mut text = String::new();
    for name in crates {
        walk(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../{name}/src")), &mut text);
    }
    text
}

/// The words in quotes that begin with one of these.
fn quoted(text: &str, beginnings: &[&str]) -> std::collections::BTreeSet<String> {
    let words = text.split(['"', '\\']).filter(|word| {
        let rest = beginnings.iter().find_map(|beginning| word.strip_prefix(beginning));
        rest.is_some_and(|rest| {
            !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        })
    });
    words.map(str::to_owned).collect()
}

#[test]
fn every_code_that_is_answered_is_in_the_reference_with_its_status() {
    let text = sources(&["gateway"]);
    // Names of cookies and of what is counted begin like a code.
    let others = ["punk_session", "punk_device", "punk_oidc"];
    let mut answered = quoted(&text, &["punk_"]);
    answered
        .retain(|word| !others.contains(&word.as_str()) && !text.contains(&format!("counter(\"{word}\"")));
    answered.retain(|word| !text.contains(&format!("counter(\n                \"{word}\"")));
    let known: std::collections::BTreeSet<String> =
        gateway::reference::errors::all().map(|one| one.code.to_owned()).collect();
    let missing: Vec<_> = answered.difference(&known).collect();
    let extra: Vec<_> = known.difference(&answered).collect();
    assert!(
        missing.is_empty() && extra.is_empty(),
        "not in the reference: {missing:?}; in nobody's answer: {extra:?}"
    );
    for one in gateway::reference::errors::all() {
        for (before, _) in text.match_indices(&format!("\"{}\"", one.code)).map(|(at, _)| text.split_at(at)) {
            let Some(name) = before.trim_end().trim_end_matches(',').rsplit("StatusCode::").next() else {
                continue;
            };
            let named = before.trim_end().ends_with(',')
                && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_' || byte == b',');
            let status = STATUSES
                .iter()
                .find(|(known, _)| *known == name.trim_end_matches(','))
                .map(|(_, status)| *status);
            if let (true, Some(status)) = (named, status) {
                assert!(one.status.contains(status), "{} comes with {status}, not {}", one.code, one.status);
            }
        }
    }
}

const STATUSES: [(&str, &str); 15] = [
    ("BAD_REQUEST", "400"),
    ("UNAUTHORIZED", "401"),
    ("FORBIDDEN", "403"),
    ("NOT_FOUND", "404"),
    ("METHOD_NOT_ALLOWED", "405"),
    ("REQUEST_TIMEOUT", "408"),
    ("CONFLICT", "409"),
    ("GONE", "410"),
    ("URI_TOO_LONG", "414"),
    ("TOO_MANY_REQUESTS", "429"),
    ("INTERNAL_SERVER_ERROR", "500"),
    ("BAD_GATEWAY", "502"),
    ("SERVICE_UNAVAILABLE", "503"),
    ("GATEWAY_TIMEOUT", "504"),
    ("INSUFFICIENT_STORAGE", "507"),
];

#[test]
fn every_event_that_is_recorded_is_in_the_reference() {
    let crates = ["apprentice", "gateway", "ledger", "outbox", "retention", "store", "vault"];
    let beginnings = [
        "run.",
        "policy.",
        "route.",
        "model.",
        "artifact.",
        "audit.",
        "cache.",
        "feedback.",
        "memory.",
        "side_effect.",
        "tool.",
        "tripwire.",
        "conversation.",
    ];
    let mut recorded = quoted(&sources(&crates), &beginnings);
    // The name of a file.
    recorded.remove("audit.jsonl");
    let known: std::collections::BTreeSet<String> =
        gateway::reference::events::all().map(|one| one.name.to_owned()).collect();
    let missing: Vec<_> = recorded.difference(&known).collect();
    let extra: Vec<_> = known.difference(&recorded).collect();
    assert!(
        missing.is_empty() && extra.is_empty(),
        "not in the reference: {missing:?}; recorded by nobody: {extra:?}"
    );
}
