//! What kind of address an address is.
//!
//! The answer for IPv6 is a short list of what is public, and everything else is not: a range that is handed out tomorrow
//! is refused until somebody has looked at it. An address that holds an IPv4 address is what that one is where the system
//! itself unwraps it (`::ffff:a.b.c.d`), and no address at all for us where some router on the way would.
//!
//! After the IANA registries of special-purpose addresses. Stricter where those call something globally reachable that
//! serves no web (anycast sinks, tunnels), for a local router may answer in its place.
//!
//! To add a range: a line in `V4` or `V6`, the first that matches counts, and lines in `tests/evasions.txt`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What an address is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Anybody's, anywhere.
    Public,
    /// This machine.
    Loopback,
    /// A network of somebody's own: RFC 1918 and its IPv6 counterpart.
    Private,
    /// Between a provider and its customers, and the inside of some overlay networks.
    Shared,
    /// The cable that this machine hangs on.
    LinkLocal,
    /// Where a cloud hands out the credentials of its machines.
    Metadata,
    /// "This network", which some systems take for this machine.
    Unspecified,
    /// Many receivers at once.
    Multicast,
    /// An IPv4 address in the clothes of an IPv6 one, for a router or a tunnel to unwrap.
    Disguised,
    /// Set apart for documents, measurements or later.
    Reserved,
}

impl Kind {
    /// Its name in records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::Shared => "shared",
            Self::LinkLocal => "link_local",
            Self::Metadata => "metadata",
            Self::Unspecified => "unspecified",
            Self::Multicast => "multicast",
            Self::Disguised => "disguised",
            Self::Reserved => "reserved",
        }
    }

    /// The kind of `address`.
    #[must_use]
    pub fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => of_v4(address),
            IpAddr::V6(address) => of_v6(address),
        }
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::LinkLocal => "link-local",
            Self::Metadata => "cloud metadata",
            other => other.name(),
        })
    }
}

/// Networks and what they are for. The first that matches counts; what matches none is public.
const V4: &[([u8; 4], u32, Kind)] = &[
    // Alibaba, Oracle's older cloud, and Azure's, which looks like anybody's.
    ([100, 100, 100, 200], 32, Kind::Metadata),
    ([192, 0, 0, 192], 32, Kind::Metadata),
    ([168, 63, 129, 16], 32, Kind::Metadata),
    // Nearly everybody else's: machines, containers and pods, each with an address of its own in here.
    ([169, 254, 169, 0], 24, Kind::Metadata),
    ([169, 254, 170, 0], 24, Kind::Metadata),
    ([169, 254, 0, 23], 32, Kind::Metadata),
    ([0, 0, 0, 0], 8, Kind::Unspecified),
    ([10, 0, 0, 0], 8, Kind::Private),
    ([100, 64, 0, 0], 10, Kind::Shared),
    ([127, 0, 0, 0], 8, Kind::Loopback),
    ([169, 254, 0, 0], 16, Kind::LinkLocal),
    ([172, 16, 0, 0], 12, Kind::Private),
    ([192, 0, 0, 0], 24, Kind::Reserved),
    ([192, 0, 2, 0], 24, Kind::Reserved),
    // Anycast: sinks for questions about private addresses, and relays of tunnels.
    ([192, 31, 196, 0], 24, Kind::Reserved),
    ([192, 52, 193, 0], 24, Kind::Reserved),
    ([192, 88, 99, 0], 24, Kind::Reserved),
    ([192, 168, 0, 0], 16, Kind::Private),
    ([192, 175, 48, 0], 24, Kind::Reserved),
    ([198, 18, 0, 0], 15, Kind::Reserved),
    ([198, 51, 100, 0], 24, Kind::Reserved),
    ([203, 0, 113, 0], 24, Kind::Reserved),
    ([224, 0, 0, 0], 4, Kind::Multicast),
    ([240, 0, 0, 0], 4, Kind::Reserved),
];

