//! Server-sent events: the frames are the stream whatever pieces it comes in, and a frame past the limit is given up.
//!
//! The first byte of the input says how long the pieces are, the rest is the stream.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::sse::Decoder;

/// A limit that small inputs reach.
const LIMIT: usize = 64;

/// A frame: its bytes, its name and its data.
type Found = (Vec<u8>, Option<String>, Option<String>);

fuzz_target!(|bytes: &[u8]| {
    let Some((&length, stream)) = bytes.split_first() else { return };
    let whole = frames(Decoder::default(), stream, usize::MAX).unwrap();
    let raw: Vec<u8> = whole.iter().flat_map(|(raw, ..)| raw.iter().copied()).collect();
    assert_eq!(raw, stream, "no byte is lost and none is made up");

    let pieces = frames(Decoder::default(), stream, usize::from(length) + 1).unwrap();
    assert_eq!(pieces, whole, "pieces change nothing");

    match frames(Decoder::new(LIMIT), stream, 1) {
        Ok(found) => assert_eq!(found, whole),
        Err(()) => assert!(stream.len() > LIMIT, "what is short is never too long"),
    }
});

/// The frames of a stream that comes in pieces of at most so many bytes; nothing, if one is too long.
fn frames(mut decoder: Decoder, stream: &[u8], length: usize) -> Result<Vec<Found>, ()> {
    let mut found = Vec::new();
    for piece in stream.chunks(length.min(stream.len().max(1))) {
        decoder.feed(piece);
        take(&mut decoder, &mut found)?;
    }
    decoder.finish();
    take(&mut decoder, &mut found)?;
    Ok(found)
}

fn take(decoder: &mut Decoder, found: &mut Vec<Found>) -> Result<(), ()> {
    while let Some(frame) = decoder.next().map_err(drop)? {
        let said = |text: &str| text.to_owned();
        let (name, data) = (frame.event.and_then(|event| event.name), frame.event.map(|event| event.data));
        found.push((frame.raw.to_vec(), name.map(said), data.map(said)));
    }
    Ok(())
}
