//! However a text is cut, the findings are the same.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::sync::Arc;

use crypto::SecretString;
use redaction::{Class, Detectors, Finding, MAX_HELD};

fn detectors() -> Arc<Detectors> {
    let known = ["hunter2-and-more", "two words here"].map(|text| SecretString::new(text.to_owned()));
    let words = ["Project Falcon", "Müller"].map(str::to_owned);
    let builder = Detectors::builder().known(known).dictionary("names", words);
    let builder = builder.custom("ticket", r"\bTCK-\d{4,8}\b").unwrap().canary(7, "heron-4711-Lantern");
    Arc::new(builder.build().unwrap())
}

fn in_pieces<'t>(detectors: &Arc<Detectors>, pieces: impl IntoIterator<Item = &'t str>) -> Vec<Finding> {
    let mut stream = detectors.stream();
    let (mut found, mut settled, mut length) = (Vec::new(), 0, 0);
    for piece in pieces {
        let before = found.len();
        stream.push(piece, &mut found);
        length += piece.len();
        assert!(found[before..].iter().all(|finding: &Finding| finding.range.start >= settled));
        assert!(stream.settled() >= settled);
        settled = stream.settled();
        assert!(found.iter().all(|finding| finding.range.end <= settled));
        assert!(length - settled <= MAX_HELD);
    }
    stream.finish(&mut found);
    assert_eq!(stream.settled(), length);
    assert!(found.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start));
    found
}

#[test]
fn a_cut_anywhere_changes_nothing() {
    let detectors = detectors();
    let text = "say hunter2-and-more, or aHVudGVyMi1hbmQtbW9yZQ== and two words here of PROJECT  falcon by müller; TCK-12345 ⟨email:1⟩ ghp_x8Kq2vB7nR4tZ1wP9sLdJm3Yc5Hf6Ga0UeTb end";
    let whole = detectors.find(text);
    assert_eq!(whole.len(), 8);
    for cut in (0..text.len()).filter(|cut| text.is_char_boundary(*cut)) {
        let (first, second) = text.split_at(cut);
        assert_eq!(in_pieces(&detectors, [first, second]), whole, "cut at {cut}");
    }
    let letters: Vec<String> = text.chars().map(String::from).collect();
    assert_eq!(in_pieces(&detectors, letters.iter().map(String::as_str)), whole);
}

#[test]
fn a_canary_is_known_in_every_dress() {
    let detectors = detectors();
    let dressed = [
        "heron-4711-Lantern",
        "HERON-4711-LANTERN",
        "h e r o n 4 7 1 1 l a n t e r n",
        "h.e.r.o.n\n4711\nlan\u{200b}tern",
        "nretnaL-1174-noreh",
        "ureba-4711-Ynagrea",
        "aGVyb24tNDcxMS1MYW50ZXJu",
        "IGhlcm9uLTQ3MTEtTGFudGVybiA=",
        "6865726f6e2d343731312d4c616e7465726e",
        "%68%65%72%6f%6e%2d%34%37%31%31%2d%4c%61%6e%74%65%72%6e",
    ];
    for dress in dressed {
        let text = format!("It said: {dress}, and no more of this");
        let whole = detectors.find(&text);
        assert!(whole.iter().any(|finding| finding.class == Class::Canary(7)), "{dress}: {whole:?}");
        for cut in (0..text.len()).filter(|cut| text.is_char_boundary(*cut)) {
            let (first, second) = text.split_at(cut);
            assert_eq!(in_pieces(&detectors, [first, second]), whole, "cut at {cut}");
        }
    }
}

#[test]
fn patterns_are_refused_with_a_reason() {
    let refused =
        |pattern: &str| Detectors::builder().custom("mine", pattern).map(drop).unwrap_err().to_string();
    assert_eq!(refused("a{1,"), "pattern `mine` cannot be read: unclosed counted repetition at column 2");
    assert_eq!(refused("a*"), "pattern `mine` matches the empty text; make it need at least one character");
    assert_eq!(
        refused(r"\w{300}\pL{400}"),
        "pattern `mine` is too large; shorten it, or lower its repetitions"
    );
}

#[test]
fn a_long_match_of_a_pattern_is_cut_off_and_goes_on() {
    let detectors = Arc::new(Detectors::builder().custom("rest", "begin.*").unwrap().build().unwrap());
    let text = format!("xx begin {}begin", "ab ".repeat(400));
    let whole = detectors.find(&text);
    assert_eq!(whole[0].range, 3..3 + redaction::MAX_CUSTOM);
    assert_eq!(in_pieces(&detectors, text.split_inclusive(' ')), whole);
}

#[test]
fn plain_prose_is_let_go_up_to_the_last_space() {
    let mut stream = detectors().stream();
    stream.push("Nothing is suspected in this sen", &mut Vec::new());
    assert_eq!(stream.settled(), "Nothing is suspected in this ".len());
}

#[test]
fn what_follows_the_first_line_of_a_block_says_nothing_of_it() {
    let detectors = detectors();
    let text = "-----BEGIN X KEY--)--\nmy --)--BEGIN PRIVATE KEY-----ghp\nMIIEvQIBAD";
    let letters: Vec<String> = text.chars().map(String::from).collect();
    assert_eq!(in_pieces(&detectors, letters.iter().map(String::as_str)), detectors.find(text));
}
