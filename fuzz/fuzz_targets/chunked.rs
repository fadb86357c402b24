//! Chunks of an HTTP/1.1 body: whatever pieces they come in, the body, its end and what is refused are the same.
//!
//! The first byte of the input says how long the pieces are, the rest is what came.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::chunked::{BrokenChunks, Chunks};

fuzz_target!(|bytes: &[u8]| {
    let Some((&length, came)) = bytes.split_first() else { return };
    let whole = read(came, came.len().max(1));
    assert_eq!(read(came, usize::from(length) + 1), whole, "pieces change nothing");
    if let Ok((body, rest, is_over)) = whole {
        assert!(body.len() + rest.len() <= came.len(), "nothing is made up");
        assert!(is_over || rest.is_empty(), "what comes before the end is read");
        assert!(came.ends_with(&rest));
    }
});

/// The body, what comes after its end, and whether that has come.
fn read(came: &[u8], length: usize) -> Result<(Vec<u8>, Vec<u8>, bool), BrokenChunks> {
    let (mut chunks, mut body, mut rest) = (Chunks::default(), Vec::new(), Vec::new());
    for piece in came.chunks(length) {
        let read = chunks.read(piece, &mut body)?;
        rest.extend_from_slice(&piece[read..]);
    }
    Ok((body, rest, chunks.is_over()))
}
