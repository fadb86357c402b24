//! What `load` promises, for all inputs.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use config::{FileSource, Flag, Origin, Sources, load};
use proptest::prelude::*;

fn text_file(text: String) -> FileSource {
    FileSource::Text { name: "punk.toml".into(), text }
}

/// Text that often looks like a configuration, and often does not.
fn any_file() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("server".to_owned()),
        Just("port".to_owned()),
        Just("providers.openai".to_owned()),
        Just("api_key".to_owned()),
        Just("upstreams.a".to_owned()),
        Just("models.'x.y'".to_owned()),
        Just("upstream".to_owned()),
        Just("alias_of".to_owned()),
        Just("headers".to_owned()),
        Just("'a'".to_owned()),
        Just("[".to_owned()),
        Just("]".to_owned()),
        Just(" = ".to_owned()),
        Just("\n".to_owned()),
        Just("'".to_owned()),
        Just("4100".to_owned()),
        Just("true".to_owned()),
        Just("{".to_owned()),
        Just("}".to_owned()),
        Just(",".to_owned()),
        Just("0x".to_owned()),
        "\\PC{0,8}",
    ];
    prop_oneof![prop::collection::vec(word, 0..40).prop_map(|words| words.concat()), ".*"]
}

proptest! {
    #[test]
    fn nothing_makes_it_panic(
        file in any_file(),
        environment in prop::collection::vec(("(PUNK_)?[A-Z_]{0,12}|\\PC*", "\\PC*"), 0..6),
        flags in prop::collection::vec(("[a-z_.]{0,20}", "\\PC*"), 0..4),
    ) {
        let sources = Sources {
            flags: flags.into_iter().map(|(path, value)| Flag { name: "--set".into(), path, value }).collect(),
            environment: environment.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
            file: text_file(file),
        };
        match load(&sources) {
            Ok(settings) => prop_assert!(settings.iter().count() >= config::all().count()),
            Err(problems) => prop_assert!(!problems.0.is_empty() && !problems.to_string().is_empty()),
        }
    }

    /// The precedence law: whatever subset of the sources sets a key, the strongest of them holds.
    #[test]
    fn the_strongest_source_holds(
        file in proptest::option::of(1..=65535u16),
        environment in proptest::option::of(1..=65535u16),
        flag in proptest::option::of(1..=65535u16),
    ) {
        let sources = Sources {
            flags: flag.iter().map(|port| Flag { name: "--port".into(), path: "server.port".into(), value: port.to_string() }).collect(),
            environment: environment.iter().map(|port| ("PUNK_PORT".into(), port.to_string().into())).collect(),
            file: file.map_or(FileSource::Absent, |port| text_file(format!("[server]\nport = {port}"))),
        };
        let settings = load(&sources).unwrap();
        let from_file = Origin::File { name: "punk.toml".into(), line: 2, column: 1 };
        let expected = flag.map(|port| (port, Origin::Flag("--port".into())))
            .or(environment.map(|port| (port, Origin::Environment("PUNK_PORT".into()))))
            .or(file.map(|port| (port, from_file)))
            .unwrap_or((4100, Origin::Default));
        prop_assert_eq!((settings.port(), settings.get("server.port").unwrap().origin.clone()), expected);
    }

    /// A refusal is no accident of order: one bad source is enough, whatever the others say.
    #[test]
    fn a_bad_value_is_refused_even_where_a_stronger_source_would_win(port in 65536..1_000_000u32) {
        let sources = Sources {
            flags: vec![Flag { name: "--port".into(), path: "server.port".into(), value: "80".into() }],
            file: text_file(format!("[server]\nport = {port}")),
            ..Sources::default()
        };
        prop_assert_eq!(load(&sources).unwrap_err().0.len(), 1);
    }
}
