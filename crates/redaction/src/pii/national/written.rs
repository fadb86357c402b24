//! National numbers that are told by their spelling or checksum alone. Looks at most 24 bytes ahead.

use super::super::checksum::{codice_fiscale_letter, cpf, dni_letter, nir};
use super::super::context::said_before;
use super::super::number::Number;
use super::super::reader::{Looked, Match, Reader, is_word_byte, sight};
use crate::detector::{Class, Detector, Digits, Sight, Trigger, View};

pub(in super::super) const WRITTEN: Detector = Detector {
    rule: "national-id",
    class: Class::NationalId,
    trigger: Trigger::Digits(may_be),
    look: |view: View<'_>| -> Sight { sight(find(&Reader::new(view))) },
};

/// As many digits as one of the spellings begins with, and what has to follow them.
fn may_be(digits: Digits) -> bool {
    let [after, next] = digits.after;
    if digits.before[1].is_ascii_uppercase() {
        return matches!(digits.length, 2 | 4 | 6 | 7) && after.is_ascii_uppercase();
    }
    let fits = match digits.length {
        1 => after == b' ' && next.is_ascii_digit(),
        3 => matches!(after, b'-' | b'.') && next.is_ascii_digit(),
        8 => after == b'-' || after.is_ascii_uppercase(),
        length => length == 15,
    };
    fits && !is_word_byte(digits.before[1]) && digits.before[1] != b'+'
}

/// How a number is written, by which rule, and what else has to hold.
type Spelling = (&'static [u8], &'static str, fn(&[u8]) -> bool);

fn find(reader: &Reader<'_>) -> Looked<Option<Match>> {
    let first = reader.at();
    match reader.before(first) {
        Some(byte) if byte.is_ascii_uppercase() => lettered(reader, first),
        Some(byte) if is_word_byte(byte) || byte == b'+' => Ok(None),
        Some(b'-') if reader.before(first - 1).is_some_and(is_word_byte) => Ok(None),
        _ if Number::continues(reader, first, b"./,:") => Ok(None),
        _ => plain(reader, first),
    }
}

/// Numbers with letters before their digits.
fn lettered(reader: &Reader<'_>, first: usize) -> Looked<Option<Match>> {
    let letters = reader.behind(first, 7).iter().rev().take_while(|byte| byte.is_ascii_uppercase()).count();
    let start = first - letters;
    if reader.before(start).is_some_and(|byte| is_word_byte(byte) || byte == b'-') {
        return Ok(None);
    }
    let (shape, rule, check): Spelling = match letters {
        1 => (b"A9999999A", "es-nie", is_nie),
        2 => (b"AA999999A", "uk-nino", is_nino),
        5 => (b"AAAAA9999A", "in-pan", is_pan),
        6 => (b"AAAAAA99A99A999A", "it-codice-fiscale", is_codice_fiscale),
        _ => return Ok(None),
    };
    Ok(shaped(reader, start, shape)?
        .filter(|end| check(reader.read(start..*end)))
        .map(|end| (start..end, Class::NationalId, rule)))
}

/// Numbers that begin with a digit.
fn plain(reader: &Reader<'_>, first: usize) -> Looked<Option<Match>> {
    let shapes: [Spelling; 5] = [
        (b"999-99-9999", "us-ssn", is_social_security),
        (b"999.999.999-99", "br-cpf", |text| cpf(&values(text))),
        (b"99999999A", "es-dni", is_dni),
        (b"99999999-A", "es-dni", is_dni),
        (b"999999999999999", "fr-nir", is_nir),
    ];
    for (shape, rule, check) in shapes {
        if let Some(end) = shaped(reader, first, shape)?
            && check(reader.read(first..end))
            && !said_before(reader, first, 16, &["isbn", "order", "invoice", "phone", "tel", "call"])
        {
            return Ok(Some((first..end, Class::NationalId, rule)));
        }
    }
    let Some(end) = shaped(reader, first, b"9 99 99 99 999 999 99")? else { return Ok(None) };
    Ok(is_nir(reader.read(first..end)).then_some((first..end, Class::NationalId, "fr-nir")))
}

