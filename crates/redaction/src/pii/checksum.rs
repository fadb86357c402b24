//! The check digits of cards, accounts and national numbers. Each takes the digits as values from 0 to 9.

/// Luhn: cards, Canadian social insurance numbers and others.
pub(super) fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| match (place % 2, u32::from(*digit)) {
            (0, digit) => digit,
            (_, digit) if digit > 4 => 2 * digit - 9,
            (_, digit) => 2 * digit,
        })
        .sum();
    sum.is_multiple_of(10)
}

/// ISO 7064 mod 97-10 over an account number, its first four characters moved to the end: 1 when it is right.
pub(super) fn mod97(characters: impl Iterator<Item = u8>) -> u32 {
    characters.fold(0, |rest, character| match character {
        b'0'..=b'9' => (rest * 10 + u32::from(character - b'0')) % 97,
        letter => (rest * 100 + u32::from(letter.to_ascii_uppercase().saturating_sub(b'A')) + 10) % 97,
    })
}

/// The sum of the digits, each times its weight.
fn weighted(digits: &[u8], weights: impl IntoIterator<Item = u32>) -> u32 {
    digits.iter().zip(weights).map(|(digit, weight)| u32::from(*digit) * weight).sum()
}

/// The NHS number: ten digits, the last one mod 11.
pub(super) fn nhs(digits: &[u8]) -> bool {
    digits.len() == 10 && (weighted(digits, (2..=10).rev()) + u32::from(digits[9])).is_multiple_of(11)
}

/// The Dutch citizen service number: nine digits, the eleven test with the last one taken off.
pub(super) fn bsn(digits: &[u8]) -> bool {
    digits.len() == 9
        && digits.iter().any(|digit| *digit != 0)
        && weighted(digits, (2..=9).rev()) % 11 == u32::from(digits[8]) % 11
}

/// The Brazilian taxpayer number: eleven digits, the last two mod 11. Eleven times the same digit is not given out.
pub(super) fn cpf(digits: &[u8]) -> bool {
    let check = |length: usize| match weighted(digits, (2..=length as u32 + 1).rev()) * 10 % 11 {
        10 => 0,
        rest => rest,
    };
    digits.len() == 11
        && digits.iter().any(|digit| *digit != digits[0])
        && check(9) == u32::from(digits[9])
        && check(10) == u32::from(digits[10])
}

/// The German tax identification number: eleven digits, ISO 7064 mod 11,10, and among the first ten exactly one digit two or
/// three times.
pub(super) fn steuer_id(digits: &[u8]) -> bool {
    if digits.len() != 11 || digits[0] == 0 {
        return false;
    }
    let mut counts = [0_u8; 10];
    let mut product = 10_u32;
    for digit in &digits[..10] {
        counts[usize::from(*digit)] += 1;
        let sum = match (u32::from(*digit) + product) % 10 {
            0 => 10,
            sum => sum,
        };
        product = sum * 2 % 11;
    }
    let repeated = counts.iter().filter(|count| **count > 1).count();
    let check = (11 - product) % 10;
    repeated == 1 && counts.iter().all(|count| *count < 4) && check == u32::from(digits[10])
}

/// The French social security number: thirteen digits and 97 less their rest.
pub(super) fn nir(digits: &[u8]) -> bool {
    if digits.len() != 15 {
        return false;
    }
    let value = |digits: &[u8]| digits.iter().fold(0_u64, |value, digit| value * 10 + u64::from(*digit));
    97 - value(&digits[..13]) % 97 == value(&digits[13..])
}

/// The letter of a Spanish identity number.
pub(super) fn dni_letter(number: u32) -> u8 {
    b"TRWAGMYFPDXBNJZSQVHLCKE"[(number % 23) as usize]
}

/// The Polish PESEL: eleven digits, the last one mod 10.
pub(super) fn pesel(digits: &[u8]) -> bool {
    digits.len() == 11
        && (weighted(digits, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3]) + u32::from(digits[10])).is_multiple_of(10)
}

/// The Australian tax file number: nine digits, mod 11.
pub(super) fn tfn(digits: &[u8]) -> bool {
    digits.len() == 9 && weighted(digits, [1, 4, 3, 7, 5, 8, 6, 9, 10]).is_multiple_of(11)
}

/// Verhoeff: Indian Aadhaar numbers.
pub(super) fn verhoeff(digits: &[u8]) -> bool {
    let folded = digits.iter().rev().enumerate().fold(0_u8, |sum, (place, digit)| {
        let mut turned = *digit;
        for _ in 0..place % 8 {
            turned = TURN[usize::from(turned)];
        }
        compose(sum, turned)
    });
    folded == 0
}

/// The permutation that Verhoeff applies once more for every place.
const TURN: [u8; 10] = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];

/// The group of the symmetries of a pentagon: 0 to 4 turn, 5 to 9 turn and mirror.
fn compose(left: u8, right: u8) -> u8 {
    match (left < 5, right < 5) {
        (true, true) => (left + right) % 5,
        (true, false) => (left + right) % 5 + 5,
        (false, true) => (left + 5 - right) % 5 + 5,
        (false, false) => (left + 5 - right) % 5,
    }
}

