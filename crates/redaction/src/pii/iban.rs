//! Bank accounts: the country's length and the checksum. Looks at most 45 bytes ahead.

use super::checksum::mod97;
use super::number::Number;
use super::reader::{Looked, Match, Reader, is_word_byte, sight};
use crate::detector::{Class, Detector, Digits, Sight, Trigger, View};

pub(super) const IBAN: Detector =
    Detector { rule: "iban", class: Class::Iban, trigger: Trigger::Digits(may_be), look };

/// Two digits behind the letters of a country.
fn may_be(digits: Digits) -> bool {
    digits.before[1].is_ascii_alphabetic() && digits.length >= 2
}

fn look(view: View<'_>) -> Sight {
    sight(find(&Reader::new(view)))
}

fn find(reader: &Reader<'_>) -> Looked<Option<Match>> {
    let first = reader.at();
    let Some(second) = reader.before(first).filter(u8::is_ascii_alphabetic) else { return Ok(None) };
    let Some(country) = reader.before(first - 1).filter(u8::is_ascii_alphabetic) else { return Ok(None) };
    let start = first - 2;
    let Some(length) = length_of(country.to_ascii_uppercase(), second.to_ascii_uppercase()) else {
        return Ok(None);
    };
    if reader.before(start).is_some_and(is_word_byte) || Number::continues(reader, start, b"-.") {
        return Ok(None);
    }
    let mut account = [0_u8; 34];
    account[..2].copy_from_slice(&[country, second]);
    let mut position = first;
    for (place, character) in account[..length].iter_mut().enumerate().skip(2) {
        // People write it in groups of four.
        if place % 4 == 0 && matches!(reader.byte(position)?, Some(b' ' | b'-')) {
            position += 1;
        }
        let Some(byte) = reader.byte(position)? else { return Ok(None) };
        if !byte.is_ascii_digit() && (place < 4 || !byte.is_ascii_alphabetic()) {
            return Ok(None);
        }
        *character = byte;
        position += 1;
    }
    let account = &account[..length];
    let right = mod97(account[4..].iter().chain(&account[..4]).copied()) == 1;
    Ok((right && reader.ends(position)?).then_some((start..position, Class::Iban, "iban")))
}

/// How long the accounts of a country are.
fn length_of(first: u8, second: u8) -> Option<usize> {
    let length = match &[first, second] {
        b"NO" => 15,
        b"BE" => 16,
        b"DK" | b"FI" | b"FK" | b"FO" | b"GL" | b"NL" | b"SD" => 18,
        b"MK" | b"SI" => 19,
        b"AT" | b"BA" | b"EE" | b"KZ" | b"LT" | b"LU" | b"MN" | b"XK" => 20,
        b"CH" | b"CR" | b"HR" | b"LI" | b"LV" => 21,
        b"BG" | b"BH" | b"DE" | b"GB" | b"GE" | b"IE" | b"ME" | b"RS" | b"VA" => 22,
        b"AE" | b"GI" | b"IL" | b"IQ" | b"OM" | b"SO" | b"TL" => 23,
        b"AD" | b"CZ" | b"ES" | b"MD" | b"PK" | b"RO" | b"SA" | b"SE" | b"SK" | b"TN" | b"VG" => 24,
        b"LY" | b"PT" | b"ST" => 25,
        b"IS" | b"TR" => 26,
        b"BI" | b"DJ" | b"FR" | b"GR" | b"IT" | b"MC" | b"MR" | b"SM" => 27,
        b"AL" | b"AZ" | b"BY" | b"CY" | b"DO" | b"GT" | b"HN" | b"HU" | b"LB" | b"NI" | b"PL" | b"SV" => 28,
        b"BR" | b"EG" | b"PS" | b"QA" | b"UA" => 29,
        b"JO" | b"KW" | b"MU" | b"YE" => 30,
        b"MT" | b"SC" => 31,
        b"LC" => 32,
        b"RU" => 33,
        _ => return None,
    };
    Some(length)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::{found, nothing};
    use super::mod97;

    #[test]
    fn accounts_are_found_however_they_are_grouped() {
        for account in [
            "GB82WEST12345698765432",
            "GB82 WEST 1234 5698 7654 32",
            "gb82west12345698765432",
            "DE89 3704 0044 0532 0130 00",
            "FR1420041010050500013M02606",
            "NO9386011117947",
            "MT84MALT011000012345MTLCAST001S",
        ] {
            found(&format!("Transfer it to {account}."), account);
        }
    }

    #[test]
    fn accounts_that_do_not_add_up_are_left_alone() {
        nothing("GB82WEST12345698765433 and DE89370400440532013001 and ZZ82WEST12345698765432");
        nothing("xGB82WEST12345698765432 and GB82WEST123456987654321");
    }

    proptest! {
        #[test]
        fn an_account_with_its_check_digits_is_found(account in "[0-9]{18}") {
            let check = 98 - mod97(format!("{account}DE00").bytes());
            let iban = format!("DE{check:02}{account}");
            found(&format!("to {iban} today"), &iban);
        }
    }
}
