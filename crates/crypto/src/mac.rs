//! HMAC-SHA256, for what is not a signature: derivations, and messages to somebody who knows the same secret.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroize as _;

/// HMAC-SHA256 of `message` under `key`, which may have any length.
#[must_use]
pub fn hmac_sha256(key: &[u8], message: &[u8]) -> [u8; 32] {
    hmac_of(key, &[message])
}

/// The same over the parts of a message, one after the other.
pub(crate) fn hmac_of(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    // The padded form is the one that HMAC prescribes for a key of up to a block; a longer one is hashed first. So there
    // is no length to refuse.
    let mut block = hmac::digest::Key::<Hmac<Sha256>>::default();
    match block.get_mut(..key.len()) {
        Some(start) => start.copy_from_slice(key),
        None => block[..32].copy_from_slice(&Sha256::digest(key)),
    }
    let mut mac = Hmac::<Sha256>::new(&block);
    block.as_mut_slice().zeroize();
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(key: &[u8], message: &[u8], expected: &str) {
        assert_eq!(hex::encode(hmac_sha256(key, message)), expected);
    }

    #[test]
    fn the_rfc_4231_vectors_are_reproduced_for_keys_of_every_length() {
        check(
            b"Jefe",
            b"what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        );
        check(&[0xaa; 20], &[0xdd; 50], "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
        check(
            &[0xaa; 131],
            b"Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
        );
    }
}