/// Where the text at `start` ends if it has this shape, with `9` for a digit and `A` for a capital letter.
fn shaped(reader: &Reader<'_>, start: usize, shape: &[u8]) -> Looked<Option<usize>> {
    for (place, kind) in shape.iter().enumerate() {
        let Some(byte) = reader.byte(start + place)? else { return Ok(None) };
        let fits = match kind {
            b'9' => byte.is_ascii_digit(),
            b'A' => byte.is_ascii_uppercase(),
            mark => byte == *mark,
        };
        if !fits {
            return Ok(None);
        }
    }
    let end = start + shape.len();
    let goes_on = matches!(reader.byte(end)?, Some(b'-' | b'.'))
        && reader.byte(end + 1)?.is_some_and(|byte| byte.is_ascii_digit());
    Ok((!goes_on && reader.ends(end)?).then_some(end))
}

fn values(text: &[u8]) -> Vec<u8> {
    text.iter().filter(|byte| byte.is_ascii_digit()).map(|byte| byte - b'0').collect()
}

fn number(text: &[u8]) -> u32 {
    values(text).into_iter().fold(0, |number, digit| number * 10 + u32::from(digit))
}

/// Social security numbers, and taxpayer numbers in the same spelling: those of area 9, in the groups that are given out.
pub(super) fn is_social_security(text: &[u8]) -> bool {
    let digits = number(text);
    let (area, group, serial) = (digits / 1_000_000, digits / 10_000 % 100, digits % 10_000);
    match area {
        0 | 666 => false,
        900..=999 => matches!(group, 50..=65 | 70..=88 | 90..=92 | 94..=99),
        _ => group != 0 && serial != 0,
    }
}

fn is_dni(text: &[u8]) -> bool {
    text.last() == Some(&dni_letter(number(text)))
}

fn is_nie(text: &[u8]) -> bool {
    let lead = match text[0] {
        b'X' => 0,
        b'Y' => 10_000_000,
        b'Z' => 20_000_000,
        _ => return false,
    };
    text.last() == Some(&dni_letter(lead + number(text)))
}

/// The prefixes that are never given out are those of other registers.
pub(super) fn is_nino(text: &[u8]) -> bool {
    let barred = |letter: u8| b"DFIQUV".contains(&letter);
    !barred(text[0])
        && !barred(text[1])
        && text[1] != b'O'
        && !matches!(&text[..2], b"BG" | b"GB" | b"KN" | b"NK" | b"NT" | b"TN" | b"ZZ")
        && text.last().is_some_and(|last| matches!(last, b'A'..=b'D'))
}

fn is_pan(text: &[u8]) -> bool {
    b"ABCFGHJLPT".contains(&text[3])
}

fn is_codice_fiscale(text: &[u8]) -> bool {
    let month = b"ABCDEHLMPRST".contains(&text[8]);
    let day = number(&text[9..11]);
    month && matches!(day, 1..=31 | 41..=71) && codice_fiscale_letter(&text[..15]) == text.last().copied()
}

fn is_nir(text: &[u8]) -> bool {
    let digits = values(text);
    let month = digits[3] * 10 + digits[4];
    matches!(digits[0], 1 | 2) && matches!(month, 1..=12 | 20..=42 | 50..=99) && nir(&digits)
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{found, nothing};

    #[test]
    fn numbers_of_many_states_are_found() {
        for number in [
            "460-89-9847",
            "912-70-1234",
            "AB123456C",
            "12345678Z",
            "12345678-Z",
            "X1234567L",
            "RSSMRA85T10A562S",
            "ABCPE1234F",
            "529.982.247-25",
            "255081416802538",
            "2 55 08 14 168 025 38",
        ] {
            found(&format!("It is {number}."), number);
        }
    }

    #[test]
    fn numbers_that_are_not_given_out_are_left_alone() {
        nothing("000-12-3456, 666-12-3456, 912-13-1234, 460-00-9847, 460-89-0000");
        nothing("GB123456C QQ123456C AB123456E 12345678A X1234567A RSSMRA85T10A562T");
        nothing("529.982.247-26 255081416802539 ABCDE12345F sha-12345678Z");
        nothing("1460-89-9847 460-89-98471 460-89-9847-1");
    }
}
