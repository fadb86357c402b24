//! What `load` promises, in examples.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use config::{FileChoice, FileSource, Flag, Origin, Settings, Sources, Value, file_choice, load};
use expect_test::{Expect, expect};
use std::ffi::{OsStr, OsString};
use std::path::Path;

fn sources(file: &str, environment: &[(&str, &str)], flags: &[(&str, &str)]) -> Sources {
    Sources {
        flags: flags
            .iter()
            .map(|(path, value)| Flag { name: "--set".into(), path: (*path).into(), value: (*value).into() })
            .collect(),
        environment: environment.iter().map(|(name, value)| (name.into(), value.into())).collect(),
        file: FileSource::Text { name: "punk.toml".into(), text: file.into() },
    }
}

fn loaded(file: &str, environment: &[(&str, &str)], flags: &[(&str, &str)]) -> Settings {
    load(&sources(file, environment, flags)).unwrap()
}

/// What is wrong with a file, an environment and flags.
#[track_caller]
fn check(file: &str, environment: &[(&str, &str)], flags: &[(&str, &str)], expected: &Expect) {
    let told = match load(&sources(file, environment, flags)) {
        Ok(_) => "fine".to_owned(),
        Err(problems) => problems.to_string(),
    };
    expected.assert_eq(&told);
}

#[test]
fn without_sources_the_defaults_hold() {
    let settings = load(&Sources::default()).unwrap();
    assert_eq!(settings.host().to_string(), "127.0.0.1");
    assert_eq!(settings.port(), 4100);
    assert_eq!(settings.data_dir(), "data");
    assert_eq!(settings.db_path(), Path::new("data/punk.db"));
    assert_eq!(settings.keys_dir(), Path::new("data/keys"));
    assert_eq!(settings.log_name(), "punk.local");
    assert_eq!(settings.log_filter(), "info");
    assert_eq!(settings.log_format(), config::LogFormat::Auto);
    assert!(settings.api_key().is_none());
    assert!(settings.iter().all(|setting| setting.origin == Origin::Default));
}

#[test]
fn flags_win_over_variables_and_variables_over_the_file() {
    let file = "[server]\nport = 1\nhost = \"::1\"\n[ledger]\nname = \"from.file\"\n";
    let settings = loaded(file, &[("PUNK_PORT", "2"), ("PUNK_HOST", "localhost")], &[("server.port", "3")]);
    let origin = |path| settings.get(path).unwrap().origin.to_string();
    assert_eq!((settings.port(), origin("server.port")), (3, "flag --set".into()));
    assert_eq!(
        (settings.host().to_string(), origin("server.host")),
        ("127.0.0.1".into(), "env PUNK_HOST".into())
    );
    assert_eq!((settings.log_name(), origin("ledger.name")), ("from.file", "punk.toml:5".into()));
}

#[test]
fn folders_follow_the_data_folder_unless_set_themselves() {
    let settings = loaded("", &[("PUNK_DATA_DIR", "/srv/punk"), ("PUNK_DB_PATH", "/fast/punk.db")], &[]);
    assert_eq!(settings.keys_dir(), Path::new("/srv/punk/keys"));
    assert_eq!(settings.db_path(), Path::new("/fast/punk.db"));
}

#[test]
fn an_empty_variable_counts_as_unset() {
    let settings = loaded("[server]\nport = 7", &[("PUNK_PORT", ""), ("PUNK_NO_SUCH", "")], &[]);
    assert_eq!(settings.port(), 7);
}

#[test]
fn the_first_of_two_variables_for_one_key_wins() {
    let secret = |environment: &[(&str, &str)]| {
        loaded("", environment, &[]).secret("store.url").unwrap().expose().clone()
    };
    assert_eq!(
        secret(&[("DATABASE_URL", "postgres://b/b"), ("PUNK_DATABASE_URL", "postgres://a/a")]),
        "postgres://a/a"
    );
    assert_eq!(secret(&[("DATABASE_URL", "postgres://b/b")]), "postgres://b/b");
}

