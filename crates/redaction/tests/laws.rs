//! Laws that hold for any text: findings do not depend on pieces, and nothing panics.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::sync::Arc;

use crypto::SecretString;
use proptest::prelude::*;
use redaction::{Detectors, Finding, MAX_HELD};

fn detectors() -> Arc<Detectors> {
    static SHARED: std::sync::LazyLock<Arc<Detectors>> = std::sync::LazyLock::new(|| {
        let builder = Detectors::builder()
            .known(["hunter2-and-more", "two words"].map(|text| SecretString::new(text.to_owned())))
            .dictionary("names", ["Project Falcon", "Müller"].map(str::to_owned))
            .custom("ticket", r"\bTCK-\d{4,8}\b")
            .unwrap()
            .canary(7, "heron-4711-Lantern");
        Arc::new(builder.build().unwrap())
    });
    Arc::clone(&SHARED)
}

/// Parts from which texts are made that rules almost, or just, match.
fn part() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "password",
        "api_key",
        "token",
        " is ",
        "=",
        ": ",
        "\"",
        "'",
        "\\\"",
        "\\n",
        " ",
        "\n",
        "=>",
        ",",
        "adafruit",
        "secret",
        "⟨email:1⟩",
        "⟨",
        "ghp_",
        "xoxb-123456789012-",
        "sk-ant-",
        "AKIA",
        "eyJhbGciOiJIUzI1NiJ9.",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "postgres://u:",
        "@host/db",
        "Authorization: Bearer ",
        "curl -u ",
        "%3D",
        "%",
        "\\u002d",
        "\u{200b}",
        "aHVudGVyMi1hbmQtbW9yZQ==",
        "hunter2-and-more",
        "two",
        " words",
        "Project ",
        "falcon",
        "TCK-12345",
        "heron",
        "4711",
        "lantern",
        "h e r o n",
        "é",
        "漢字",
        "5f4dcc3b5aa765d61d8327deb882cf99",
        "0123",
        "hooks.slack.com/services/",
        "PuTTY-User-Key-File-2",
        "kind: Secret",
        "a3c8c237:ea4fcaab",
        "base64,",
        "AbC9dEfGh1JkLm2NoPq3",
    ]);
    prop_oneof![
        6 => words.prop_map(str::to_owned),
        2 => "[A-Za-z0-9_+/=-]{1,40}",
        1 => "[a-z ]{1,30}",
        1 => "\\PC{0,6}",
        1 => "[A-Za-z0-9+/]{200,900}",
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(part(), 0..24).prop_map(|parts| parts.concat())
}

fn in_pieces(text: &str, cuts: &[usize]) -> Vec<Finding> {
    let mut stream = detectors().stream();
    let (mut found, mut at, mut settled) = (Vec::new(), 0, 0);
    for length in cuts.iter().cycle() {
        if at == text.len() {
            break;
        }
        let end = text.ceil_char_boundary((at + length).min(text.len()));
        let before = found.len();
        stream.push(&text[at..end], &mut found);
        at = end;
        assert!(found[before..].iter().all(|finding| finding.range.start >= settled), "{text:?}");
        assert!(stream.settled() >= settled && text.is_char_boundary(stream.settled()));
        settled = stream.settled();
        assert!(found.iter().all(|finding| finding.range.end <= settled));
        assert!(at - settled <= MAX_HELD);
    }
    stream.finish(&mut found);
    assert_eq!(stream.settled(), text.len());
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn pieces_change_nothing(text in text(), cuts in prop::collection::vec(1_usize..90, 1..12)) {
        let whole = detectors().find(&text);
        prop_assert!(whole.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start));
        for finding in &whole {
            prop_assert!(text.is_char_boundary(finding.range.start) && text.is_char_boundary(finding.range.end));
        }
        prop_assert_eq!(&in_pieces(&text, &cuts), &whole);
        prop_assert_eq!(&in_pieces(&text, &[1]), &whole);
    }

    #[test]
    fn what_is_found_early_is_found_in_the_end(text in text(), more in text()) {
        // The law of detectors, seen from outside: what was settled and told stays true whatever follows.
        let mut stream = detectors().stream();
        let mut early = Vec::new();
        stream.push(&text, &mut early);
        let whole = detectors().find(&format!("{text}{more}"));
        prop_assert_eq!(&whole[..early.len().min(whole.len())], &early[..]);
        let settled = stream.settled();
        prop_assert!(whole[early.len()..].iter().all(|finding| finding.range.start >= settled));
    }
}

#[test]
fn a_long_run_is_neither_held_back_nor_an_alarm() {
    let detectors = detectors();
    let mut stream = detectors.stream();
    let mut found = Vec::new();
    let mut random: u64 = 7;
    let mut pushed = 0;
    for _ in 0..4000 {
        let piece: String = (0..64)
            .map(|_| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                char::from(
                    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
                        [(random >> 58) as usize],
                )
            })
            .collect();
        stream.push(&piece, &mut found);
        pushed += piece.len();
        assert!(pushed - stream.settled() <= MAX_HELD);
    }
    stream.finish(&mut found);
    assert_eq!(found, []);
}
