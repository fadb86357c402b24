//! What tokens promise: typos are refused with a reason, and nothing of a token is printed.

use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;

/// A fixed token, so that the snapshots stay the same.
const GOOD: &str = "pk_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefg";

fn good() -> String {
    format!("{GOOD}{}", String::from_utf8(checksum(GOOD).to_vec()).unwrap())
}

#[track_caller]
fn check(text: &str, expected: &Expect) {
    let told = match Token::parse(TokenKind::ApiKey, text) {
        Ok(token) => format!("{token:?}"),
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&told);
}

#[test]
fn the_format_is_fixed() {
    // The checksum was computed apart from this code, with Python's zlib.crc32.
    assert_eq!(good(), "pk_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefg3VqCUe");
    check(&good(), &expect!["Token(pk_0123…)"]);
}

#[test]
fn a_cut_token_is_told_from_a_mistyped_one() {
    check(
        &good()[..40],
        &expect!["token has 40 characters, not 52; copy it again, whole and without spaces"],
    );
    check(
        &good().replace('A', "B"),
        &expect!["token has a wrong checksum, so it was mistyped or altered; copy it again"],
    );
}

#[test]
fn another_credential_is_told_by_its_prefix() {
    check("sk-proj-abc", &expect![[r#"token does not start with "pk_"; check which credential was pasted"#]]);
    check("", &expect![[r#"token does not start with "pk_"; check which credential was pasted"#]]);
}

#[test]
fn a_foreign_character_is_named_by_its_position() {
    check(
        &good().replace('5', "é"),
        &expect!["token has a character at position 9 that is neither a letter nor a digit; copy it again"],
    );
    check(
        &format!("{} ", good()),
        &expect!["token has a character at position 53 that is neither a letter nor a digit; copy it again"],
    );
}

#[test]
fn a_token_of_one_kind_is_no_token_of_another() {
    let session = Token::generate(TokenKind::Session).unwrap();
    assert_eq!(
        Token::parse(TokenKind::ApiKey, session.expose()).unwrap_err(),
        TokenError::Prefix { expected: "pk_" }
    );
}

#[test]
fn only_the_hash_of_the_same_token_is_equal() {
    let token = Token::generate(TokenKind::ApiKey).unwrap();
    let again = Token::parse(TokenKind::ApiKey, token.expose()).unwrap();
    assert_eq!(token.hash(), again.hash());
    assert_ne!(token.hash(), Token::generate(TokenKind::ApiKey).unwrap().hash());
    assert_eq!(TokenHash::from_bytes(*token.hash().as_bytes()), token.hash());
}

#[test]
fn characters_are_spread_evenly() {
    let mut counts = std::collections::HashMap::new();
    for _ in 0..2_000 {
        for character in Token::generate(TokenKind::ApiKey).unwrap().expose()[3..46].chars() {
            *counts.entry(character).or_insert(0) += 1;
        }
    }
    // 86,000 draws over 62 characters: 1,387 each, give or take 37; seven deviations never happen by chance.
    assert_eq!(counts.len(), 62);
    assert!(counts.values().all(|count| (1_387_i32 - count).abs() < 260), "{counts:?}");
}

proptest! {
    #[test]
    fn every_generated_token_parses(_: ()) {
        let token = Token::generate(TokenKind::ApiKey).unwrap();
        prop_assert!(Token::parse(TokenKind::ApiKey, token.expose()).is_ok());
    }

    #[test]
    fn every_single_typo_is_refused(position in 3..52usize, to in 0..62usize) {
        let mut bytes = good().into_bytes();
        prop_assume!(bytes[position] != ALPHABET[to]);
        bytes[position] = ALPHABET[to];
        let typo = String::from_utf8(bytes).unwrap();
        prop_assert_eq!(Token::parse(TokenKind::ApiKey, &typo).unwrap_err(), TokenError::Checksum);
    }

    #[test]
    fn no_text_makes_parsing_panic(text in "(pk_)?\\PC*") {
        let _ = Token::parse(TokenKind::ApiKey, &text);
    }
}
