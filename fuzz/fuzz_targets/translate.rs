//! The translators, every wire with every other: what is sent is what the other would take, and what comes back says the same.
//!
//! The input is read as a request, as an answer and as a stream, by every wire.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use wire::sse::Decoder;
use wire::{Answer, Delta, Gather, Part, Stamp, Wire};

fuzz_target!(|bytes: &[u8]| {
    let body = serde_json::from_slice::<Value>(bytes).ok();
    for from in Wire::ALL {
        if let Some(body) = &body {
            cross_request(from, body);
            if let Ok(answer) = from.read_answer(body) {
                cross_answer(&answer);
            }
        }
        if let Some(deltas) = read_stream(from, bytes) {
            cross_stream(&deltas);
        }
    }
});

/// There, and back.
fn cross_request(from: Wire, body: &Value) {
    let Ok(request) = from.read_request(body) else { return };
    for to in Wire::ALL {
        let Ok(there) = to.write_request(&request) else { continue };
        let heard = to
            .read_request(&there.body)
            .unwrap_or_else(|refused| panic!("{from:?} to {to:?}, {refused}: {}", there.body));
        assert_eq!(heard.stream, request.stream);
        if let Ok(back) = from.write_request(&heard) {
            assert!(from.read_request(&back.body).is_ok(), "{from:?} to {to:?} and back: {}", back.body);
        }
    }
}

fn cross_answer(answer: &Answer) {
    for to in Wire::ALL {
        let written = to.write_answer(answer, &Stamp::default());
        // What makes no sense by itself, such as a call without a name, makes none in another wire; a client says so.
        let Ok(heard) = to.read_answer(&written) else { continue };
        assert_eq!(spoken(&heard), spoken(answer), "{to:?}: {written}");
        // Told as a stream it says the same.
        let (mut writer, mut bytes) = (to.writer(&Stamp::default(), true), Vec::new());
        answer.deltas().iter().for_each(|delta| writer.write(delta, &mut bytes));
        let Some(streamed) = read_stream(to, &bytes) else { continue };
        assert_eq!(spoken(&gathered(&streamed)), spoken(answer), "{to:?}");
    }
}

fn cross_stream(deltas: &[Delta]) {
    let ended =
        deltas.contains(&Delta::End) && !deltas.iter().any(|delta| matches!(delta, Delta::Error { .. }));
    for to in Wire::ALL {
        let (mut writer, mut bytes) = (to.writer(&Stamp::default(), true), Vec::new());
        deltas.iter().for_each(|delta| writer.write(delta, &mut bytes));
        let Some(heard) = read_stream(to, &bytes) else { continue };
        // A cut never looks like an end.
        assert!(ended || !heard.contains(&Delta::End), "{to:?}: {deltas:?}");
    }
}

/// The words of the first choice, which every wire has.
fn spoken(answer: &Answer) -> String {
    let parts = answer.choices.first().map_or(&[][..], |choice| &choice.parts);
    let words = parts.iter().filter_map(|part| match part {
        Part::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    words.collect()
}

fn gathered(deltas: &[Delta]) -> Answer {
    let mut gather = Gather::default();
    deltas.iter().for_each(|delta| gather.take(delta));
    gather.into_answer()
}

/// What a stream says; nothing, if it breaks a rule of its wire.
fn read_stream(wire: Wire, bytes: &[u8]) -> Option<Vec<Delta>> {
    let (mut decoder, mut reader, mut deltas) = (Decoder::default(), wire.reader(), Vec::new());
    decoder.feed(bytes);
    decoder.finish();
    while let Some(frame) = decoder.next().ok()? {
        if let Some(event) = frame.event {
            reader.read(&event, &mut deltas).ok()?;
        }
    }
    reader.close(&mut deltas);
    Some(deltas)
}