/// The last letter of an Italian tax code, from the fifteen before it.
pub(super) fn codice_fiscale_letter(characters: &[u8]) -> Option<u8> {
    const ODD: [u32; 26] =
        [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];
    let mut sum = 0;
    for (place, character) in characters.iter().enumerate() {
        let value = match character {
            b'0'..=b'9' => u32::from(character - b'0'),
            b'A'..=b'Z' => u32::from(character - b'A'),
            _ => return None,
        };
        // Places are counted from one: the first is odd.
        sum += if place % 2 == 0 { *ODD.get(value as usize)? } else { value };
    }
    u8::try_from(sum % 26).ok().map(|rest| b'A' + rest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn digits(text: &str) -> Vec<u8> {
        text.bytes().filter(u8::is_ascii_digit).map(|byte| byte - b'0').collect()
    }

    #[test]
    fn published_examples_pass() {
        assert!(luhn(&digits("4111 1111 1111 1111")));
        assert!(nhs(&digits("943 476 5919")));
        assert!(bsn(&digits("111222333")));
        assert!(cpf(&digits("529.982.247-25")));
        assert!(steuer_id(&digits("86095742719")));
        assert!(nir(&digits("2 55 08 14 168 025 38")));
        assert!(pesel(&digits("44051401359")));
        assert!(tfn(&digits("123 456 782")));
        assert!(verhoeff(&digits("2363")));
        assert_eq!(dni_letter(12_345_678), b'Z');
        assert_eq!(codice_fiscale_letter(b"RSSMRA85T10A562"), Some(b'S'));
        assert_eq!(mod97(b"WEST12345698765432GB82".iter().copied()), 1);
    }

    /// A check that takes one of ten digits has exactly one right ending, and sees every single wrong digit.
    fn has_one_ending(check: fn(&[u8]) -> bool, stem: &[u8], place: usize, by: u8) {
        let endings: Vec<Vec<u8>> =
            (0..10).map(|last| [stem, &[last]].concat()).filter(|number| check(number)).collect();
        assert_eq!(endings.len(), 1, "{stem:?}");
        let mut wrong = endings[0].clone();
        let place = place % wrong.len();
        wrong[place] = (wrong[place] + by) % 10;
        assert!(!check(&wrong), "{wrong:?}");
    }

    proptest! {
        #[test]
        fn a_wrong_digit_is_seen(stem in prop::collection::vec(0_u8..10, 11..19), place in 0_usize..40, by in 1_u8..10) {
            has_one_ending(luhn, &stem, place, by);
            has_one_ending(verhoeff, &stem, place, by);
            has_one_ending(pesel, &stem[..10], place, by);
        }

        #[test]
        fn verhoeff_sees_neighbours_that_swapped(stem in prop::collection::vec(0_u8..10, 11), place in 0_usize..11) {
            let right = (0..10).map(|last| [stem.as_slice(), &[last]].concat()).find(|number| verhoeff(number)).unwrap();
            let mut swapped = right.clone();
            swapped.swap(place, place + 1);
            prop_assert!(swapped == right || !verhoeff(&swapped));
        }

        /// Mod 11 leaves some stems without an ending, and never gives two.
        #[test]
        fn eleven_has_at_most_one_ending(stem in prop::collection::vec(0_u8..10, 9)) {
            let endings = |check: fn(&[u8]) -> bool, stem: &[u8]| {
                (0..10).filter(|last| check(&[stem, &[*last]].concat())).count()
            };
            prop_assert!(endings(nhs, &stem) <= 1);
            prop_assert!(endings(bsn, &stem[..8]) <= 1);
            prop_assert!(endings(tfn, &stem[..8]) <= 1);
        }

        #[test]
        fn the_two_digits_of_a_taxpayer_are_unique(stem in prop::collection::vec(0_u8..10, 9)) {
            let endings = (0..100_u8).filter(|last| cpf(&[stem.as_slice(), &[last / 10, last % 10]].concat())).count();
            let uniform = stem.iter().all(|digit| *digit == stem[0]);
            prop_assert!(endings == 1 || uniform);
        }

        #[test]
        fn the_key_of_a_french_number_is_unique(stem in prop::collection::vec(0_u8..10, 13)) {
            let endings = (0..100_u8).filter(|last| nir(&[stem.as_slice(), &[last / 10, last % 10]].concat())).count();
            prop_assert_eq!(endings, 1);
        }

        #[test]
        fn an_account_with_a_wrong_digit_leaves_another_rest(account in "[0-9]{18}", place in 0_usize..18, by in 1_u8..10) {
            let mut wrong = account.clone().into_bytes();
            wrong[place] = b'0' + (wrong[place] - b'0' + by) % 10;
            prop_assert_ne!(mod97(account.bytes()), mod97(wrong.into_iter()));
        }

        #[test]
        fn any_digits_are_answered(number in prop::collection::vec(0_u8..10, 0..30)) {
            for check in [luhn, nhs, bsn, cpf, steuer_id, nir, pesel, tfn, verhoeff] {
                check(&number);
            }
        }
    }
}
