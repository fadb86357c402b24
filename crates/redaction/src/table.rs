//! Which bytes tokens are made of.

use crate::masks::{Answers, BLOCK, between};

/// Letters, digits and what tokens are joined with.
const RUN: [bool; 256] = {
    let mut table = [false; 256];
    let mut index = 0;
    while index < 256 {
        let byte = index as u8;
        table[index] =
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'.' | b'~' | b'=');
        index += 1;
    }
    table
};

/// Whether the byte can be part of a token.
pub(crate) fn in_run(byte: u8) -> bool {
    RUN[usize::from(byte)]
}

/// The same for 64 bytes.
#[inline(always)]
pub(crate) fn runs(block: &[u8; BLOCK]) -> u64 {
    Answers::of(block, |byte| {
        between(byte | 0x20, b'a', b'z')
            | between(byte, b'-', b'9')
            | (byte == b'_')
            | (byte == b'+')
            | (byte == b'=')
            | (byte == b'~')
    })
    .in_order()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_ask_agree() {
        for first in (0..=u8::MAX).step_by(BLOCK) {
            let block: [u8; BLOCK] = std::array::from_fn(|index| first + index as u8);
            let runs = runs(&block);
            for (index, byte) in block.iter().enumerate() {
                assert_eq!(runs >> index & 1 == 1, in_run(*byte), "{byte}");
            }
        }
    }
}
