//! National numbers that a word before them tells. Looks past the word, what may stand between, and the number: at most 150 bytes.

use super::super::checksum::{bsn, cpf, luhn, nhs, pesel, steuer_id, tfn, verhoeff};
use super::super::context::said_before;
use super::super::labelled::{LONGEST, Value, value_after, word_ends};
use super::super::reader::{Looked, Match, Reader, sight};
use super::written::is_nino;
use crate::detector::{Class, Detector, Sight, Trigger, View};

pub(in super::super) const LABELLED: Detector = Detector {
    rule: "national-id-labelled",
    class: Class::NationalId,
    trigger: Trigger::Word(WORDS),
    look: |view: View<'_>| -> Sight { sight(find(&Reader::new(view))) },
};

/// A word that says what number follows.
struct Label {
    words: &'static [&'static str],
    /// One of these stands before it, if there are any.
    after: &'static [&'static str],
    rule: &'static str,
    check: fn(&Value) -> bool,
}

const LABELS: &[Label] = &[
    Label {
        words: &[
            "passport",
            "passeport",
            "pasaporte",
            "passaporto",
            "paspoort",
            "reisepass",
            "reisepassnummer",
            "passnummer",
        ],
        after: &[],
        rule: "passport",
        check: is_document,
    },
    Label {
        words: &["license", "licence"],
        after: &["driver*", "driving"],
        rule: "driving-licence",
        check: is_document,
    },
    Label {
        words: &["führerschein", "führerscheinnummer", "permis", "patente", "rijbewijs"],
        after: &[],
        rule: "driving-licence",
        check: is_document,
    },
    Label {
        words: &["personalausweis", "personalausweisnummer", "identity", "ausweisnummer"],
        after: &[],
        rule: "identity-card",
        check: is_document,
    },
    Label { words: &["ssn", "itin"], after: &[], rule: "us-ssn", check: is_nine },
    Label { words: &["security"], after: &["social"], rule: "us-ssn", check: is_nine },
    Label { words: &["tax"], after: &[], rule: "tax-id", check: is_tax_id },
    Label {
        words: &["nino", "insurance"],
        after: &["national", "my", "her", "his"],
        rule: "uk-nino",
        check: is_spaced_nino,
    },
    Label { words: &["nino"], after: &[], rule: "uk-nino", check: is_spaced_nino },
    Label { words: &["nhs"], after: &[], rule: "uk-nhs", check: |value| with(value, nhs) },
    Label { words: &["sin"], after: &[], rule: "ca-sin", check: is_sin },
    Label { words: &["insurance"], after: &["social"], rule: "ca-sin", check: is_sin },
    Label {
        words: &["steuer", "idnr", "steuerid", "steueridentifikationsnummer", "steueridnummer"],
        after: &[],
        rule: "de-steuer-id",
        check: |value| with(value, steuer_id),
    },
    Label {
        words: &["bsn", "burgerservicenummer", "sofinummer"],
        after: &[],
        rule: "nl-bsn",
        check: |value| with(value, bsn),
    },
    Label { words: &["cpf"], after: &[], rule: "br-cpf", check: |value| with(value, cpf) },
    Label { words: &["aadhaar", "aadhar", "uidai"], after: &[], rule: "in-aadhaar", check: is_aadhaar },
    Label { words: &["pesel"], after: &[], rule: "pl-pesel", check: |value| with(value, pesel) },
    Label { words: &["tfn"], after: &[], rule: "au-tfn", check: |value| with(value, tfn) },
    Label {
        words: &["personnummer"],
        after: &[],
        rule: "nordic-id",
        check: |value| with(value, |digits| matches!(digits.len(), 10 | 12)),
    },
];

