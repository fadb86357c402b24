//! Secrets that must be found to their last byte, and texts that must be left alone.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::sync::LazyLock;

use redaction::{Class, Detectors, Finding};

static DETECTORS: LazyLock<Detectors> = LazyLock::new(|| Detectors::builder().build().unwrap());

fn found(text: &str) -> Vec<Finding> {
    DETECTORS.find(text)
}

/// Each text has its secret between `«` and `»`, which are taken out before it is scanned. Formats that are published are found whatever the
/// rest of the token looks like, and so is what stands where only a secret does.
const SECRETS: &[&str] = &[
    "«sk-proj-1234567890abcdef»",
    "«sk-proj-abcdefghij1234567890»",
    "«sk-ant-api03-LEAKMARKER0123456789abcdefABCDEF»",
    "«AKIAIOSFODNN7EXAMPLE»",
    "«AKIAQ3ZXWVUT5RPN2MLK»",
    "«xoxb-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx»",
    "«ghp_abcdefghijklmnopqrstuvwxyz0123456789»",
    "«ghp_ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789»",
    "«ghp_exampleexampleexampleexampleexample0»",
    "«ghp_000000000000000000000000000000000000»",
    "«ghp_x8Kq2vB7nR4tZ1wP9sLdJm3Yc5Hf6Ga0UeTb»",
    "«glpat-abcdefghij1234567890»",
    "«glpat-xXxXxXxXxXxXxXxXxXxX»",
    "«glpat-Zx3_kQ-7TmVbW9pRs2Ly»",
    "Authorization: Bearer «abc.def.ghi-jkl_mno»",
    "authorization: bearer «abcdefghijklmnop»",
    "Authorization: Basic «dXNlcjpwYXNz»",
    "Bearer «eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abcdefghijklmnopqrstuvwxyz»",
    "Bearer «eyJ0eXAiOiJKV1QifQ.eyJhIjoiZXhhbXBsZSJ9.c2ln»",
    "Then it said «eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ3YW5kYSJ9.mQ7xVz2kR9tLb4Nc8Wj3Td6Hs1Gp5Ef0Yu2IaQ4oP8s», and left.",
    "«eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ3YW5kYSJ9.mQ7xVz2kR9tLb4Nc8Wj3Td6Hs1Gp5Ef0Yu2IaQ4oP8s»",
    "«postgres://user:pass@host/db»",
    "«postgres://ledger:gT7kPz4qVw9m@db.internal:5432/punk»",
    "«redis://:hunter2@cache:6379»",
    "«https://user:tok@host/x»",
    "{\"api_key\":\"«abc123def456»\"}",
    "password=«correct-horse-battery»",
    "PASSWORD=«example-1234567»",
    "\"password\":\"«hunter2»\"",
    "password: «hunter2»",
    "password=«hunter2»",
    "API_KEY=«abc123def456»",
    "api_key: «abc123def456»",
    "x-api-key: «abc123def456ghi»",
    "{\"access_token\":\"«LEAK_MARKER_7f3a»\"}",
    "{\"authorization\":\"«LEAK-MARKER-secret»\"}",
    "OPENAI_API_KEY=«sk-1234567890abcdef1234567890abcdef»",
    "«sk_live_51H8example1234567xxxxxabcdef»",
    "«AIzaSyA1234567890abcdefghijklmnopqrstuv»",
    "«mongodb+srv://admin:password@cluster0.mongodb.net/test»",
    "aws_secret_access_key = «wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY»",
    "\"secret\": \"«LEAK_MARKER_7f3a»\"",
    "\"client_secret\": \"«abcdefghijklmnop»\"",
    "«pk_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4»",
    "«ps_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4»",
    "«sv_abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvw»",
    "«in_1234567890123456789012345678901234567890123456789»",
    "«-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ\n-----END OPENSSH PRIVATE KEY-----»",
    "«-----BEGIN OPENSSH PRIVATE KEY-----\nexample1234567xxxxx»",
];

/// Where the secret of an entry stands in the text.
fn marked(entry: &str) -> (String, std::ops::Range<usize>) {
    let (before, rest) = entry.split_once('«').unwrap();
    let (secret, after) = rest.split_once('»').unwrap();
    (format!("{before}{secret}{after}"), before.len()..before.len() + secret.len())
}

