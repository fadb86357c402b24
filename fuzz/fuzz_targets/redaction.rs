//! Redaction: whatever the text and wherever it is cut, the same is found, and nothing panics.

#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use redaction::{Detectors, MAX_HELD};

static DETECTORS: LazyLock<Arc<Detectors>> = LazyLock::new(|| {
    let builder = Detectors::builder()
        .dictionary("names", ["Project Falcon".to_owned(), "Müller".to_owned()])
        .custom("ticket", r"\bTCK-\d{4,8}\b")
        .unwrap()
        .canary(7, "heron-4711-Lantern");
    Arc::new(builder.build().unwrap())
});

fuzz_target!(|input: (u8, &str)| {
    let (length, text) = input;
    let whole = DETECTORS.find(text);
    assert!(whole.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start));
    assert!(whole.iter().all(|finding| text.get(finding.range.clone()).is_some()));
    let mut stream = DETECTORS.stream();
    let (mut found, mut at, mut settled) = (Vec::new(), 0, 0);
    while at < text.len() {
        let end = text.ceil_char_boundary((at + 1 + usize::from(length)).min(text.len()));
        stream.push(&text[at..end], &mut found);
        at = end;
        assert!(stream.settled() >= settled && at - stream.settled() <= MAX_HELD);
        settled = stream.settled();
    }
    stream.finish(&mut found);
    assert_eq!(found, whole);
});
