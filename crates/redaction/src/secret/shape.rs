//! Whether characters look thrown together or written by a person.
//!
//! Each pair of neighbours speaks for or against: pairs of letters that occur in words speak for a person, others for chance, and so do digits
//! between letters. The sum grows with the length, as certainty does. Words, identifiers and numbers come out below zero, a random token of
//! twenty characters at about fifteen.

/// What a text consists of.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Shape {
    pub(crate) length: usize,
    pub(crate) lower: usize,
    pub(crate) upper: usize,
    pub(crate) digits: usize,
    /// Letters beyond `f`, in any case.
    pub(crate) beyond_hex: usize,
    /// How much speaks for chance.
    pub(crate) chance: f32,
    /// How many different characters there are.
    pub(crate) distinct: usize,
}

/// For each letter, those that follow it in words of English and in names of programs: the pairs that make up nineteen of twenty.
const FOLLOWING: [u32; 26] = [
    0x17e_bd6e, 0x116_4911, 0x01e_4d95, 0x016_4119, 0x1ef_b97f, 0x11a_4931, 0x016_6191, 0x10a_4111,
    0x22e_f87f, 0x000_0000, 0x004_0110, 0x11c_4919, 0x114_d113, 0x13c_6d7d, 0x07e_fd6e, 0x01e_c991,
    0x010_0000, 0x11e_7d5d, 0x15c_c9b5, 0x11e_4995, 0x00e_b957, 0x000_0111, 0x002_6191, 0x008_8004,
    0x004_d010, 0x000_0010,
];

impl Shape {
    pub(crate) fn of(text: &[u8]) -> Self {
        let mut shape = Self { length: text.len(), ..Self::default() };
        let mut seen: u128 = 0;
        let mut before = b'.';
        let mut sum = 0;
        for &byte in text {
            match byte {
                b'a'..=b'z' => shape.lower += 1,
                b'A'..=b'Z' => shape.upper += 1,
                b'0'..=b'9' => shape.digits += 1,
                _ => {}
            }
            shape.beyond_hex += usize::from(byte.is_ascii_alphabetic() && !byte.is_ascii_hexdigit());
            seen |= 1 << (byte & 0x7F);
            sum += i32::from(CHANCE[usize::from(before & 0x7F)][usize::from(byte & 0x7F)]);
            before = byte;
        }
        shape.chance = sum as f32 * 0.05;
        shape.distinct = seen.count_ones() as usize;
        shape
    }

    pub(crate) fn letters(&self) -> usize {
        self.lower + self.upper
    }

    /// Hexadecimal digits and nothing else.
    pub(crate) fn is_hex(&self) -> bool {
        self.beyond_hex == 0 && self.letters() + self.digits == self.length
    }

    pub(crate) fn is_number(&self) -> bool {
        self.digits == self.length
    }

    /// Capitals, small letters and digits.
    pub(crate) fn is_mixed(&self) -> bool {
        self.lower > 0 && self.upper > 0 && self.digits > 0
    }
}

/// How much a pair speaks for chance, in twentieths: the logarithm of how much likelier it is there than in what people write.
const fn chance(before: u8, byte: u8) -> i8 {
    let follows = if before.is_ascii_alphabetic() && byte.is_ascii_alphabetic() {
        let (first, second) = ((before | 0x20) - b'a', (byte | 0x20) - b'a');
        FOLLOWING[first as usize] >> second & 1 == 1
    } else {
        false
    };
    match (before, byte) {
        (b'a'..=b'z', b'a'..=b'z') | (b'A'..=b'Z', b'A'..=b'Z') => {
            if follows {
                -17
            } else {
                38
            }
        }
        (b'a'..=b'z', b'A'..=b'Z') => 16,
        (b'A'..=b'Z', b'a'..=b'z') => {
            if follows {
                -4
            } else {
                20
            }
        }
        (b'a'..=b'z' | b'A'..=b'Z', b'0'..=b'9') => 18,
        (b'0'..=b'9', b'a'..=b'z' | b'A'..=b'Z') => 28,
        (b'0'..=b'9', b'0'..=b'9') => -1,
        _ => -4,
    }
}

/// The same for all pairs of ASCII.
static CHANCE: [[i8; 128]; 128] = {
    let mut table = [[0; 128]; 128];
    let mut pair = 0;
    while pair < 128 * 128 {
        table[pair / 128][pair % 128] = chance((pair / 128) as u8, (pair % 128) as u8);
        pair += 1;
    }
    table
};

/// Whether `text` is put together from words and numbers, as names in programs are: `SHA256_DIGEST_LENGTH`, `sqlite3_stmt`, `Pkcs8V1Der`.
/// Their pairs of letters may speak for chance by `most` each.
pub(crate) fn is_identifier(text: &[u8], most: f32) -> bool {
    let mut words = 0.0;
    let mut before = b'.';
    let mut digits = 0;
    let mut numbers = 0;
    for &byte in text {
        match byte {
            b'0'..=b'9' => digits += 1,
            // A number stands at the end of a word and is short.
            b'a'..=b'z' if before.is_ascii_digit() => return false,
            b'A'..=b'Z' if before.is_ascii_digit() => {
                numbers += 1;
                if digits > 4 || numbers > 2 {
                    return false;
                }
                digits = 0;
            }
            b'a'..=b'z' | b'A'..=b'Z' => digits = 0,
            b'_' | b'-' | b'.' | b'/' => digits = 0,
            _ => return false,
        }
        if !before.is_ascii_digit() && !byte.is_ascii_digit() {
            words += (f32::from(chance(before, byte)) * 0.05).min(1.0);
        }
        before = byte;
    }
    digits <= 4 && words < most * text.len() as f32
}

/// Whether a value is as long as a version or a digest, and written in one case.
pub(crate) fn is_digest(shape: &Shape) -> bool {
    shape.is_hex() && matches!(shape.length, 40 | 64) && (shape.lower == 0 || shape.upper == 0)
}

/// Whether `text` is a UUID, in either case.
pub(crate) fn is_uuid(text: &[u8]) -> bool {
    text.len() == 36
        && text.iter().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write_is_told_from_chance() {
        for written in [
            "getUserAccountByIdentifier2",
            "some_long_identifier_name",
            "https.example.com",
            "2024-01-17T10:00:00",
            "correct-horse-battery",
            "ApplicationConfiguration",
            "libcrypto.so.1.1",
            "window.addEventListener",
        ] {
            assert!(
                Shape::of(written.as_bytes()).chance < 1.0,
                "{written}: {:?}",
                Shape::of(written.as_bytes())
            );
        }
        for random in ["x8Kq2vB7nR4tZ1wP9sLd", "q7x2k9w4z8v1b6n3m5j0", "5f4dcc3b5aa765d61d8327deb882cf99"] {
            assert!(
                Shape::of(random.as_bytes()).chance > 9.0,
                "{random}: {:?}",
                Shape::of(random.as_bytes())
            );
        }
    }
}
