//! Frames, however their bytes come.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

use proptest::prelude::*;
use wire::sse::{Decoder, write_frame};

/// The bytes of a frame, the name of its event and its data.
type Seen = (Vec<u8>, Option<String>, Option<String>);

fn frames(pieces: &[&[u8]]) -> Vec<Seen> {
    let mut decoder = Decoder::default();
    let mut seen = Vec::new();
    for piece in pieces {
        decoder.feed(piece);
        drain(&mut decoder, &mut seen);
    }
    decoder.finish();
    drain(&mut decoder, &mut seen);
    seen
}

fn drain(decoder: &mut Decoder, seen: &mut Vec<Seen>) {
    while let Some(frame) = decoder.next().unwrap() {
        let name = frame.event.and_then(|event| event.name).map(str::to_owned);
        seen.push((frame.raw.to_vec(), name, frame.event.map(|event| event.data.to_owned())));
    }
}

fn data(text: &str) -> Vec<Option<String>> {
    frames(&[text.as_bytes()]).into_iter().map(|(_, _, data)| data).collect()
}

#[test]
fn lines_end_in_any_of_three_ways() {
    for text in ["data: a\n\ndata: b\n\n", "data: a\r\n\r\ndata: b\r\n\r\n", "data: a\r\rdata: b\r\r"] {
        assert_eq!(data(text), [Some("a".to_owned()), Some("b".to_owned())], "{text:?}");
    }
}

#[test]
fn lines_of_data_are_joined() {
    assert_eq!(data("data: a\ndata:\ndata:b\n\n"), [Some("a\n\nb".to_owned())]);
}

#[test]
fn comments_are_passed_on_and_say_nothing() {
    let seen = frames(&[b": ping\n\ndata: a\n\n"]);
    assert_eq!(seen[0], (b": ping\n\n".to_vec(), None, None));
    assert_eq!(seen[1].2.as_deref(), Some("a"));
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_line() {
    assert_eq!(data("\u{feff}data: a\n\n"), [Some("a".to_owned())]);
}

#[test]
fn a_name_holds_for_one_frame() {
    let seen = frames(&[b"event: one\ndata: a\n\ndata: b\n\n"]);
    assert_eq!(seen[0].1.as_deref(), Some("one"));
    assert_eq!(seen[1].1, None);
}

#[test]
fn a_stream_that_ends_without_an_empty_line_loses_nothing() {
    assert_eq!(data("data: a\n\ndata: [DONE]"), [Some("a".to_owned()), Some("[DONE]".to_owned())]);
}

#[test]
fn a_frame_without_end_is_given_up_at_the_limit() {
    let mut decoder = Decoder::new(1000);
    let mut given_up = false;
    for _ in 0..100 {
        decoder.feed(b"data: no empty line follows\n");
        given_up |= decoder.next().is_err();
    }
    assert!(given_up);
}

proptest! {
    #[test]
    fn the_frames_are_the_same_however_the_bytes_are_split(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "data: a", "data:", "data", "event: b", ":c", "\n", "\n", "\n\n", "\r", "\r\n", "\r\n\r\n", "\u{feff}", "é",
                "\0", "id: 1", "retry: 5",
            ]),
            0..40,
        ),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let text = words.concat();
        let bytes = text.as_bytes();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect();
        let whole = frames(&[bytes]);
        prop_assert_eq!(&frames(&pieces), &whole);
        let raw: Vec<u8> = whole.into_iter().flat_map(|(raw, _, _)| raw).collect();
        prop_assert_eq!(raw, bytes);
    }

    #[test]
    fn what_is_written_is_read(name in prop::option::of("[a-z._]{1,12}"), said in "[^\r]{0,60}") {
        let mut out = Vec::new();
        write_frame(name.as_deref(), &said, &mut out);
        prop_assert_eq!(frames(&[&out]), [(out.clone(), name, Some(said))]);
    }
}
