#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;

fn upstream(name: &str, models: &[&str]) -> UpstreamModels {
    UpstreamModels { name: name.into(), models: models.iter().map(|&model| model.into()).collect() }
}

fn rule(name: &str, alias_of: &str, upstreams: &[&str], fallbacks: &[&str]) -> ModelRule {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    ModelRule {
        name: name.into(),
        alias_of: Some(alias_of.to_owned()).filter(|alias| !alias.is_empty()),
        upstreams: owned(upstreams),
        fallbacks: owned(fallbacks),
    }
}

/// Everything configured.
fn full() -> Catalogue {
    Catalogue {
        openai: true,
        anthropic: true,
        openrouter: true,
        default: None,
        upstreams: vec![upstream("groq", &["llama-*"]), upstream("house", &["llama-3*", "*-internal"])],
        models: vec![
            rule("fast", "llama-3.3-70b", &[], &["gpt-4.1-mini", "house:small"]),
            rule("gpt-4o", "openai:gpt-4o", &[], &[]),
            rule("shared", "", &["openai", "groq"], &["claude-haiku-4-5"]),
            rule("quick", "fast", &["groq"], &[]),
        ],
    }
}

/// `upstream=model` choices, `,` within a group, ` | ` between groups.
#[track_caller]
fn check(catalogue: &Catalogue, requested: &str, expected: &Expect) {
    let told = match catalogue.resolve(requested) {
        Ok(Resolution { canonical, groups }) => {
            let group = |group: &Vec<Choice>| {
                let choices: Vec<_> =
                    group.iter().map(|choice| format!("{}={}", choice.upstream, choice.model)).collect();
                choices.join(",")
            };
            format!("{canonical}: {}", groups.iter().map(group).collect::<Vec<_>>().join(" | "))
        }
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&told);
}

#[test]
fn an_id_finds_the_vendor_it_belongs_to() {
    let full = full();
    check(&full, "gpt-4.1", &expect!["gpt-4.1: openai=gpt-4.1"]);
    check(&full, "openai:gpt-4.1", &expect!["gpt-4.1: openai=gpt-4.1"]);
    check(&full, "claude-sonnet-4-5", &expect!["claude-sonnet-4-5: anthropic=claude-sonnet-4-5"]);
    check(&full, "anthropic:claude-sonnet-4-5", &expect!["claude-sonnet-4-5: anthropic=claude-sonnet-4-5"]);
    check(&full, "openai/gpt-4o", &expect!["gpt-4o: openrouter=openai/gpt-4o"]);
    check(
        &full,
        "deepseek/deepseek-r1:free",
        &expect!["deepseek/deepseek-r1:free: openrouter=deepseek/deepseek-r1:free"],
    );
    check(&full, "groq:openai/gpt-oss-120b", &expect!["gpt-oss-120b: groq=openai/gpt-oss-120b"]);
    check(&full, "llama3:8b", &expect!["llama3:8b: openai=llama3:8b"]);
    check(&full, "mock-small", &expect!["mock-small: mock=mock-small"]);
    check(&full, "mock:gpt-4.1", &expect!["gpt-4.1: mock=gpt-4.1"]);
    check(&full, "openai:", &expect![[r#""openai:" names no model"#]]);
}

#[test]
fn what_is_configured_comes_first() {
    let full = full();
    check(&full, "llama-2-7b", &expect!["llama-2-7b: groq=llama-2-7b"]);
    check(&full, "llama-3.3-70b", &expect!["llama-3.3-70b: groq=llama-3.3-70b,house=llama-3.3-70b"]);
    check(&full, "gpt-internal", &expect!["gpt-internal: house=gpt-internal"]);
    check(
        &full,
        "fast",
        &expect!["llama-3.3-70b: groq=llama-3.3-70b,house=llama-3.3-70b | openai=gpt-4.1-mini | house=small"],
    );
    check(&full, "quick", &expect!["llama-3.3-70b: groq=llama-3.3-70b | openai=gpt-4.1-mini | house=small"]);
    check(&full, "shared", &expect!["shared: openai=shared,groq=shared | anthropic=claude-haiku-4-5"]);
    check(&full, "gpt-4o", &expect!["gpt-4o: openai=gpt-4o"]);
    check(
        &full,
        "house:fast",
        &expect!["llama-3.3-70b: house=llama-3.3-70b | openai=gpt-4.1-mini | house=small"],
    );
}

#[test]
fn without_openrouter_a_slug_finds_its_own_vendor() {
    let both = Catalogue { openai: true, anthropic: true, ..Catalogue::default() };
    check(&both, "openai/gpt-4o", &expect!["gpt-4o: openai=gpt-4o"]);
    check(&both, "anthropic/claude-sonnet-4.5", &expect!["claude-sonnet-4-5: anthropic=claude-sonnet-4-5"]);
    check(&both, "openai/mock:gpt-4o", &expect!["gpt-4o: openai=gpt-4o"]);
    check(
        &both,
        "mistralai/mistral-large",
        &expect![[
            r#"model "mistralai/mistral-large" is served by openrouter, which has no key: set OPENROUTER_API_KEY"#
        ]],
    );
}

#[test]
fn a_missing_key_is_named_and_never_becomes_the_mock() {
    let openai = Catalogue { openai: true, ..Catalogue::default() };
    check(
        &openai,
        "claude-opus-4-5",
        &expect![[
            r#"model "claude-opus-4-5" is served by anthropic, which has no key: set ANTHROPIC_API_KEY"#
        ]],
    );
    let openrouter = Catalogue { openrouter: true, ..Catalogue::default() };
    check(
        &openrouter,
        "openai:gpt-4o",
        &expect![[
            r#"model "openai:gpt-4o" is served by openai, which has no key: set OPENAI_API_KEY, or ask for "openai/gpt-4o" to have it from openrouter"#
        ]],
    );
    let set = Catalogue { default: Some("openai".into()), ..Catalogue::default() };
    assert!(set.resolve("gpt-4o").is_err());
    let rules = Catalogue { models: vec![rule("a", "", &["openai"], &["claude-x"])], ..openai };
    assert_eq!(rules.unserved().len(), 1);
    check(&rules, "a", &expect!["a: openai=a"]);
}

#[test]
fn without_any_key_or_when_forced_everything_is_the_mocks() {
    check(&Catalogue::default(), "openai:gpt-4o", &expect!["gpt-4o: mock=gpt-4o"]);
    let forced = Catalogue { default: Some("mock".into()), ..full() };
    check(
        &forced,
        "anthropic/claude-sonnet-4.5",
        &expect!["claude-sonnet-4-5: mock=anthropic/claude-sonnet-4.5"],
    );
    check(&forced, "fast", &expect!["llama-3.3-70b: mock=llama-3.3-70b"]);
}

#[test]
fn the_default_provider_takes_what_no_rule_is_about() {
    let anthropic = Catalogue { default: Some("anthropic".into()), ..full() };
    check(&anthropic, "something", &expect!["something: anthropic=something"]);
    let only = Catalogue { upstreams: vec![upstream("local", &[])], ..Catalogue::default() };
    check(&only, "llama3:8b", &expect!["llama3:8b: local=llama3:8b"]);
}

#[test]
fn a_dated_snapshot_stays_itself() {
    assert_eq!(full().canonical("openai:gpt-4o-2024-08-06"), "gpt-4o-2024-08-06");
}

#[test]
fn patterns_fit_as_globs() {
    for (pattern, model, fits) in [
        ("a*", "abc", true),
        ("*c", "abc", true),
        ("a*c", "ac", true),
        ("a*c", "ab", false),
        ("a*b*c", "a-b-b-c", true),
        ("abc", "abc", true),
        ("abc", "abcd", false),
        ("*", "", true),
        ("a*a", "a", false),
    ] {
        assert_eq!(matches(pattern, model), fits, "{pattern} {model}");
    }
}

/// Ids out of the pieces that mean something.
fn any_id() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("openai:"),
        Just("anthropic:"),
        Just("groq:"),
        Just("house:"),
        Just("mock:"),
        Just("openai/"),
        Just("anthropic/"),
        Just("claude-"),
        Just("gpt-4o"),
        Just("fast"),
        Just("quick"),
        Just("4.5"),
        Just("llama-3"),
        Just(":"),
        Just("/"),
        Just("mock-"),
    ];
    prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat())
}