#[test]
fn all_problems_are_told_at_once() {
    check(
        "prot = 1\n[server]\nprot = 4100\nport = 70000\nhost = 'nowhere'\n[sever]\nx = 1\n",
        &[
            ("PUNK_PROT", "1"),
            ("PUNK_PORT", "http"),
            ("PUNK_TEST_SEED", "1"),
            ("PUNK_APPROVER_KEY", "pk"),
            ("HOME", "/root"),
        ],
        &[("server.prt", "1"), ("log.format", "xml")],
        &expect![[r#"
            punk.toml:1:1: unknown key `prot`; did you mean server.port? allowed here: [auth], [cache], [chorus], [governance], [jobs], [keys], [learning], [ledger], [limits], [log], [mcp], [oidc], [providers], [redaction], [server], [store], [vault], [web], [webhooks], [upstreams.NAME], [models.NAME], [prices.NAME], [sinks.NAME], [issuers.NAME]
            punk.toml:3:1: unknown key `server.prot`; did you mean server.port? allowed here: base_url, cors_origins, drain_delay_seconds, drain_seconds, forwarded_header, host, max_body_bytes, port, trusted_proxies
            punk.toml:4:8: "70000" is not a value of server.port; server.port must be a whole number from 0 to 65535
            punk.toml:5:8: "nowhere" is not a value of server.host; server.host must be an IP address such as 127.0.0.1 or ::1, or localhost
            punk.toml:6:2: unknown key `sever`; did you mean server? allowed here: [auth], [cache], [chorus], [governance], [jobs], [keys], [learning], [ledger], [limits], [log], [mcp], [oidc], [providers], [redaction], [server], [store], [vault], [web], [webhooks], [upstreams.NAME], [models.NAME], [prices.NAME], [sinks.NAME], [issuers.NAME]
            PUNK_PROT: unknown variable; did you mean PUNK_PORT? `punk config` lists every variable that is read
            PUNK_PORT: "http" is not a value of server.port; server.port must be a whole number from 0 to 65535
            --set: unknown key `server.prt`; did you mean server.port? allowed here: server.…, store.…, keys.…, vault.…, ledger.…, log.…, auth.…, oidc.…, limits.…, providers.…, cache.…, governance.…, redaction.…, learning.…, jobs.…, web.…, webhooks.…, chorus.…, mcp.…
            --set: "xml" is not a value of log.format; log.format must be one of auto, human, json"#]],
    );
}

#[test]
fn values_of_the_wrong_type_are_refused_with_the_right_one() {
    check(
        "[server]\nport = '4100'\nhost = 4\n[auth]\nrequire_login = 'true'\n[learning]\ninterval_ms = 1e4\n[store]\ndata_dir = ['a']\n",
        &[],
        &[],
        &expect![[r#"
            punk.toml:2:8: "4100" is not a value of server.port; server.port must be a whole number from 0 to 65535, without quotes
            punk.toml:3:8: "4" is not a value of server.host; server.host must be an IP address such as 127.0.0.1 or ::1, or localhost
            punk.toml:5:17: "true" is not a value of auth.require_login; auth.require_login must be true or false, without quotes
            punk.toml:7:15: "1e4" is not a value of learning.interval_ms; learning.interval_ms must be a whole number from 100 to 86400000
            punk.toml:9:12: "['a']" is not a value of store.data_dir; store.data_dir must be a path that is not empty"#]],
    );
}

#[test]
fn sections_and_values_do_not_stand_in_for_each_other() {
    check(
        "server = 4100\n[ledger.name]\nx = 1\n[[log]]\n[providers]\nopenai = 'sk-x'\n",
        &[],
        &[],
        &expect![[r#"
            punk.toml:1:1: `server` is a section, not a value; write a line [server] and below it any of: base_url, cors_origins, drain_delay_seconds, drain_seconds, forwarded_header, host, max_body_bytes, port, trusted_proxies
            punk.toml:2:1: "[ledger.name]" is not a value of ledger.name; ledger.name must be a name without whitespace or `+`
            punk.toml:4:3: `log` is a section, not a value; write a line [log] and below it any of: filter, format
            punk.toml:6:1: `providers.openai` is a section, not a value; write a line [providers.openai] and below it any of: api_key, base_url"#]],
    );
}

#[test]
fn a_quoted_name_with_a_dot_is_no_path() {
    check(
        "'server.port' = 4100\n[providers]\n'openai.api_key' = 'x'\n[server]\n'a \"b' = 1\n",
        &[],
        &[],
        &expect![[r#"
            punk.toml:1:1: unknown key `"server.port"`; did you mean server.port? allowed here: [auth], [cache], [chorus], [governance], [jobs], [keys], [learning], [ledger], [limits], [log], [mcp], [oidc], [providers], [redaction], [server], [store], [vault], [web], [webhooks], [upstreams.NAME], [models.NAME], [prices.NAME], [sinks.NAME], [issuers.NAME]
            punk.toml:3:1: unknown key `providers."openai.api_key"`; did you mean providers.openai.api_key? allowed here: [providers.anthropic], [providers.mock], [providers.openai], [providers.openrouter], default
            punk.toml:5:1: unknown key `server."a \"b"`; allowed here: base_url, cors_origins, drain_delay_seconds, drain_seconds, forwarded_header, host, max_body_bytes, port, trusted_proxies"#]],
    );
}

#[test]
fn a_key_in_the_wrong_section_is_found_by_its_name() {
    check(
        "[server]\napi_key = 'x'\n[nonsense]\nwhatever = 1",
        &[],
        &[],
        &expect![[r#"
            punk.toml:2:1: unknown key `server.api_key`; did you mean auth.api_key or providers.openai.api_key or providers.anthropic.api_key? allowed here: base_url, cors_origins, drain_delay_seconds, drain_seconds, forwarded_header, host, max_body_bytes, port, trusted_proxies
            punk.toml:3:2: unknown key `nonsense`; allowed here: [auth], [cache], [chorus], [governance], [jobs], [keys], [learning], [ledger], [limits], [log], [mcp], [oidc], [providers], [redaction], [server], [store], [vault], [web], [webhooks], [upstreams.NAME], [models.NAME], [prices.NAME], [sinks.NAME], [issuers.NAME]"#]],
    );
}

#[test]
fn every_syntax_error_is_placed() {
    check(
        "[server\nport = 1\nhost = \nport = 1\nport = 2\n",
        &[("PUNK_X", "1")],
        &[],
        &expect![[r#"
            punk.toml:1:8: unclosed table, expected `]`; the file must be TOML: [section] lines and name = value lines
            PUNK_X: unknown variable; unset it; `punk config` lists every variable that is read"#]],
    );
    check(
        "[server]\nport = 1\nport = 2\nhost = \n",
        &[],
        &[],
        &expect![[r#"
        punk.toml:3:1: duplicate key; the file must be TOML: [section] lines and name = value lines
        punk.toml:4:8: string values must be quoted, expected literal string; the file must be TOML: [section] lines and name = value lines"#]],
    );
    check(
        "é = 1",
        &[],
        &[],
        &expect![
            "punk.toml:1:1: invalid unquoted key, expected letters, numbers, `-`, `_`; the file must be TOML: [section] lines and name = value lines"
        ],
    );
}

#[test]
fn no_part_of_a_secret_is_repeated() {
    let secret = "hunter2 hunter2";
    for file in [
        format!("[auth]\napi_key = '{secret}'"),
        format!("[auth]\napi_key = {secret}"),
        format!("[auth]\napi_key = ['{secret}']"),
        format!("[auth]\napi_key = '{secret}"),
    ] {
        let problems =
            load(&sources(&file, &[("OPENAI_API_KEY", secret)], &[("auth.api_key", secret)])).unwrap_err();
        assert!(problems.0.len() >= 3, "{problems}");
        assert!(!problems.to_string().contains("hunter"), "{problems}");
        assert!(!format!("{problems:?}").contains("hunter"), "{problems:?}");
    }
    check(
        "[auth]\napi_key = 'a b'",
        &[("PUNK_MCP_API_KEY", "a b")],
        &[("auth.api_key", "ab")],
        &expect![[r#"
            punk.toml:2:11: the value (hidden) is not a value of auth.api_key; auth.api_key must be visible ASCII characters without spaces
            PUNK_MCP_API_KEY: the value (hidden) is not a value of mcp.api_key; mcp.api_key must be visible ASCII characters without spaces
            --set: auth.api_key is secret, and other users can see a command line; set PUNK_API_KEY in its place"#]],
    );
}

#[test]
fn a_loaded_secret_is_not_printed() {
    let settings = loaded("[auth]\napi_key = 'hunter2'", &[], &[]);
    assert_eq!(settings.api_key().unwrap().expose(), "hunter2");
    assert!(!format!("{settings:#?}").contains("hunter"));
    assert_eq!(settings.get("auth.api_key").unwrap().value.as_ref().unwrap().to_string(), "••••");
}

#[test]
fn a_key_set_by_two_flags_is_refused() {
    check(
        "",
        &[],
        &[("server.port", "1"), ("server.port", "2")],
        &expect!["--set: server.port is set by two flags; keep one of them"],
    );
}

#[cfg(unix)]
#[test]
fn bytes_that_are_no_text_are_refused_by_name() {
    use std::os::unix::ffi::OsStringExt as _;
    let bytes = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    let environment = vec![
        (bytes(b"PUNK_PORT"), bytes(b"\xff")),
        (bytes(b"PUNK_\xff"), bytes(b"x")),
        (bytes(b"\xff"), bytes(b"\xff")),
    ];
    let told = load(&Sources { environment, ..Sources::default() }).unwrap_err().to_string();
    expect![[r#"
        PUNK_�: unknown variable; unset it; `punk config` lists every variable that is read
        PUNK_PORT: the value is not UTF-8; write the value of server.port in UTF-8"#]]
    .assert_eq(&told);
}

#[test]
fn the_file_is_the_one_named_by_the_strongest() {
    let environment = [("PUNK_CONFIG".into(), "env.toml".into())];
    let named = |path: &str, place| FileChoice::Named { path: path.into(), place };
    assert_eq!(file_choice(Some(OsStr::new("flag.toml")), &environment), named("flag.toml", "--config"));
    assert_eq!(file_choice(None, &environment), named("env.toml", "PUNK_CONFIG"));
    assert_eq!(file_choice(None, &[]), FileChoice::Default("punk.toml".into()));
    assert_eq!(
        file_choice(None, &[("PUNK_CONFIG".into(), "".into())]),
        FileChoice::Default("punk.toml".into())
    );
}

#[test]
fn a_named_file_that_cannot_be_read_is_told_with_the_rest() {
    let file = FileSource::Unreadable {
        name: "x.toml".into(),
        place: "--config".into(),
        reason: "no such file".into(),
    };
    let environment = vec![("PUNK_PORT".into(), "-1".into())];
    let told = load(&Sources { file, environment, ..Sources::default() }).unwrap_err().to_string();
    expect![[r#"
        --config: cannot read x.toml: no such file; name a file that can be read, or leave it out
        PUNK_PORT: "-1" is not a value of server.port; server.port must be a whole number from 0 to 65535"#]]
    .assert_eq(&told);
}

#[test]
fn every_key_can_be_set_in_the_file_and_in_the_environment() {
    for key in config::all() {
        let value = sample(key);
        let quoted = if matches!(key.kind, config::Kind::Integer { .. } | config::Kind::Boolean) {
            value.to_owned()
        } else {
            format!("'{value}'")
        };
        let (section, name) = key.path.rsplit_once('.').unwrap();
        let file = loaded(&format!("[{section}]\n{name} = {quoted}"), &[], &[]);
        let environment = loaded("", &[(key.env, value)], &[]);
        let expected = Value::from_text(key, value);
        assert!(expected.is_some(), "{}", key.path);
        assert_eq!(file.get(key.path).unwrap().value, expected, "{}", key.path);
        assert_eq!(environment.get(key.path).unwrap().value, expected, "{}", key.path);
    }
}

/// A value that the key takes.
fn sample(key: &config::Key) -> &'static str {
    use config::Kind;
    match key.kind {
        Kind::Address => "10.0.0.1",
        Kind::Integer { .. } if key.path.ends_with("_bytes") => "1048576",
        Kind::Integer { .. } if key.path.ends_with("_percent") => "50",
        Kind::Integer { .. } => "150",
        Kind::Boolean => "true",
        Kind::Choice(words) => words[0],
        Kind::Text | Kind::Token | Kind::Path | Kind::LogName | Kind::Texts | Kind::Tokens => "sample",
        Kind::Origins => "https://a.org, http://localhost:3000",
        Kind::Networks => "10.0.0.0/8, ::1",
        Kind::Dollars => "2.5",
        Kind::Headers => "",
        Kind::Url(["postgres", ..]) => "postgres://host/db",
        Kind::Url(["redis", ..]) => "redis://host",
        Kind::Url(_) => "http://host",
        Kind::Email => "me@example.org",
    }
}
