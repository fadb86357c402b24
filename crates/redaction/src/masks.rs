//! Questions asked of 64 bytes at once: the answer is a number with a bit for each byte.
//!
//! The loops are plain; the compiler makes vector instructions of them as long as the question has no branches (`&` and `|`, not `&&` and `||`).

/// How many bytes are asked at once.
pub(crate) const BLOCK: usize = 64;

/// Answers in the order in which they are cheap to gather: that of the byte at `8 * i + j` is bit `8 * j + i`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Answers(u64);

impl Answers {
    /// Whether each byte of the block is one of those.
    #[inline(always)]
    pub(crate) fn of(block: &[u8; BLOCK], is: impl Fn(u8) -> bool) -> Self {
        Self::gathered(&block.map(|byte| u8::from(is(byte))))
    }

    /// The same for a list that is not known beforehand, of letters in lower case and other bytes.
    #[inline(always)]
    pub(crate) fn of_any(block: &[u8; BLOCK], wanted: &[u8]) -> Self {
        let mut answers = [0_u8; BLOCK];
        for wanted in wanted {
            for (answer, byte) in answers.iter_mut().zip(block) {
                *answer |= u8::from(byte | 0x20 == *wanted);
            }
        }
        Self::gathered(&answers)
    }

    #[inline(always)]
    fn gathered(answers: &[u8; BLOCK]) -> Self {
        let (eights, _) = answers.as_chunks::<8>();
        let eight = |index: usize| u64::from_le_bytes(eights[index]) << index;
        Self((eight(0) | eight(1) | eight(2) | eight(3)) | (eight(4) | eight(5) | eight(6) | eight(7)))
    }

    pub(crate) fn is_none(self) -> bool {
        self.0 == 0
    }

    /// The answers of the bytes before; `first` is that of the byte before the block.
    #[inline(always)]
    pub(crate) fn before(self, first: bool) -> Self {
        Self(self.0 << 8 | self.0 >> 56 << 1 & 0xFF | u64::from(first))
    }

    /// The answer of the last byte.
    pub(crate) fn last(self) -> bool {
        self.0 >> (BLOCK - 1) == 1
    }

    /// The places with a yes, in no order.
    #[inline(always)]
    pub(crate) fn places(self) -> impl Iterator<Item = usize> {
        places(self.0).map(|bit| bit % 8 * 8 + bit / 8)
    }

    /// The answers in the order of the bytes.
    #[inline(always)]
    pub(crate) fn in_order(self) -> u64 {
        // Three times, halves of ever larger squares change places.
        let mut bits = self.0;
        for (step, half) in
            [(7, 0x00AA_00AA_00AA_00AA), (14, 0x0000_CCCC_0000_CCCC), (28, 0x0000_0000_F0F0_F0F0)]
        {
            let differ = (bits ^ bits >> step) & half;
            bits ^= differ ^ differ << step;
        }
        bits
    }
}

impl std::ops::BitOr for Answers {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl std::ops::BitAnd for Answers {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl std::ops::Not for Answers {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        Self(!self.0)
    }
}

/// Whether the byte is between two others, without a branch.
#[inline(always)]
pub(crate) fn between(byte: u8, first: u8, last: u8) -> bool {
    byte.wrapping_sub(first) <= last - first
}

/// The places at which `length` ones in a row end, for a length of 8 or 12.
#[inline(always)]
pub(crate) fn rows(mask: u64, length: usize) -> u64 {
    let two = mask & (mask << 1);
    let four = two & (two << 2);
    let eight = four & (four << 4);
    if length == 12 { eight & (four << 8) } else { eight }
}

/// The block of `text` at `at`; behind its end stand zeros.
#[inline(always)]
pub(crate) fn block_at(text: &[u8], at: usize) -> [u8; BLOCK] {
    match text[at..].first_chunk() {
        Some(block) => *block,
        None => {
            let mut block = [0; BLOCK];
            block[..text.len() - at].copy_from_slice(&text[at..]);
            block
        }
    }
}

/// The places of the ones, from the first on.
#[inline(always)]
pub(crate) fn places(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = mask.trailing_zeros() as usize;
        mask &= mask.checked_sub(1)?;
        Some(place)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bit_is_a_byte_and_a_row_is_found_where_it_ends() {
        let mut block = [b' '; BLOCK];
        block[3..15].fill(b'x');
        block[40..48].fill(b'x');
        let answers = Answers::of(&block, |byte| between(byte, b'a', b'z'));
        let found = answers.in_order();
        assert_eq!(found, (0xFFF << 3) | (0xFF << 40));
        assert!(answers == Answers::of_any(&block, b"yx"));
        assert_eq!(rows(found, 8), (0x1F << 10) | (1 << 47));
        assert_eq!(rows(found, 12), 1 << 14);
        assert_eq!(places(0b1001).collect::<Vec<_>>(), [0, 3]);
    }

    #[test]
    fn answers_keep_their_places() {
        for place in 0..BLOCK {
            let mut block = [0; BLOCK];
            block[place] = 1;
            let answers = Answers::of(&block, |byte| byte == 1);
            assert_eq!(answers.in_order(), 1 << place);
            assert_eq!(answers.places().collect::<Vec<_>>(), [place]);
            assert_eq!(answers.last(), place == BLOCK - 1);
            assert_eq!(answers.before(true).in_order(), 1 << place << 1 | 1);
            assert_eq!(answers.before(false).in_order(), 1 << place << 1);
        }
    }
}
