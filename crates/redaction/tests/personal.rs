//! Personal data is found wherever the text is cut.

#![allow(clippy::unwrap_used, reason = "a helper of a test may fail as the test does")]

use std::sync::Arc;

use proptest::prelude::*;
use redaction::{Class, Detectors, Finding};

const SAMPLES: &[&str] = &[
    "Write to <jane.doe+news@mail.example.co.uk>, or zoë@bücher.example!",
    "call +46 (0)8 928 571 38 or (415) 555-2671 ext. 12, fax 467 3395 office",
    "card 4111 1111 1111 1111 123, to GB82 WEST 1234 5698 7654 32 please",
    "SSN 460-89-9847, NINO AB123456C, my driver's license number is F162823540116, passport no. X1234567",
    "from 81.2.69.142 and 2001:db8:85a3::8a2e:370:7334, not version 10.4.22.190",
    "lives at 172 Maneeži 75, Saareküla; 221B Baker Street, London NW1 6XE; Hauptstraße 5a, 10115 Berlin",
    "PSC 0413, Box 8144\nAPO AA 42323, P.O. Box 1234, Springfield, zip code is 35350",
    "my name is Šárka Ottová, Dr. Faina D. Yefremova, Best regards,\n\nMaureen Thibault",
];

fn detectors() -> Arc<Detectors> {
    let classes = [
        Class::Email,
        Class::Phone,
        Class::Card,
        Class::Iban,
        Class::NationalId,
        Class::IpAddress,
        Class::PostalAddress,
        Class::Person,
    ];
    Arc::new(Detectors::builder().classes(classes).build().unwrap())
}

fn in_pieces<'t>(detectors: &Arc<Detectors>, pieces: impl IntoIterator<Item = &'t str>) -> Vec<Finding> {
    let mut stream = detectors.stream();
    let mut found = Vec::new();
    for piece in pieces {
        stream.push(piece, &mut found);
    }
    stream.finish(&mut found);
    found
}

#[test]
fn a_cut_anywhere_changes_nothing() {
    let detectors = detectors();
    for text in SAMPLES {
        let whole = detectors.find(text);
        assert!(whole.len() > 1, "{whole:?} in {text}");
        for cut in (0..=text.len()).filter(|cut| text.is_char_boundary(*cut)) {
            let (first, second) = text.split_at(cut);
            assert_eq!(in_pieces(&detectors, [first, second]), whole, "cut at {cut} of {text}");
        }
        let letters: Vec<String> = text.chars().map(String::from).collect();
        assert_eq!(in_pieces(&detectors, letters.iter().map(String::as_str)), whole, "{text}");
    }
}

/// When nothing is suspected, no more than a few words are held back.
#[test]
fn ordinary_prose_is_let_go() {
    let detectors = detectors();
    let mut stream = detectors.stream();
    let prose = "In 2021 the 3 of them bought 12 apples for 4.50 and walked on, as people do on a Sunday. ";
    let (mut found, mut length) = (Vec::new(), 0);
    for letter in prose.repeat(4).chars() {
        stream.push(letter.encode_utf8(&mut [0; 4]), &mut found);
        length += letter.len_utf8();
        assert!(length - stream.settled() <= 16, "{} held", length - stream.settled());
    }
    assert!(found.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn random_pieces_change_nothing(order in Just(SAMPLES.to_vec()).prop_shuffle(), cuts in prop::collection::vec(1_usize..24, 1..60)) {
        let text = order.join(". ");
        let detectors = detectors();
        let mut pieces = Vec::new();
        let mut rest = text.as_str();
        for cut in cuts {
            let (piece, behind) = rest.split_at(rest.ceil_char_boundary(cut));
            pieces.push(piece);
            rest = behind;
        }
        pieces.push(rest);
        prop_assert_eq!(in_pieces(&detectors, pieces), detectors.find(&text));
    }
}
