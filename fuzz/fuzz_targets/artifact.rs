//! Artifacts: whatever reads as one runs to an end on whatever text, twice with the same answer, and survives being written; and a
//! part is completed by what is open in it, or not at all.

#![no_main]

use artifact::Artifact;
use artifact::program::{Input, Outcome, complete};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (program, input) = text.split_once('\n').unwrap_or((text, ""));
    let _ = artifact::token::tokens(input);
    let Ok(read) = serde_json::from_str::<Artifact>(program) else { return };
    let first = read.answer(&Input::new(input));
    assert_eq!(first, read.answer(&Input::new(input)));
    let written = serde_json::to_string(&read).expect("an artifact can be written");
    let again: Artifact = serde_json::from_str(&written).expect("what was written can be read");
    assert_eq!(first, again.answer(&Input::new(input)));
    let Outcome::Partial(part, _) = first else { return };
    let open = read.program.open();
    let told =
        open.iter().filter_map(|open| Some((open.name.clone(), open.values.first()?.clone()))).collect();
    if let Ok(whole) = complete(&part, open, &told) {
        assert!(part.iter().chain(&told).all(|(name, value)| whole.get(name) == Some(value)));
    }
});
