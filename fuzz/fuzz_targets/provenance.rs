//! What tools give back: no text makes the reader of printed records panic, and no conversation makes a judgement fail.

#![no_main]

use libfuzzer_sys::fuzz_target;
use provenance::{Call, Conversation, Settings, Trace, Turn, Undeclared};
use serde_json::{Map, Value};

fuzz_target!(|text: &str| {
    let read = provenance::read_printed(text);
    let (said, gave) =
        text.split_at(text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at));
    let output = read.unwrap_or_else(|| Value::from(gave));
    let result = Turn::Result { call: None, tool: "read_mail".to_owned(), output, digest: None };
    let turns = vec![Turn::User { text: said.to_owned() }, result];
    let conversation = Conversation { turns, ..Conversation::default() };
    let arguments =
        Map::from_iter([("to".to_owned(), Value::from(gave)), ("body".to_owned(), Value::from(said))]);
    let call = Call { id: None, tool: "send_mail".to_owned(), arguments };
    for undeclared in [Undeclared::Strict, Undeclared::Infer] {
        let settings = Settings { undeclared, ..Settings::default() };
        let trace = Trace::read(&settings, &conversation);
        assert_eq!(trace.judge(&call), trace.judge(&call));
    }
});
