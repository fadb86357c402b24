//! Money: whole micro-dollars inside, a decimal number of dollars on the wire.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An amount in millionths of a US dollar. Savings may be negative, so it is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct MicroUsd(pub i64);

impl Serialize for MicroUsd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Exact to the micro-dollar up to some nine billion dollars; a double has 53 bits.
        serializer.serialize_f64(self.0 as f64 / 1e6)
    }
}
impl<'de> Deserialize<'de> for MicroUsd {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let dollars = f64::deserialize(deserializer)?;
        let micros = (dollars * 1e6).round();
        if micros.abs() < 9_007_199_254_740_992.0 {
            Ok(Self(micros as i64))
        } else {
            Err(serde::de::Error::custom("expected an amount below nine billion dollars"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_amount_survives_the_wire(micros in -1_000_000_000_000i64..1_000_000_000_000) {
            let text = serde_json::to_string(&MicroUsd(micros)).unwrap();
            prop_assert_eq!(serde_json::from_str::<MicroUsd>(&text).unwrap(), MicroUsd(micros));
        }
    }
}
