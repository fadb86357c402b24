//! What sealing promises, with the vector of the XChaCha draft to show that the cipher is the real one.

use super::*;
use proptest::prelude::*;

fn key(byte: u8) -> SealKey {
    SealKey::from_bytes([byte; 32])
}

/// draft-irtf-cfrg-xchacha-03, appendix A.3.1.
#[test]
fn the_cipher_is_the_one_of_the_xchacha_draft() {
    let key: Vec<u8> = (0x80..=0x9f).collect();
    let nonce: Vec<u8> = (0x40..=0x57).collect();
    let aad = hex::decode("50515253c0c1c2c3c4c5c6c7").unwrap();
    let plaintext = b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the \
                      future, sunscreen would be it.";
    let key = SealKey::from_bytes(key.try_into().unwrap());
    let nonce = XNonce::try_from(&nonce[..]).unwrap();
    let sealed = cipher(&key).encrypt(&nonce, Payload { msg: plaintext, aad: &aad }).unwrap();
    assert_eq!(
        hex::encode(sealed),
        "bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb\
         731c7f1b0b4aa6440bf3a82f4eda7e39ae64c6708c54c216cb96b72e1213b452\
         2f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff9\
         21f9664c97637da9768812f615c68b13b52e\
         c0875924c1c7987947deafd8780acf49"
    );
}

#[test]
fn every_flipped_bit_is_refused() {
    let key = key(1);
    let sealed = seal(&key, b"run_1", b"attack at dawn").unwrap();
    for bit in 0..sealed.len() * 8 {
        let mut damaged = sealed.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(open([&key], b"run_1", &damaged).unwrap_err(), OpenError, "bit {bit}");
    }
}

#[test]
fn every_truncation_and_extension_is_refused() {
    let key = key(1);
    let sealed = seal(&key, b"", b"attack at dawn").unwrap();
    for length in 0..sealed.len() {
        assert!(open([&key], b"", &sealed[..length]).is_err(), "{length} bytes");
    }
    assert!(open([&key], b"", &[&sealed[..], &[0]].concat()).is_err());
}

#[test]
fn a_foreign_key_and_a_foreign_context_are_refused_alike() {
    let sealed = seal(&key(1), b"run_1", b"secret").unwrap();
    let by_key = open([&key(2)], b"run_1", &sealed).unwrap_err();
    let by_context = open([&key(1)], b"run_2", &sealed).unwrap_err();
    assert_eq!(by_key.to_string(), by_context.to_string());
}

#[test]
fn a_retired_key_still_opens_what_it_sealed() {
    let (retired, active) = (key(1), key(2));
    let sealed = seal(&retired, b"", b"old").unwrap();
    assert_eq!(open([&active, &retired], b"", &sealed).unwrap().as_slice(), b"old");
}

#[test]
fn a_shredded_data_key_takes_its_values_with_it() {
    let master = key(1);
    let data = DataKey::generate().unwrap();
    let wrapped = data.wrap(&master, b"subject-7").unwrap();
    let sealed = data.seal(b"field", b"personal").unwrap();
    drop(data);

    let again = DataKey::unwrap([&master], b"subject-7", &wrapped).unwrap();
    assert_eq!(again.open(b"field", &sealed).unwrap().as_slice(), b"personal");
    // Without `wrapped` nothing opens: the master key itself is of no use to the value.
    assert!(open([&master], b"field", &sealed).is_err());
    assert!(DataKey::unwrap([&master], b"subject-8", &wrapped).is_err());
}

#[test]
fn a_wrapped_key_does_not_open_as_a_value_nor_a_value_as_a_key() {
    let master = key(1);
    let wrapped = DataKey::generate().unwrap().wrap(&master, b"x").unwrap();
    assert!(open([&master], b"x", &wrapped).is_err());
    let value = seal(&master, b"x", &[0; 32]).unwrap();
    assert!(DataKey::unwrap([&master], b"x", &value).is_err());
}

proptest! {
    #[test]
    fn what_was_sealed_opens_again(plaintext: Vec<u8>, aad: Vec<u8>, bytes: [u8; 32]) {
        let key = SealKey::from_bytes(bytes);
        let sealed = seal(&key, &aad, &plaintext).unwrap();
        let opened = open([&key], &aad, &sealed).unwrap();
        prop_assert_eq!(opened.as_slice(), &plaintext[..]);
    }

    #[test]
    fn two_seals_of_one_value_differ(plaintext: Vec<u8>) {
        prop_assert_ne!(seal(&key(1), b"", &plaintext).unwrap(), seal(&key(1), b"", &plaintext).unwrap());
    }

    #[test]
    fn no_bytes_make_opening_panic(sealed: Vec<u8>) {
        prop_assert!(open([&key(1)], b"", &sealed).is_err());
    }
}
