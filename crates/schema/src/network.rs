//! Networks: addresses that begin alike.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// A network, written as `10.0.0.0/8`, `2001:db8::/32`, or as a single address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Network {
    /// The first address in it.
    first: IpAddr,
    /// How many bits all of it share.
    bits: u8,
}

/// Why a text names no network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NetworkError;

impl fmt::Display for NetworkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "expected an address, or the first address of a network with its length, such as 10.0.0.0/8",
        )
    }
}

impl std::error::Error for NetworkError {}

impl Network {
    /// Whether an address is in it. An IPv4 address that is written as IPv6 counts as what it is.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        address.is_ipv4() == self.first.is_ipv4() && first(address, self.bits) == self.first
    }
}

/// The first address of a network.
fn first(address: IpAddr, bits: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(bits.min(32))).unwrap_or(0);
            IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() & mask))
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(bits.min(128))).unwrap_or(0);
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & mask))
        }
    }
}

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let (address, bits) =
            text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let address: IpAddr = address.parse().map_err(|_| NetworkError)?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            None => most,
            // Digits only: `parse` alone would also take "+8".
            Some(bits) if bits.bytes().all(|byte| byte.is_ascii_digit()) => {
                bits.parse().map_err(|_| NetworkError)?
            }
            Some(_) => return Err(NetworkError),
        };
        // 10.0.0.1/8 is a slip: nobody can say whether the one address was meant or the whole network.
        if bits > most || first(address, bits) != address {
            return Err(NetworkError);
        }
        Ok(Self { first: address, bits })
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.first, self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(network: &str, inside: &[&str], outside: &[&str]) {
        let network: Network = network.parse().unwrap();
        for address in inside {
            assert!(network.contains(address.parse().unwrap()), "{network} has no {address}");
        }
        for address in outside {
            assert!(!network.contains(address.parse().unwrap()), "{network} has {address}");
        }
    }

    #[test]
    fn a_network_has_the_addresses_that_begin_like_it() {
        check(
            "10.0.0.0/8",
            &["10.0.0.0", "10.255.255.255", "::ffff:10.1.2.3"],
            &["11.0.0.0", "9.255.255.255", "a00::"],
        );
        check("192.0.2.7", &["192.0.2.7"], &["192.0.2.6"]);
        check("0.0.0.0/0", &["0.0.0.0", "255.255.255.255"], &["::1"]);
        check("2001:db8::/33", &["2001:db8:7fff::1"], &["2001:db8:8000::", "10.0.0.1"]);
        check("::/0", &["::1", "2001:db8::1"], &["10.0.0.1"]);
    }

    #[test]
    fn what_names_no_network_is_refused() {
        for text in
            ["", "10.0.0.0/33", "10.0.0.1/8", "::/129", "10.0.0.0/", "10.0.0.0/+8", "10.0.0/8", "proxy", "/8"]
        {
            assert_eq!(text.parse::<Network>(), Err(NetworkError), "took {text:?}");
        }
    }
}
