//! Payment cards: the prefix and length of an issuer, and Luhn. Looks at the digits and the byte behind them: at most 24 bytes.

use super::checksum::luhn;
use super::context::said_before;
use super::number::{Joint, Number, first_digit};
use super::reader::{Looked, Match, Reader, is_word_byte, sight};
use crate::detector::{Class, Detector, Digits, Sight, Trigger, View};

pub(super) const CARD: Detector =
    Detector { rule: "card", class: Class::Card, trigger: Trigger::Digits(may_be), look };

/// Digits in one piece, or in groups of at least four.
fn may_be(digits: Digits) -> bool {
    let joined = matches!(digits.after, [b' ' | b'-', b'0'..=b'9'] | [0xc2 | 0xe2, _]);
    matches!(digits.first, b'1'..=b'6' | b'8' | b'9')
        && (digits.length >= 12 || digits.length >= 4 && joined)
        && !is_word_byte(digits.before[1])
        && digits.before[1] != b'+'
}

fn look(view: View<'_>) -> Sight {
    sight(find(&Reader::new(view)))
}

fn find(reader: &Reader<'_>) -> Looked<Option<Match>> {
    let Some(first) = first_digit(reader)? else { return Ok(None) };
    let leads = matches!(reader.byte(first)?, Some(b'1'..=b'6' | b'8' | b'9'));
    if !leads || reader.before(first).is_some_and(|byte| is_word_byte(byte) || byte == b'+') {
        return Ok(None);
    }
    // No issuer groups its digits by fewer than four.
    for place in 1..4 {
        if !reader.byte(first + place)?.is_some_and(|byte| byte.is_ascii_digit()) {
            return Ok(None);
        }
    }
    if Number::continues(reader, first, b"-./") {
        return Ok(None);
    }
    // Nor by fewer than three behind the first: years are told apart before the rest is read.
    let end = reader.run(first, |byte| byte.is_ascii_digit())?;
    if end < first + 12 && matches!(reader.byte(end)?, Some(b' ' | b'-')) {
        let next = reader.run(end + 1, |byte| byte.is_ascii_digit())?;
        if next < end + 4 {
            return Ok(None);
        }
    }
    let Some(number) = Number::read(reader, first)? else { return Ok(None) };
    let groups = number.groups();
    let joint = groups.get(1).map_or(Joint::None, |group| group.joint);
    let mut digits = [0; 19];
    for count in (1..=groups.len()).rev() {
        let last = groups[count - 1];
        let even = groups[1..count].iter().all(|group| group.joint == joint && group.len() >= 3);
        let Some(digits) = number.digits(reader, count, &mut digits) else { continue };
        let written = even && (count == 1 || matches!(joint, Joint::Space | Joint::Hyphen) && count <= 5);
        if written
            && is_issued(digits, || said_before(reader, first, 32, CARDS))
            && luhn(digits)
            && reader.ends(last.end)?
        {
            return Ok(Some((first..last.end, Class::Card, "card")));
        }
    }
    Ok(None)
}

/// Words that make a number one of a card.
const CARDS: &[&str] = &[
    "card",
    "cards",
    "carte",
    "tarjeta",
    "karte",
    "kreditkarte",
    "cartão",
    "carta",
    "debit",
    "maestro",
    "cc",
    "pan",
];

/// Whether an issuer gives out cards with this beginning and this many digits. Debit cards have many beginnings and lengths,
/// which count only where a word says that it is a card.
fn is_issued(digits: &[u8], is_called_card: impl Fn() -> bool) -> bool {
    if digits.len() < 12 || digits[1..].iter().all(|digit| *digit == digits[0]) {
        return false;
    }
    let lead = digits[..4].iter().fold(0_u32, |lead, digit| lead * 10 + u32::from(*digit));
    let issued = match digits.len() {
        12 => is_maestro(lead),
        13 => lead / 1000 == 4 || is_maestro(lead),
        14 => matches!(lead / 10, 300..=305 | 309) || matches!(lead / 100, 36 | 38 | 39),
        15 => matches!(lead / 100, 34 | 37) || matches!(lead, 1800 | 2131),
        16 => {
            lead / 1000 == 4
                || matches!(lead / 100, 35 | 36 | 38 | 39 | 51..=55 | 60 | 62 | 65 | 81 | 82)
                || matches!(lead / 10, 300..=305 | 508 | 644..=649)
                || matches!(lead, 2200..=2204 | 2221..=2720 | 5060..=5067 | 9792)
                || is_maestro(lead)
        }
        17 | 18 => lead / 100 == 62 || is_maestro(lead),
        19 => lead / 1000 == 4 || matches!(lead / 100, 35 | 60 | 62 | 65) || is_maestro(lead),
        _ => false,
    };
    issued || (matches!(lead / 100, 50 | 56..=58 | 60..=69) && is_called_card())
}

/// The beginnings under which debit cards of twelve digits and more are given out.
fn is_maestro(lead: u32) -> bool {
    matches!(lead, 5018 | 5020 | 5038 | 5893 | 6304 | 6390 | 6703 | 6709 | 6759..=6763)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::{all, found, nothing};
    use crate::detector::Class;

    #[test]
    fn cards_of_all_issuers_are_found() {
        for card in [
            "4111111111111111",
            "4111 1111 1111 1111",
            "4111-1111-1111-1111",
            "5555555555554444",
            "2223003122003222",
            "378282246310005",
            "3782 822463 10005",
            "6011111111111117",
            "3530111333300000",
            "30569309025904",
            "6759649826438453",
            "6200000000000005",
            "4222222222222",
        ] {
            found(&format!("Card: {card}, exp 12/27"), card);
            found(&format!("pay with {card} 123 please"), card);
        }
    }

    #[test]
    fn numbers_without_issuer_or_checksum_are_left_alone() {
        nothing("order 4111111111111112 and 1234567890123456, at 1700000000000 ms");
        nothing("id_4111111111111111 or 0x4111111111111111 or 4111111111111111abc");
        nothing("3.4111111111111111 and 41111111111111111111111");
        nothing("4444444444444444448");
    }

    proptest! {
        #[test]
        fn a_card_is_found_exactly_when_luhn_holds(stem in "4[0-9]{14}", last in 0_u8..10) {
            let card = format!("{stem}{last}");
            let digits: Vec<u8> = card.bytes().map(|byte| byte - b'0').collect();
            let cards = all(&format!("it is {card}!")).into_iter().filter(|(_, class)| *class == Class::Card).count();
            prop_assert_eq!(cards == 1, super::luhn(&digits));
        }
    }
}
