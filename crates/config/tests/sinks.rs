//! Sinks: tables whose kind decides what belongs into them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

use config::{FileSource, Settings, SinkShape, SinkTarget, Sources, load};
use expect_test::{Expect, expect};

fn sources(file: &str, environment: &[(&str, &str)]) -> Sources {
    Sources {
        environment: environment.iter().map(|(name, value)| (name.into(), value.into())).collect(),
        file: FileSource::Text { name: "punk.toml".into(), text: file.into() },
        ..Sources::default()
    }
}

fn loaded(file: &str, environment: &[(&str, &str)]) -> Settings {
    load(&sources(file, environment)).unwrap()
}

#[track_caller]
fn check(file: &str, environment: &[(&str, &str)], expected: &Expect) {
    expected.assert_eq(&load(&sources(file, environment)).unwrap_err().to_string());
}

const FILE: &str = r#"
[sinks.lines]
kind = "file"
path = "audit.jsonl"

[sinks.siem]
kind = "http"
url = "https://siem.example.org/in"
runs = true
shape = "insforge"
environment = "prod"

[sinks.vault-eu]
kind = "s3"
endpoint = "http://10.0.0.7:9000"
bucket = "audit"
prefix = "punk/"
access_key_id = "AKIA"
allow_private = true
"#;

const SECRETS: [(&str, &str); 2] =
    [("PUNK_SINK_SIEM_TOKEN", "hunter2"), ("PUNK_SINK_VAULT_EU_SECRET_ACCESS_KEY", "hunter3")];

#[test]
fn a_sink_of_each_kind_has_what_its_table_says_and_its_secrets_from_the_environment() {
    let settings = loaded(FILE, &SECRETS);
    let [lines, siem, vault] = settings.sinks().try_into().unwrap();
    assert_eq!((lines.name.as_str(), lines.runs, lines.shape), ("lines", false, SinkShape::Punk));
    let SinkTarget::File { path } = lines.target else { panic!() };
    assert_eq!(path.to_str(), Some("audit.jsonl"));
    assert_eq!((siem.runs, siem.shape, siem.environment), (true, SinkShape::InsForge, Some("prod")));
    let SinkTarget::Http { url, token } = siem.target else { panic!() };
    assert_eq!((url, token.unwrap().expose().as_str()), ("https://siem.example.org/in", "hunter2"));
    assert!(vault.allow_private && !siem.allow_private);
    let SinkTarget::S3 { bucket, prefix, region, secret_access_key, .. } = vault.target else { panic!() };
    assert_eq!((bucket, prefix, region), ("audit", "punk/", "us-east-1"));
    assert_eq!(secret_access_key.unwrap().expose(), "hunter3");
    let setting = settings.get("sinks.vault-eu.secret_access_key").unwrap();
    assert_eq!(setting.variable(), "PUNK_SINK_VAULT_EU_SECRET_ACCESS_KEY");
    assert!(!format!("{settings:?}").contains("hunter"));
    assert!(settings.secrets().any(|secret| secret.expose() == "hunter3"), "it is masked in logs");
}

#[test]
fn what_is_missing_and_what_belongs_to_another_kind_is_told_at_once() {
    check(
        "[sinks.a]\nkind = 'file'\nurl = 'https://a.org'\n[sinks.b]\nkind = 's3'\nbucket = 'b'\nendpoint = 'nowhere'\n[sinks.c]\n[sinks.d]\n\
         kind = 'ftp'\n[sinks.e_f]\nkind = 'file'\n[sinks.g]\nkind = 'file'\npath = 'x'\nallow_private = true\n",
        &[("PUNK_SINK_A_TOKEN", "hunter2"), ("PUNK_SINK_X_TOKEN", "x")],
        &expect![[r#"
            punk.toml:7:12: "nowhere" is not a value of sinks.b.endpoint; sinks.b.endpoint must be a URL that starts with http:// or https://, without user name or password
            punk.toml:10:8: "ftp" is not a value of sinks.d.kind; sinks.d.kind must be one of file, http, s3
            punk.toml:11:8: "e_f" cannot be a name in [sinks]; a name in [sinks] must be lower-case letters, digits and dashes, beginning with a letter, 40 at most
            punk.toml:8:8: sinks.c.kind is not set; set sinks.c.kind to one of file, http, s3
            PUNK_SINK_X_TOKEN: unknown variable; did you mean PUNK_SINK_A_TOKEN or PUNK_SINK_B_TOKEN or PUNK_SINK_C_TOKEN? `punk config` lists every variable that is read
            punk.toml:1:8: sinks.a.path is not set; set sinks.a.path to a path that is not empty
            PUNK_SINK_A_TOKEN: sinks.a.token means nothing for the kind file; take it out, or set another kind; with kind file there may be: kind, path, runs, shape, environment
            punk.toml:3:1: sinks.a.url means nothing for the kind file; take it out, or set another kind; with kind file there may be: kind, path, runs, shape, environment
            punk.toml:4:8: sinks.b.access_key_id is not set; set sinks.b.access_key_id to visible ASCII characters without spaces
            punk.toml:4:8: sinks.b.secret_access_key is not set; set sinks.b.secret_access_key to visible ASCII characters without spaces
            punk.toml:16:1: sinks.g.allow_private means nothing for the kind file; take it out, or set another kind; with kind file there may be: kind, path, runs, shape, environment"#]],
    );
}

#[test]
fn webhooks_stay_outside_unless_told_otherwise() {
    assert!(!loaded("", &[]).private_webhooks());
    assert!(loaded("", &[("PUNK_ALLOW_PRIVATE_WEBHOOKS", "true")]).private_webhooks());
}
