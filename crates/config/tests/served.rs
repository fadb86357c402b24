//! Who serves models: named tables, the built-in vendors and the limits, as the file and the environment say.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use config::{FileSource, Settings, Sources, UpstreamWire, load};
use expect_test::{Expect, expect};
use proptest::prelude::*;
use std::time::Duration;

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
[upstreams.groq]
base_url = "https://api.groq.com/openai/v1"
api_keys = ["gsk-hunter-b", "gsk-hunter-c"]
models = ["llama-*", "openai/gpt-oss-120b"]
headers = { X-Team = "hunter team" }
weight = 3
idle_timeout_seconds = 20

[upstreams.in-house]
base_url = "http://10.0.0.5:8000"
wire = "anthropic"

[models."fast"]
alias_of = "llama-3.3-70b-versatile"
upstreams = ["groq", "in-house"]
fallbacks = ["gpt-4.1-mini", "in-house:llama"]

[models."gpt-4.1"]
upstream = "openai"

[prices."llama-3.3-70b-versatile"]
input_per_million_usd = 0.59
output_per_million_usd = 1
cache_read_per_million_usd = 0.000001
"#;

#[test]
fn an_upstream_has_what_its_table_says_and_defaults_for_the_rest() {
    let settings = loaded(
        FILE,
        &[("PUNK_UPSTREAM_GROQ_API_KEY", "gsk-hunter-a"), ("PUNK_UPSTREAM_IN_HOUSE_API_KEY", "x")],
    );
    let upstreams = settings.upstreams();
    let [groq, house] = upstreams.as_slice() else { unreachable!() };
    assert_eq!((groq.name.as_str(), groq.base_url), ("groq", "https://api.groq.com/openai/v1"));
    let keys: Vec<_> = groq.api_keys.iter().map(|key| key.expose().as_str()).collect();
    assert_eq!(keys, ["gsk-hunter-a", "gsk-hunter-b", "gsk-hunter-c"]);
    assert_eq!(groq.models, ["llama-*", "openai/gpt-oss-120b"]);
    assert_eq!((groq.headers[0].0.as_str(), groq.headers[0].1.expose().as_str()), ("x-team", "hunter team"));
    assert_eq!((groq.wire, groq.responses, groq.weight), (UpstreamWire::OpenAi, false, 3));
    assert_eq!((groq.idle_timeout, groq.connect_timeout), (Duration::from_secs(20), Duration::from_secs(10)));
    assert_eq!((house.name.as_str(), house.wire, house.weight), ("in-house", UpstreamWire::Anthropic, 1));
    assert_eq!(house.api_keys[0].expose(), "x");
}

#[test]
fn the_environment_wins_over_the_file_for_the_key_of_an_upstream() {
    let file = "[upstreams.a]\nbase_url = 'http://a'\napi_key = 'from-file'";
    let settings = loaded(file, &[("PUNK_UPSTREAM_A_API_KEY", "from-env")]);
    assert_eq!(settings.upstreams()[0].api_keys[0].expose(), "from-env");
    let setting = settings.get("upstreams.a.api_key").unwrap();
    assert_eq!(setting.origin.to_string(), "env PUNK_UPSTREAM_A_API_KEY");
}

#[test]
fn models_and_prices_are_read_exactly() {
    let settings = loaded(FILE, &[]);
    let models = settings.models();
    assert_eq!(models[0].name, "fast");
    assert_eq!(models[0].alias_of, Some("llama-3.3-70b-versatile"));
    assert_eq!(models[0].upstreams, ["groq", "in-house"]);
    assert_eq!(models[0].fallbacks, ["gpt-4.1-mini", "in-house:llama"]);
    assert_eq!((models[1].name.as_str(), models[1].upstreams.as_slice()), ("gpt-4.1", &["openai"][..]));
    let price = &settings.prices()[0];
    assert_eq!((price.input, price.output, price.cache_read), (590_000, 1_000_000, Some(1)));
    assert_eq!((price.cache_write, price.cache_write_long, price.reasoning), (None, None, None));
}

#[test]
fn the_secrets_of_upstreams_are_masked_and_never_shown() {
    let settings = loaded(FILE, &[("PUNK_UPSTREAM_GROQ_API_KEY", "gsk-hunter-a")]);
    let secrets: Vec<_> = settings.secrets().map(|secret| secret.expose().as_str()).collect();
    for secret in ["gsk-hunter-a", "gsk-hunter-b", "gsk-hunter-c", "hunter team"] {
        assert!(secrets.contains(&secret), "{secret}");
    }
    let shown: String =
        settings.iter().filter_map(|setting| Some(format!("{}", setting.value.as_ref()?))).collect();
    assert!(!shown.contains("hunter") && shown.contains("••••"), "{shown}");
    assert!(!format!("{settings:?}").contains("hunter"));
}

