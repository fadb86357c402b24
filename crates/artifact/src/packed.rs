//! Long rows of numbers as text: little-endian bytes in base64, so that an artifact with a million weights is a megabyte and not ten.
//!
//! Each module here is for `#[serde(with = "…")]`. What is read is exactly what was written, bit by bit.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

/// What such rows are called in the forms that have them.
pub const NAMES: [&str; 6] = ["directions", "known", "labels", "rarities", "steps", "weights"];

/// Whether this is such a row: by its name, and because it has no letter that such rows have not.
#[must_use]
pub fn is_row(name: &str, text: &str) -> bool {
    NAMES.contains(&name)
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}

/// A number that has a fixed number of bytes.
trait Fixed: Copy {
    type Bytes: AsRef<[u8]> + for<'a> TryFrom<&'a [u8]>;
    const SIZE: usize = size_of::<Self>();
    fn to_bytes(self) -> Self::Bytes;
    fn from_bytes(bytes: Self::Bytes) -> Self;
}

macro_rules! fixed {
    ($($number:ty),*) => {$(
        impl Fixed for $number {
            type Bytes = [u8; size_of::<Self>()];
            fn to_bytes(self) -> Self::Bytes {
                self.to_le_bytes()
            }
            fn from_bytes(bytes: Self::Bytes) -> Self {
                Self::from_le_bytes(bytes)
            }
        }
    )*};
}
fixed!(i8, i16, u32, u64, f32);

fn write<T: Fixed, S: Serializer>(
    numbers: impl ExactSizeIterator<Item = T>,
    into: S,
) -> Result<S::Ok, S::Error> {
    let mut bytes = Vec::with_capacity(numbers.len() * T::SIZE);
    for number in numbers {
        bytes.extend_from_slice(number.to_bytes().as_ref());
    }
    into.serialize_str(&STANDARD_NO_PAD.encode(bytes))
}

fn read<'de, T: Fixed, D: Deserializer<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    let text = std::borrow::Cow::<str>::deserialize(from)?;
    let bytes = STANDARD_NO_PAD.decode(text.as_bytes()).map_err(D::Error::custom)?;
    if bytes.len() % T::SIZE != 0 {
        return Err(D::Error::custom(format!("{} bytes are no whole count of numbers", bytes.len())));
    }
    let numbers = bytes.chunks_exact(T::SIZE).filter_map(|chunk| T::Bytes::try_from(chunk).ok());
    Ok(numbers.map(T::from_bytes).collect())
}

macro_rules! packed {
    ($($(#[$doc:meta])* $name:ident: $number:ty;)*) => {$(
        $(#[$doc])*
        pub mod $name {
            use serde::{Deserializer, Serializer};

            /// Writes.
            ///
            /// # Errors
            /// What `into` says.
            pub fn serialize<S: Serializer>(numbers: &[$number], into: S) -> Result<S::Ok, S::Error> {
                super::write(numbers.iter().copied(), into)
            }

            /// Reads.
            ///
            /// # Errors
            /// When it is no text, no base64, or breaks off inside a number.
            pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<$number>, D::Error> {
                super::read(from)
            }
        }
    )*};
}

packed! {
    /// Small whole numbers.
    small: i8;
    /// Whole numbers of either sign that are not large.
    middling: i16;
    /// Whole numbers.
    whole: u32;
    /// Hashes.
    hashes: u64;
    /// Fractions.
    fractions: f32;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Rows {
        #[serde(with = "super::small")]
        small: Vec<i8>,
        #[serde(with = "super::middling")]
        middling: Vec<i16>,
        #[serde(with = "super::whole")]
        whole: Vec<u32>,
        #[serde(with = "super::hashes")]
        hashes: Vec<u64>,
        #[serde(with = "super::fractions")]
        fractions: Vec<f32>,
    }

    proptest! {
        #[test]
        fn what_was_packed_is_unpacked_bit_by_bit(
            small in prop::collection::vec(any::<i8>(), 0..40),
            middling in prop::collection::vec(any::<i16>(), 0..40),
            whole in prop::collection::vec(any::<u32>(), 0..40),
            hashes in prop::collection::vec(any::<u64>(), 0..40),
            fractions in prop::collection::vec(any::<f32>().prop_filter("equal to itself", |one| !one.is_nan()), 0..40),
        ) {
            let rows = Rows { small, middling, whole, hashes, fractions };
            let read: Rows = serde_json::from_str(&serde_json::to_string(&rows).unwrap()).unwrap();
            prop_assert_eq!(rows, read);
        }
    }

    #[test]
    fn what_breaks_off_inside_a_number_is_refused() {
        let text = r#"{"small":"","middling":"","whole":"AAAA","hashes":"","fractions":""}"#;
        let error = serde_json::from_str::<Rows>(text).unwrap_err();
        assert!(error.to_string().contains("3 bytes are no whole count of numbers"), "{error}");
    }
}
