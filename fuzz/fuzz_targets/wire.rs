//! The wires: nothing that a caller or a vendor sends makes them panic, no byte of a stream is lost in its frames, and
//! what a splice did not name is as it was.
//!
//! The input is read as a body and as a stream, by every wire.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use wire::sse::Decoder;
use wire::{Delta, Gather, Stamp, Wire, splice};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(body) = serde_json::from_slice::<Value>(bytes) {
        read_body(&body);
        check_splice(bytes, &body);
    }
    for wire in Wire::ALL {
        read_stream(wire, bytes);
    }
});

fn read_body(body: &Value) {
    for wire in Wire::ALL {
        match wire.read_request(body) {
            Ok(request) => {
                for to in Wire::ALL {
                    match to.write_request(&request) {
                        Ok(translated) => assert!(translated.body.is_object()),
                        Err(refused) => assert!(!refused.message.is_empty()),
                    }
                    let _ = to.echo(&request);
                }
            }
            Err(refused) => assert!(refused.message.starts_with(&refused.param)),
        }
        if let Ok(answer) = wire.read_answer(body) {
            let mut gather = Gather::default();
            answer.deltas().iter().for_each(|delta| gather.take(delta));
            assert!(gather.ended());
            for to in Wire::ALL {
                assert!(to.write_answer(&answer, &Stamp::default()).is_object());
            }
        }
    }
}

fn check_splice(bytes: &[u8], body: &Value) {
    let Some(body) = body.as_object() else { return };
    let out = splice::with_fields(bytes, &[("model", Some(json!("m"))), ("user", None)]).unwrap();
    let found: Value = serde_json::from_slice(&out).unwrap();
    let mut expected = body.clone();
    expected.insert("model".to_owned(), json!("m"));
    expected.remove("user");
    assert_eq!(found, Value::Object(expected));
}

fn read_stream(wire: Wire, bytes: &[u8]) {
    let (mut decoder, mut reader, mut deltas) = (Decoder::default(), wire.reader(), Vec::new());
    let mut raw = Vec::new();
    let (head, tail) = bytes.split_at(bytes.len() / 2);
    for piece in [Some(head), Some(tail), None] {
        match piece {
            Some(piece) => decoder.feed(piece),
            None => decoder.finish(),
        }
        while let Some(frame) = decoder.next().unwrap() {
            raw.extend_from_slice(frame.raw);
            if let Some(event) = frame.event {
                let _ = reader.read(&event, &mut deltas);
            }
        }
    }
    assert_eq!(raw, bytes);
    reader.close(&mut deltas);
    let mut gather = Gather::default();
    deltas.iter().for_each(|delta| gather.take(delta));
    for to in Wire::ALL {
        let (mut writer, mut out) = (to.writer(&Stamp::default(), true), Vec::new());
        deltas.iter().for_each(|delta| writer.write(delta, &mut out));
        if deltas.is_empty() {
            assert!(out.is_empty());
        }
        writer.write(&Delta::End, &mut out);
    }
}