#[test]
fn what_is_wrong_with_named_tables_is_told_at_once() {
    check(
        "upstreams.a = 1\n[upstreams.groq]\nbase_ulr = 'x'\nwire = 'soap'\n[upstreams.b]\nbase_url = 'nowhere'\n[upstreams.openai]\n\
         [upstreams.'B_c']\n[models.fast]\nupstream = 'grok'\nupstreams = ['b', 'nobody']\n[models.x]\nalias_of = 'y'\n[models.y]\nalias_of = 'x'\n\
         [prices.m]\ninput_per_million_usd = '1'\noutput_per_million_usd = -1\n[prices.n]\ninput_per_million_usd = 1e3\n",
        &[("PUNK_UPSTREAM_GROK_API_KEY", "x"), ("PUNK_UPSTREAM_B_API_KEY", "a b")],
        &expect![[r#"
            punk.toml:1:11: `upstreams.a` is a section, not a value; write a line [upstreams.a] and below it any of: base_url, wire, responses, api_key, api_keys, models, headers, weight, connect_timeout_seconds, first_byte_timeout_seconds, idle_timeout_seconds, total_timeout_seconds
            punk.toml:3:1: unknown key `upstreams.groq.base_ulr`; did you mean base_url? allowed here: base_url, wire, responses, api_key, api_keys, models, headers, weight, connect_timeout_seconds, first_byte_timeout_seconds, idle_timeout_seconds, total_timeout_seconds
            punk.toml:4:8: "soap" is not a value of upstreams.groq.wire; upstreams.groq.wire must be one of openai, anthropic
            punk.toml:6:12: "nowhere" is not a value of upstreams.b.base_url; upstreams.b.base_url must be a URL that starts with http:// or https://, without user name or password
            punk.toml:7:12: "openai" cannot be a name in [upstreams]; a name in [upstreams] must be lower-case letters, digits and dashes, beginning with a letter, 40 at most; openai, anthropic and openrouter are set below [providers], and mock is built in
            punk.toml:8:12: "B_c" cannot be a name in [upstreams]; a name in [upstreams] must be lower-case letters, digits and dashes, beginning with a letter, 40 at most; openai, anthropic and openrouter are set below [providers], and mock is built in
            punk.toml:17:25: "1" is not a value of prices.m.input_per_million_usd; prices.m.input_per_million_usd must be dollars from 0 to 1000000, with up to six digits after the point, without quotes
            punk.toml:18:26: "-1" is not a value of prices.m.output_per_million_usd; prices.m.output_per_million_usd must be dollars from 0 to 1000000, with up to six digits after the point
            punk.toml:20:25: "1e3" is not a value of prices.n.input_per_million_usd; prices.n.input_per_million_usd must be dollars from 0 to 1000000, with up to six digits after the point
            punk.toml:2:12: upstreams.groq.base_url is not set; set upstreams.groq.base_url to a URL that starts with http:// or https://, without user name or password
            punk.toml:19:9: prices.n.output_per_million_usd is not set; set prices.n.output_per_million_usd to dollars from 0 to 1000000, with up to six digits after the point
            punk.toml:10:1: models.fast.upstream names "grok", which is no upstream; did you mean groq? there are: groq, b, openai, anthropic, openrouter, mock
            punk.toml:11:1: models.fast.upstreams names "nobody", which is no upstream; there are: groq, b, openai, anthropic, openrouter, mock
            punk.toml:12:9: the aliases of model "x" lead back to it; let one of them name a model of an upstream
            punk.toml:14:9: the aliases of model "y" lead back to it; let one of them name a model of an upstream
            PUNK_UPSTREAM_GROK_API_KEY: unknown variable; did you mean PUNK_UPSTREAM_GROQ_API_KEY? `punk config` lists every variable that is read
            PUNK_UPSTREAM_B_API_KEY: the value (hidden) is not a value of upstreams.b.api_key; upstreams.b.api_key must be visible ASCII characters without spaces"#]],
    );
}

#[test]
fn lists_and_headers_of_the_wrong_kind_are_refused() {
    check(
        "[server]\ncors_origins = ['https://a.org', 'b.org']\n[upstreams.a]\nbase_url = 'http://a'\napi_keys = ['hunter 2', 3]\nheaders = { Host = 'hunter' }\nmodels = 3\n",
        &[("PUNK_CORS_ORIGINS", "https://a.org/")],
        &expect![[r#"
            punk.toml:2:16: "['https://a.org', 'b.org']" is not a value of server.cors_origins; server.cors_origins must be a list of origins such as https://app.example.org, or `*` alone
            punk.toml:5:12: the value (hidden) is not a value of upstreams.a.api_keys; upstreams.a.api_keys must be a list of tokens: visible ASCII characters without spaces
            punk.toml:6:11: the value (hidden) is not a value of upstreams.a.headers; upstreams.a.headers must be a table of HTTP headers such as { x-team = "a" }, without host, content-length, connection and the like
            punk.toml:7:10: "3" is not a value of upstreams.a.models; upstreams.a.models must be a list of texts that are not empty
            PUNK_CORS_ORIGINS: "https://a.org/" is not a value of server.cors_origins; server.cors_origins must be a list of origins such as https://app.example.org, or `*` alone"#]],
    );
}

#[test]
fn upstreams_are_not_set_by_flags() {
    let flags = vec![config::Flag {
        name: "--set".into(),
        path: "upstreams.a.base_url".into(),
        value: "http://a".into(),
    }];
    let told = load(&Sources { flags, ..Sources::default() }).unwrap_err().to_string();
    expect!["--set: [upstreams.NAME] is set only in the file; write it below [upstreams.NAME] in punk.toml"]
        .assert_eq(&told);
}

#[test]
fn a_vendor_is_configured_by_a_key_or_by_an_address_of_its_own() {
    let of = |environment: &[(&str, &str)]| loaded("", environment).openai().configured;
    assert!(!of(&[]));
    assert!(of(&[("OPENAI_API_KEY", "sk-x")]));
    assert!(of(&[("OPENAI_BASE_URL", "http://localhost:11434/v1")]));
    assert!(!of(&[("ANTHROPIC_API_KEY", "sk-x")]));
    assert_eq!(loaded("", &[]).openai().base_url, "https://api.openai.com/v1");
}

#[test]
fn zero_is_no_limit() {
    let settings = loaded("[limits]\nrequests_per_minute = 0", &[("PUNK_CHAT_RATE_LIMIT_RPM", "5")]);
    assert_eq!(settings.requests_per_minute(), None);
    assert_eq!(settings.chat_requests_per_minute().unwrap().get(), 5);
    assert_eq!(settings.ip_requests_per_minute(), None);
    assert_eq!(settings.user_requests_per_minute(), None);
    let settings = loaded("[limits]\nuser_requests_per_minute = 7", &[]);
    assert_eq!(settings.user_requests_per_minute().unwrap().get(), 7);
}

#[test]
fn proxies_are_trusted_by_network_and_only_when_told() {
    assert!(loaded("", &[]).trusted_proxies().is_empty());
    let settings = loaded("[server]\ntrusted_proxies = [\"10.0.0.0/8\", \"::1\"]", &[]);
    let shown: Vec<String> = settings.trusted_proxies().iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["10.0.0.0/8", "::1/128"]);
    let settings = loaded("", &[("PUNK_TRUSTED_PROXIES", "192.0.2.1, 192.0.2.2")]);
    assert_eq!(settings.trusted_proxies().len(), 2);
}

#[test]
fn unless_told_otherwise_bodies_are_limited_pages_refused_and_answers_given_again_for_a_day() {
    let settings = loaded("", &[]);
    assert_eq!(settings.max_body_bytes(), 32 * 1024 * 1024);
    assert!(settings.cors_origins().is_empty());
    let cache = settings.exact_cache();
    assert_eq!((cache.enabled, cache.ttl, cache.max_entries), (true, Duration::from_secs(86400), 100_000));
    assert!(cache.deterministic_only && !settings.mock_is_instant());
    let settings =
        loaded("[server]\ncors_origins = 'https://a.org, https://b.org'", &[("PUNK_MOCK_PACE", "instant")]);
    assert_eq!(settings.cors_origins(), ["https://a.org", "https://b.org"]);
    assert!(settings.mock_is_instant());
}

proptest! {
    #[test]
    fn no_two_upstreams_share_a_variable(a in "[a-z][a-z0-9-]{0,8}", b in "[a-z][a-z0-9-]{0,8}") {
        prop_assume!(a != b && !["openai", "mock"].contains(&a.as_str()) && !["openai", "mock"].contains(&b.as_str()));
        let file = format!("[upstreams.{a}]\nbase_url = 'http://a'\n[upstreams.{b}]\nbase_url = 'http://b'");
        let variable = format!("PUNK_UPSTREAM_{}_API_KEY", a.to_uppercase().replace('-', "_"));
        let settings = loaded(&file, &[(&variable, "x")]);
        let keys = settings.upstreams().iter().map(|upstream| upstream.api_keys.len()).sum::<usize>();
        prop_assert_eq!(keys, 1);
    }

    #[test]
    fn any_printable_name_can_be_a_model(name in "\\PC{1,30}") {
        let quoted = format!("{:?}", name.replace(['\\', '"'], ""));
        prop_assume!(quoted.len() > 2 && !quoted.contains("\\u"));
        let file = format!("[models.{quoted}]\nupstream = 'mock'\n[prices.{quoted}]\ninput_per_million_usd = 1\noutput_per_million_usd = 2.5");
        let settings = loaded(&file, &[]);
        prop_assert_eq!(&settings.models()[0].name, quoted.trim_matches('"'));
        prop_assert_eq!(settings.prices()[0].output, 2_500_000);
    }
}
