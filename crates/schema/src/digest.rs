//! A SHA-256 digest as a value: 32 bytes, written as 64 lower-case hex digits.

use std::fmt;
use std::str::FromStr;

/// A SHA-256 digest. Computing one is the ledger's business; this only carries it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

/// The text is not 64 lower-case hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DigestError;

impl fmt::Display for DigestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected 64 lower-case hex digits")
    }
}
impl std::error::Error for DigestError {}

/// Writes `bytes` as lower-case hex into `text`, which is twice as long.
pub fn write_hex(bytes: &[u8], text: &mut [u8]) {
    // Reckoned and not looked up: the compiler does sixteen digits at a time, and a request writes some hundred of these.
    for (pair, byte) in text.as_chunks_mut::<2>().0.iter_mut().zip(bytes) {
        *pair = [hex_digit(byte >> 4), hex_digit(byte & 15)];
    }
}

const fn hex_digit(nibble: u8) -> u8 {
    nibble + if nibble > 9 { b'a' - 10 } else { b'0' }
}

/// The bytes that `text` writes in lower-case hex, if it is of their length.
#[must_use]
pub fn read_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let mut bytes = [0; N];
    if pairs.len() != N || !rest.is_empty() {
        return None;
    }
    // What is no digit is told at the end: without a way out in the middle this is a few instructions for each.
    let mut wrong = 0;
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        let (high, low) = (NIBBLES[usize::from(*high)], NIBBLES[usize::from(*low)]);
        wrong |= high | low;
        *byte = high << 4 | low & 15;
    }
    (wrong & NO_DIGIT == 0).then_some(bytes)
}

/// The value of every lower-case hex digit, and that the other bytes are none.
static NIBBLES: [u8; 256] = {
    let mut nibbles = [NO_DIGIT; 256];
    let mut value = 0;
    while value < 16 {
        nibbles[hex_digit(value) as usize] = value;
        value += 1;
    }
    nibbles
};
const NO_DIGIT: u8 = 1 << 7;

impl Digest {
    /// Thirty-two zero bytes: what the first event of a run has before it.
    pub const ZERO: Self = Self([0; 32]);

    /// The digest with these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The hex digits as bytes, without any formatting machinery in the way.
    #[must_use]
    pub fn to_hex(self) -> [u8; 64] {
        let mut text = [0; 64];
        write_hex(&self.0, &mut text);
        text
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.to_hex()).map_err(|_| fmt::Error)?)
    }
}
impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        read_hex(text).map(Self).ok_or(DigestError)
    }
}

crate::serde_as_text!(Digest);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn capitals_and_other_lengths_are_refused() {
        assert_eq!("A".repeat(64).parse::<Digest>(), Err(DigestError));
        assert_eq!("a".repeat(63).parse::<Digest>(), Err(DigestError));
        assert_eq!("a".repeat(65).parse::<Digest>(), Err(DigestError));
        for stranger in ["g", "/", ":", "`", "\u{e9}", " "] {
            let text = format!("{}{stranger}", "0".repeat(64 - stranger.len()));
            assert_eq!(text.parse::<Digest>(), Err(DigestError), "{text}");
        }
    }

    proptest! {
        #[test]
        fn text_and_bytes_tell_the_same_digest(bytes in any::<[u8; 32]>()) {
            let digest = Digest::from_bytes(bytes);
            prop_assert_eq!(digest.to_string().parse::<Digest>(), Ok(digest));
        }
    }
}
