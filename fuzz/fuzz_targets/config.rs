//! Configuration: any environment and any file is either settings or a list of problems, never a panic.
//!
//! The input is lines of `NAME=value`, a line with a NUL, and the text of a `punk.toml`.

#![no_main]

use config::{FileSource, Sources, load};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (environment, file) = text.split_once("\n\0\n").unwrap_or(("", text));
    let environment = environment.lines().filter_map(|line| line.split_once('='));
    let sources = Sources {
        flags: Vec::new(),
        environment: environment.map(|(name, value)| (name.into(), value.into())).collect(),
        file: FileSource::Text { name: "punk.toml".into(), text: file.to_owned() },
    };
    match load(&sources) {
        Ok(settings) => assert!(settings.iter().count() > 0),
        Err(problems) => assert!(!problems.to_string().is_empty()),
    }
});
