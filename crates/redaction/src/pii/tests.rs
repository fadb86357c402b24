//! What every detector promises, and the words in which their own tests are written.

use std::ops::Range;
use std::sync::LazyLock;

use proptest::prelude::*;

use super::DETECTORS;
use super::reader::{BEHIND, REACH};
use crate::detector::{Class, Sight, Trigger, View};
use crate::{Detectors, words};

/// What is found in `text` by these detectors.
pub(super) fn all(text: &str) -> Vec<(Range<usize>, Class)> {
    static ALL: LazyLock<Detectors> = LazyLock::new(|| {
        let classes = DETECTORS.iter().map(|detector| detector.class);
        Detectors::builder().classes(classes).build().expect("the words are few")
    });
    ALL.find(text).into_iter().map(|finding| (finding.range, finding.class)).collect()
}

/// Every place at which a detector might be asked, and more: what is promised there is promised where the scanner asks.
fn places(trigger: &Trigger, text: &[u8]) -> Vec<usize> {
    let stands = |at: usize, word: &&str| {
        text[at..].get(..word.len()).is_some_and(|text| text.eq_ignore_ascii_case(word.as_bytes()))
    };
    let digit = |at: usize| text[at].is_ascii_digit();
    (0..text.len())
        .filter(|at| match trigger {
            Trigger::Byte(byte) => text[*at] == *byte,
            Trigger::Digits(_) => digit(*at) && (*at == 0 || !digit(*at - 1)),
            Trigger::Word(words) | Trigger::Prefix(words) => {
                words::begins(text, *at) && words.iter().any(|word| stands(*at, word))
            }
        })
        .collect()
}

/// Exactly `expected` is found.
#[track_caller]
pub(super) fn found(text: &str, expected: &str) {
    let found: Vec<&str> = all(text).into_iter().map(|(range, _)| text.get(range).unwrap_or("?")).collect();
    assert_eq!(found, [expected], "in {text:?}");
}

/// Nothing is found.
#[track_caller]
pub(super) fn nothing(text: &str) {
    let found: Vec<&str> = all(text).into_iter().map(|(range, _)| text.get(range).unwrap_or("?")).collect();
    assert!(found.is_empty(), "{found:?} in {text:?}");
}

/// Texts in which detectors have something to do.
fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => "[a-zA-Z]{1,9}",
        2 => "[0-9]{1,6}",
        2 => "[-+()., :/\n@#x]",
        2 => Just(" ".to_owned()),
        1 => "[éßщ“’\u{a0}]",
        1 => prop::sample::select(vec![
            "passport number is ", "Rue de ", "Street, ", "Apt. 5 ", "my name is ", "Dr. ", "Dear ", "call ", "+44 ", "GB82WEST",
            "4111 1111 1111 ", "bob@example.", "P.O. Box ", "PSC 1, Box ", "zip code ", "192.168.", "2001:db8::", "ssn ", "Regards,\n",
            "AB123456", "460-89-", "529.982.", "ext. ", "(0)", "Via ", "Box 12\nAPO AA ", "Hauptstraße ", "Kuninkaankatu ",
        ]).prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    /// What is said of a text is said of every longer one, and at its end everything is said.
    #[test]
    fn what_is_said_once_is_said_always(text in texts()) {
        let bytes = text.as_bytes();
        for detector in DETECTORS {
            for at in places(&detector.trigger, bytes) {
                let whole = (detector.look)(View { text: bytes, at, ended: true });
                prop_assert_ne!(&whole, &Sight::Wait, "{} at {}", detector.rule, at);
                for end in at + 1..=bytes.len() {
                    let said = (detector.look)(View { text: &bytes[..end], at, ended: false });
                    prop_assert!(said == Sight::Wait || said == whole, "{} at {at} of {end}: {said:?}, then {whole:?}", detector.rule);
                }
            }
        }
    }

    /// Only so much before and after the trigger matters.
    #[test]
    fn what_is_far_away_does_not_matter(far in texts(), text in texts(), near in "[ a-z]{256}", padding in "[ a-z]{400}") {
        let bytes = [near.as_bytes(), text.as_bytes(), padding.as_bytes()].concat();
        let longer = [far.as_bytes(), &bytes, far.as_bytes()].concat();
        for detector in DETECTORS {
            for at in places(&detector.trigger, text.as_bytes()) {
                let at = at + near.len();
                prop_assume!(at >= BEHIND);
                let alone = (detector.look)(View { text: &bytes[..(at + REACH).min(bytes.len())], at, ended: false });
                let within = (detector.look)(View { text: &longer, at: at + far.len(), ended: true });
                let moved = match within {
                    Sight::Found { range, class, rule } =>
                        Sight::Found { range: range.start - far.len()..range.end - far.len(), class, rule },
                    other => other,
                };
                prop_assert_eq!(alone, moved, "{} at {}", detector.rule, at);
            }
        }
    }

    /// A match starts no earlier than the word in which its trigger stands, and lies within the text.
    #[test]
    fn nothing_starts_before_the_word_of_its_trigger(text in texts()) {
        let bytes = text.as_bytes();
        for detector in DETECTORS {
            for at in places(&detector.trigger, bytes) {
                if let Sight::Found { range, .. } = (detector.look)(View { text: bytes, at, ended: true }) {
                    let word = bytes[..at].iter().rposition(u8::is_ascii_whitespace).map_or(0, |space| space + 1);
                    prop_assert!(range.start >= word && range.start < range.end && range.end <= bytes.len(), "{}", detector.rule);
                    prop_assert!(text.get(range.clone()).is_some(), "{} cuts a character", detector.rule);
                }
            }
        }
    }

    /// Bytes that are no text are looked at without harm.
    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for detector in DETECTORS {
            for at in 0..bytes.len() {
                (detector.look)(View { text: &bytes, at, ended: true });
            }
        }
    }
}