/// All words of [`LABELS`]; a test holds the two together.
const WORDS: &[&str] = &[
    "passport",
    "passeport",
    "pasaporte",
    "passaporto",
    "paspoort",
    "reisepass",
    "reisepassnummer",
    "passnummer",
    "license",
    "licence",
    "führerschein",
    "führerscheinnummer",
    "permis",
    "patente",
    "rijbewijs",
    "personalausweis",
    "personalausweisnummer",
    "identity",
    "ausweisnummer",
    "ssn",
    "itin",
    "security",
    "tax",
    "nino",
    "insurance",
    "nhs",
    "sin",
    "steuer",
    "idnr",
    "steuerid",
    "steueridentifikationsnummer",
    "steueridnummer",
    "bsn",
    "burgerservicenummer",
    "sofinummer",
    "cpf",
    "aadhaar",
    "aadhar",
    "uidai",
    "pesel",
    "tfn",
    "personnummer",
];

fn find(reader: &Reader<'_>) -> Looked<Option<Match>> {
    let at = reader.at();
    for label in LABELS {
        for word in label.words {
            let Some(end) = reader.literal(at, word)? else { continue };
            if !word_ends(reader, end)?
                || !label.after.is_empty() && !said_before(reader, at, 20, label.after)
            {
                continue;
            }
            if let Some(value) = value_after(reader, end)?
                && (label.check)(&value)
            {
                return Ok(Some((value.range, Class::NationalId, label.rule)));
            }
        }
    }
    Ok(None)
}

/// The number of a document: every state has its own letters and digits.
fn is_document(value: &Value) -> bool {
    let characters = value.characters();
    let digits = characters.iter().filter(|byte| byte.is_ascii_digit()).count();
    (6..=16).contains(&characters.len()) && digits >= 4
}

fn with(value: &Value, check: fn(&[u8]) -> bool) -> bool {
    let mut digits = [0; LONGEST];
    value.digits(&mut digits).is_some_and(check)
}

fn is_nine(value: &Value) -> bool {
    with(value, |digits| digits.len() == 9 && digits[..3] != [0; 3])
}

fn is_tax_id(value: &Value) -> bool {
    is_nine(value) || with(value, |digits| steuer_id(digits) || tfn(digits) || cpf(digits))
}

fn is_sin(value: &Value) -> bool {
    with(value, |digits| digits.len() == 9 && luhn(digits))
}

/// Aadhaar numbers begin with 2 or more.
fn is_aadhaar(value: &Value) -> bool {
    with(value, |digits| digits.len() == 12 && digits[0] > 1 && verhoeff(digits))
}

fn is_spaced_nino(value: &Value) -> bool {
    let characters = value.characters();
    characters.len() == 9 && characters[2..8].iter().all(u8::is_ascii_digit) && is_nino(characters)
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{found, nothing};
    use super::*;

    #[test]
    fn every_word_is_a_trigger() {
        let mut of_labels: Vec<_> = LABELS.iter().flat_map(|label| label.words.iter().copied()).collect();
        let mut triggers = WORDS.to_vec();
        of_labels.sort_unstable();
        of_labels.dedup();
        triggers.sort_unstable();
        assert_eq!(of_labels, triggers);
    }

    #[test]
    fn numbers_behind_their_labels_are_found() {
        found("my driver's license number is 2270-66-1551", "2270-66-1551");
        found("My driver's license number is F162823540116.", "F162823540116");
        found("Driving licence no: MORGA657054SM9IJ", "MORGA657054SM9IJ");
        found("passport number: X1234567, issued", "X1234567");
        found("{\"passport_number\": \"533380006\"}", "533380006");
        found("His social security number is 460899847", "460899847");
        found("SSN 460 89 9847.", "460 89 9847");
        found("NHS number 943 476 5919", "943 476 5919");
        found("National Insurance number: AB 12 34 56 C", "AB 12 34 56 C");
        found("my SIN is 046 454 286.", "046 454 286");
        found("Steuer-ID: 86 095 742 719", "86 095 742 719");
        found("BSN: 111222333", "111222333");
        found("Aadhaar 2341 2341 2346", "2341 2341 2346");
        found("PESEL 44051401359", "44051401359");
    }

    #[test]
    fn labels_without_their_number_are_left_alone() {
        nothing("My passport was stolen in 2021 on flight 1234567");
        nothing("driver's license is required, license key 1234567");
        nothing("NHS number 943 476 5918, BSN 111222334, sin 046 454 287");
        nothing("tax of 2023, tax is 1200");
    }
}