fn any_catalogue() -> impl Strategy<Value = Catalogue> {
    let rules = prop::collection::vec((any_id(), proptest::option::of(any_id())), 0..4);
    (any::<[bool; 4]>(), rules).prop_map(|([openai, anthropic, openrouter, upstreams], rules)| Catalogue {
        openai,
        anthropic,
        openrouter,
        default: None,
        upstreams: if upstreams { full().upstreams } else { Vec::new() },
        models: rules
            .into_iter()
            .map(|(name, alias_of)| ModelRule { name, alias_of, ..ModelRule::default() })
            .collect(),
    })
}

proptest! {
    #[test]
    fn the_canonical_name_of_a_canonical_name_is_itself(catalogue in any_catalogue(), id in any_id()) {
        let once = catalogue.canonical(&id);
        prop_assert_eq!(catalogue.canonical(&once), once);
    }

    #[test]
    fn no_prefix_reaches_an_upstream(catalogue in any_catalogue(), id in any_id()) {
        if let Ok(resolution) = catalogue.resolve(&id) {
            for choice in resolution.groups.iter().flatten() {
                prop_assert!(catalogue.prefix(&choice.model).is_none(), "{:?}", choice);
                prop_assert!(!choice.model.is_empty());
            }
            prop_assert!(!resolution.groups.is_empty() && resolution.groups.iter().all(|group| !group.is_empty()));
        }
    }

    #[test]
    fn a_prefix_changes_who_answers_and_not_what_the_model_is(model in "[a-z0-9.-]{1,12}") {
        let full = Catalogue { models: Vec::new(), ..full() };
        for name in ["openai", "anthropic", "groq", "mock"] {
            let prefixed = full.resolve(&format!("{name}:{model}")).unwrap();
            prop_assert_eq!(&prefixed.canonical, &full.canonical(&model));
            prop_assert_eq!(&prefixed.groups, &vec![vec![Choice { upstream: name.into(), model: model.clone() }]]);
        }
    }
}
