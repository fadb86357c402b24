//! The small commands, and what every command has in common.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod world;

use expect_test::expect;
use world::World;

#[test]
fn bare_punk_says_what_there_is() {
    let ended = World::new().punk_writes_nothing(&[]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    for command in ["keys", "config", "doctor", "version", "completions"] {
        assert!(ended.stdout.contains(&format!("  punk {command} ")), "{}", ended.stdout);
    }
    let json = World::new().punk(&["--json"]).json();
    assert_eq!(json["commands"][0]["command"], "punk serve");
}

#[test]
fn an_unknown_command_is_a_mistake_on_the_command_line() {
    expect![[r#"
        exit 2
        --- err
        error: unrecognized subcommand 'confg'

          tip: a similar subcommand exists: 'config'

        Usage: punk [OPTIONS] [COMMAND]

        For more information, try '--help'.
        hint: `punk --help` lists what can be typed
    "#]]
    .assert_eq(&World::new().punk_writes_nothing(&["confg"]).told());
    let ended = World::new().punk(&["--json", "confg"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""));
    assert_eq!(ended.error_json()["error"]["code"], "punk_usage");
}

#[test]
fn an_unknown_flag_and_a_missing_argument_are_mistakes_too() {
    for arguments in [
        &["--no-such"][..],
        &["keys"],
        &["keys", "rotate"],
        &["keys", "show", "key_1"],
        &["completions", "tcsh"],
        &["--set", "port"],
    ] {
        let ended = World::new().punk_writes_nothing(arguments);
        assert_eq!(ended.code, 2, "{arguments:?}");
        assert!(ended.stdout.is_empty() && ended.stderr.starts_with("error: "), "{}", ended.told());
    }
}

#[test]
fn help_is_an_answer() {
    let ended = World::new().punk(&["keys", "rotate", "--help"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    expect![[r#"
        Make a new key and retire the one before, which stays to verify and open what it made

        Usage: punk keys rotate [OPTIONS] <PURPOSE>

        Arguments:
          <PURPOSE>
                  What the key is for

                  Possible values:
                  - log:   Signs the checkpoints of transparency logs
                  - seal:  Seals secrets at rest
                  - token: Signs the tokens that say who somebody is

        Options:
              --json
                  Answer in JSON, errors included

          -h, --help
                  Print help (see a summary with '-h')

        Settings:
              --config <FILE>
                  The configuration file [default: punk.toml]

              --host <ADDRESS>
                  server.host

              --port <PORT>
                  server.port

              --data-dir <FOLDER>
                  store.data_dir

              --set <KEY=VALUE>
                  Any other setting, by its key; can be repeated
    "#]]
    .assert_eq(&ended.stdout);
}

#[test]
fn version_names_the_formats_that_are_spoken() {
    let ended = World::new().punk_writes_nothing(&["version"]);
    assert_eq!(ended.code, 0);
    assert!(ended.stdout.contains("punk.evidence/1"), "{}", ended.stdout);
    let json = World::new().punk(&["version", "--json"]).json();
    assert_eq!(json["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(json["formats"][0], "punk.evidence/1");
    assert!(json["target"].as_str().unwrap().contains('-'), "{json}");
    assert!(World::new().punk(&["--version"]).stdout.starts_with("punk 0."));
}

#[test]
fn every_shell_gets_its_completions() {
    for (shell, sign) in [
        ("bash", "complete -F _punk"),
        ("zsh", "#compdef punk"),
        ("fish", "complete -c punk"),
        ("elvish", "edit:completion:arg-completer[punk]"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let ended = World::new().punk_writes_nothing(&["completions", shell]);
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{shell}");
        assert!(ended.stdout.contains(sign), "{shell}: {}", ended.stdout);
    }
}

#[test]
fn version_and_completions_work_even_where_the_configuration_is_wrong() {
    let world = World::new().set("PUNK_PROT", "1");
    assert_eq!(world.punk(&["version"]).code, 0);
    assert_eq!(world.punk(&["completions", "bash"]).code, 0);
    assert_eq!(world.punk(&["keys", "list"]).code, 2);
}