/// As above, but what matches none is reserved.
const V6: &[([u16; 8], u32, Kind)] = &[
    ([0, 0, 0, 0, 0, 0, 0, 0], 128, Kind::Unspecified),
    ([0, 0, 0, 0, 0, 0, 0, 1], 128, Kind::Loopback),
    // `::a.b.c.d`, `::ffff:0:a.b.c.d`, and the NAT64 prefix that every network may use as it likes.
    ([0, 0, 0, 0, 0, 0, 0, 0], 96, Kind::Disguised),
    ([0, 0, 0, 0, 0xffff, 0, 0, 0], 96, Kind::Disguised),
    ([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48, Kind::Disguised),
    // Amazon's and Google's.
    ([0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0], 32, Kind::Metadata),
    ([0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0], 32, Kind::Metadata),
    ([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, Kind::Private),
    ([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, Kind::LinkLocal),
    ([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, Kind::Multicast),
    // Teredo and 6to4; the rest of 2001::/23 is for protocols, none of them a web.
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 32, Kind::Disguised),
    ([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, Kind::Disguised),
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, Kind::Reserved),
    ([0x2001, 0x0db8, 0, 0, 0, 0, 0, 0], 32, Kind::Reserved),
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, Kind::Reserved),
    ([0x2000, 0, 0, 0, 0, 0, 0, 0], 3, Kind::Public),
];

/// Networks that run IPv6 only reach the IPv4 world through this prefix, so it cannot be refused as a whole.
const NAT64: [u16; 6] = [0x64, 0xff9b, 0, 0, 0, 0];

fn of_v4(address: Ipv4Addr) -> Kind {
    let found = V4.iter().find(|(network, length, _)| {
        let shift = 32 - length;
        address.to_bits() >> shift == Ipv4Addr::from_octets(*network).to_bits() >> shift
    });
    found.map_or(Kind::Public, |(_, _, kind)| *kind)
}

fn of_v6(address: Ipv6Addr) -> Kind {
    if let Some(mapped) = address.to_ipv4_mapped() {
        return of_v4(mapped);
    }
    let segments = address.segments();
    let [.., high, low] = segments;
    let last = Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    if segments[..6] == NAT64 {
        return match of_v4(last) {
            kind @ (Kind::Public | Kind::Metadata) => kind,
            _ => Kind::Disguised,
        };
    }
    // ISATAP sits in the lower half of any network, so no prefix finds it.
    if matches!(segments[4], 0 | 0x200) && segments[5] == 0x5efe {
        return Kind::Disguised;
    }
    let found = V6.iter().find(|(network, length, _)| {
        let shift = 128 - length;
        address.to_bits() >> shift == Ipv6Addr::from_segments(*network).to_bits() >> shift
    });
    found.map_or(Kind::Reserved, |(_, _, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(kind: Kind, addresses: &[&str]) {
        for address in addresses {
            assert_eq!(Kind::of(address.parse().unwrap()), kind, "{address}");
        }
    }

    #[test]
    fn the_first_and_the_last_address_of_every_network_are_of_its_kind() {
        check(Kind::Private, &["10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255"]);
        check(Kind::Private, &["192.168.0.0", "192.168.255.255", "fc00::", "fdff:ffff::ffff"]);
        check(Kind::Shared, &["100.64.0.0", "100.127.255.255", "100.100.100.199"]);
        check(Kind::Loopback, &["127.0.0.0", "127.255.255.255", "::1", "::ffff:127.0.0.1"]);
        check(Kind::LinkLocal, &["169.254.0.0", "169.254.255.255", "fe80::", "febf::ffff"]);
        check(Kind::Unspecified, &["0.0.0.0", "0.255.255.255", "::", "::ffff:0.0.0.0"]);
        check(Kind::Multicast, &["224.0.0.0", "239.255.255.255", "ff00::", "ff02::1"]);
        check(Kind::Reserved, &["240.0.0.0", "255.255.255.255", "198.18.0.0", "198.19.255.255"]);
        check(Kind::Reserved, &["192.0.0.1", "192.0.2.1", "192.31.196.1", "192.52.193.1", "192.88.99.1"]);
        check(Kind::Reserved, &["192.175.48.1", "198.51.100.1", "203.0.113.1"]);
        check(Kind::Reserved, &["fec0::1", "100::1", "4000::1", "5f00::1", "2001:1::1", "2001:1ff:ffff::"]);
        check(Kind::Reserved, &["2001:db8::1", "3fff::1", "3fff:fff:ffff::1"]);
        check(Kind::Disguised, &["::2", "::127.0.0.1", "::8.8.8.8", "::ffff:0:8.8.8.8", "64:ff9b:1::1"]);
        check(Kind::Disguised, &["2001::1", "2002::1", "2002:7f00:1::", "64:ff9b::10.0.0.1"]);
        check(Kind::Disguised, &["2606:4700::5efe:127.0.0.1", "2606:4700::200:5efe:8.8.8.8"]);
        check(Kind::Metadata, &["169.254.169.254", "169.254.170.2", "169.254.170.23", "169.254.0.23"]);
        check(Kind::Metadata, &["100.100.100.200", "192.0.0.192", "168.63.129.16", "fd00:ec2::254"]);
        check(Kind::Metadata, &["fd20:ce::254", "::ffff:169.254.169.254", "64:ff9b::169.254.169.254"]);
    }

    #[test]
    fn their_neighbours_are_public() {
        check(Kind::Public, &["1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0"]);
        check(Kind::Public, &["126.255.255.255", "128.0.0.0", "169.253.255.255", "169.255.0.0"]);
        check(Kind::Public, &["172.15.255.255", "172.32.0.0", "191.255.255.255", "192.0.1.0", "192.0.3.0"]);
        check(Kind::Public, &["192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0"]);
        check(Kind::Public, &["198.51.99.255", "203.0.114.0", "223.255.255.255", "168.63.129.17"]);
        check(Kind::Public, &["2000::1", "2001:200::1", "2001:db7::1", "2001:db9::1", "2003::1", "3ffe::1"]);
        check(Kind::Public, &["3fff:1000::1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"]);
    }

    proptest! {
        /// Against the standard library, which was written by others.
        #[test]
        fn nothing_public_is_of_a_kind_that_the_standard_library_knows(bits in any::<u32>()) {
            let address = Ipv4Addr::from_bits(bits);
            let known = address.is_private() || address.is_loopback() || address.is_link_local()
                || address.is_multicast() || address.is_broadcast() || address.is_documentation()
                || address.is_unspecified();
            prop_assert!(!known || of_v4(address) != Kind::Public);
        }

        /// Whatever the IPv4 address, its IPv6 forms lead nowhere that it does not.
        #[test]
        fn no_disguise_makes_an_address_public(bits in any::<u32>()) {
            let plain = Ipv4Addr::from_bits(bits);
            let (high, low) = ((bits >> 16) as u16, bits as u16);
            prop_assert_eq!(of_v6(plain.to_ipv6_mapped()), of_v4(plain));
            let nat64 = of_v6(Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low));
            prop_assert_eq!(nat64 == Kind::Public, of_v4(plain) == Kind::Public);
            for wrapped in [
                plain.to_ipv6_compatible(),
                Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, high, low),
                Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 0),
                Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, !high, !low),
                Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, high, low),
                Ipv6Addr::new(0x2606, 0x4700, 0, 0, 0, 0x5efe, high, low),
                Ipv6Addr::new(0x2606, 0x4700, 0, 0, 0x200, 0x5efe, high, low),
            ] {
                prop_assert_ne!(of_v6(wrapped), Kind::Public, "{}", wrapped);
            }
        }
    }
}