#[test]
fn a_secret_is_covered_to_its_end() {
    let mut missed = Vec::new();
    for entry in SECRETS {
        let (text, secret) = marked(entry);
        for (before, after) in [("", ""), ("We saw ", " there."), ("{\"x\":\"", "\"}"), ("a\n", "\nb")] {
            // A quote within quotes would not stand there as it is.
            if before.contains('"') && text.contains(['"', '\n']) {
                continue;
            }
            let whole = format!("{before}{text}{after}");
            let secret = before.len() + secret.start..before.len() + secret.end;
            let covered: usize = found(&whole)
                .iter()
                .map(|finding| {
                    finding.range.end.min(secret.end).saturating_sub(finding.range.start.max(secret.start))
                })
                .sum();
            if covered != secret.len() {
                missed.push(format!("{covered} of {}: {whole:?} {:?}", secret.len(), found(&whole)));
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// Ids, hashes, templates and code: told freely, whatever they are called.
const CLEAN: &[&str] = &[
    "run_01m7jthkm7f9h9bb9y9jgc6ghs",
    "api_key_01m7jthkm7f9h9bb9y9jgc6ghs",
    "call_abc123DEF456ghi789JKL012",
    "call_x8Kq2vB7nR4tZ1wP9sLdJm3Y",
    "toolu_01A09q90qw90lq917835lq9",
    "msg_01XFDUDYJgAACzvnptvVoYEL",
    "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT",
    "chatcmpl-123456789",
    "resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b",
    "550e8400-e29b-41d4-a716-446655440000",
    "e83c5163316f89bfbde7d9ab23ca2e25604af290",
    "19d8c10",
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
];

#[test]
fn ids_are_told_freely_whatever_they_are_called() {
    let mut alarms = Vec::new();
    for id in CLEAN {
        let mut texts =
            vec![(*id).to_owned(), format!("It is {id}, and it ended."), format!("commit {id}\n")];
        for name in ["id", "key", "keyId", "key_id", "target", "run", "parent", "tool_call_id"] {
            texts.push(format!("{{\"{name}\":\"{id}\"}}"));
            texts.push(format!("{{\"{name}\": \"{id}\", \"n\": 1}}"));
            texts.push(format!("{{\\\"{name}\\\":\\\"{id}\\\"}}"));
            texts.push(format!("{name}={id}"));
            texts.push(format!("{name}: {id}"));
        }
        for text in texts {
            let found = found(&text);
            if !found.is_empty() {
                alarms.push(format!("{text:?} {found:?}"));
            }
        }
    }
    assert!(alarms.is_empty(), "{}", alarms.join("\n"));
}

#[test]
fn what_only_stands_for_a_value_is_no_secret() {
    for text in [
        "password=<password>",
        "password=${PASSWORD}",
        "password={{ password }}",
        "password=$DB_PASSWORD",
        "PASSWORD=********",
        "\"api_key\": \"<your key>\"",
        "\"api_key\": \"your-api-key-here\"",
        "\"password\": \"changeme\"",
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer <token>",
        "Authorization: Bearer ${TOKEN}",
        "Authorization: Bearer {{token}}",
        "Authorization: Bearer your-token-here",
        "postgres://${USER}:${PASSWORD}@host/db",
        "postgres://<user>:<password>@host/db",
        "password = read_password()",
        "api_key = settings.openai_key_v2.get()",
        "access_token: Option<String32>",
        "https://example.com:8080/docs@v2",
        "let password = config.password;",
        "password: String,",
        "the bearer of this letter",
        "sk-proj-",
        "sk-ant-…",
        "a function called sk_buff_head_init",
        "pk_columns, in_progress_since_yesterday_evening_at_the_latest",
        "Forgot password: click the link",
        "\"password\": \"Enter your password\"",
        "\"secret\": \"the secret of success\"",
    ] {
        let found: Vec<_> =
            found(text).into_iter().filter(|finding| finding.class != Class::Placeholder).collect();
        assert!(found.is_empty(), "{text:?} {found:?}");
    }
}
