//! Who asks, when proxies stand in between: read from what they say, and from nobody else.
//!
//! Every proxy adds the address it was called from to a header, behind what was there. So the header is read from its end:
//! what a proxy of ours wrote is true, and the first address that is none of ours is the caller's. Whatever stands before it
//! the caller may have made up.
//!
//! - Without proxies to trust, no header is believed.
//! - One header is read, the one that the proxies write. The other one they pass on as it came, made up or not.

use std::net::{IpAddr, SocketAddr};

use http::{HeaderMap, HeaderName, header};
use schema::Network;

/// The header in which proxies say whom they speak for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Forwarded {
    /// `X-Forwarded-For`, which most write.
    #[default]
    XForwardedFor,
    /// `Forwarded`, the standard one (RFC 7239).
    Standard,
}

/// The proxies that are believed.
#[derive(Debug, Clone, Default)]
pub struct Proxies {
    /// Where they are.
    pub trusted: Vec<Network>,
    /// What they write.
    pub header: Forwarded,
}

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

impl Proxies {
    /// The address of the caller of a request that came from `peer`.
    pub(crate) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let mut nearest = peer.to_canonical();
        if !self.trusts(nearest) {
            return nearest;
        }
        let (name, read): (_, fn(&str) -> Option<IpAddr>) = match self.header {
            Forwarded::XForwardedFor => (X_FORWARDED_FOR, address),
            Forwarded::Standard => (header::FORWARDED, forwarded_for),
        };
        // Several lines are one list.
        for line in headers.get_all(name).into_iter().rev() {
            // A line that is no text names nobody, and what is before it nobody vouches for.
            let Ok(line) = line.to_str() else { return nearest };
            for hop in line.rsplit(',') {
                // A proxy that does not say whom it speaks for speaks for itself.
                let Some(hop) = read(hop.trim()) else { return nearest };
                nearest = hop;
                if !self.trusts(nearest) {
                    return nearest;
                }
            }
        }
        nearest
    }

    fn trusts(&self, address: IpAddr) -> bool {
        self.trusted.iter().any(|network| network.contains(address))
    }
}

/// An address, perhaps with a port: `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]`, `[2001:db8::1]:80`.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse().ok().or_else(|| text.parse().ok().map(|address: SocketAddr| address.ip()));
    address.map(|address: IpAddr| address.to_canonical())
}

/// The address in one element of `Forwarded`, such as `for="[2001:db8::1]:80";proto=https`.
fn forwarded_for(element: &str) -> Option<IpAddr> {
    let mut pairs = element.split(';').filter_map(|pair| pair.trim().split_once('='));
    let (_, value) = pairs.find(|(name, _)| name.eq_ignore_ascii_case("for"))?;
    let quoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    address(quoted.unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;
    use proptest::prelude::*;

    fn proxies(trusted: &[&str], header: Forwarded) -> Proxies {
        Proxies { trusted: trusted.iter().map(|network| network.parse().unwrap()).collect(), header }
    }

    #[track_caller]
    fn check(proxies: &Proxies, peer: &str, lines: &[(&'static str, &str)], expected: &str) {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        assert_eq!(proxies.client(peer.parse().unwrap(), &headers).to_string(), expected, "{lines:?}");
    }

    const XFF: &str = "x-forwarded-for";

    #[test]
    fn nobody_is_believed_unless_told_so() {
        let nobody = Proxies::default();
        check(&nobody, "192.0.2.9", &[(XFF, "203.0.113.1"), ("forwarded", "for=203.0.113.1")], "192.0.2.9");
        let others = proxies(&["10.0.0.0/8"], Forwarded::XForwardedFor);
        check(&others, "192.0.2.9", &[(XFF, "203.0.113.1")], "192.0.2.9");
    }

    #[test]
    fn the_last_address_that_is_no_proxy_of_ours_is_the_callers() {
        let ours = proxies(&["10.0.0.0/8", "2001:db8:5::/48"], Forwarded::XForwardedFor);
        let check = |lines: &[(&'static str, &str)], expected| check(&ours, "10.0.0.1", lines, expected);
        check(&[], "10.0.0.1");
        check(&[(XFF, "203.0.113.1")], "203.0.113.1");
        check(&[(XFF, "203.0.113.1, 10.9.9.9")], "203.0.113.1");
        check(&[(XFF, "203.0.113.1:4711, 2001:db8:5::1")], "203.0.113.1");
        check(&[(XFF, "[2001:db8:1::7]:80")], "2001:db8:1::7");
        check(&[(XFF, "::ffff:203.0.113.1, ::ffff:10.0.0.2")], "203.0.113.1");
        check(&[(XFF, "10.0.0.7, 10.0.0.2")], "10.0.0.7");
    }

    #[test]
    fn what_a_caller_makes_up_changes_nothing() {
        let ours = proxies(&["10.0.0.0/8"], Forwarded::XForwardedFor);
        let check = |lines: &[(&'static str, &str)], expected| check(&ours, "10.0.0.1", lines, expected);
        check(&[(XFF, "198.51.100.1, 203.0.113.1")], "203.0.113.1");
        check(&[(XFF, "198.51.100.1"), (XFF, "203.0.113.1")], "203.0.113.1");
        check(&[(XFF, "10.0.0.5, 203.0.113.1")], "203.0.113.1");
        check(&[(XFF, "203.0.113.1"), ("forwarded", "for=198.51.100.1")], "203.0.113.1");
        check(&[("forwarded", "for=198.51.100.1")], "10.0.0.1");
        check(&[(XFF, "198.51.100.1, unknown")], "10.0.0.1");
        check(&[(XFF, "198.51.100.1, , 10.0.0.2")], "10.0.0.2");
        check(&[(XFF, "198.51.100.1, \u{e9}, 10.0.0.2")], "10.0.0.1");
        check(&[(XFF, "")], "10.0.0.1");
    }

    #[test]
    fn the_standard_header_is_read_where_the_proxies_write_it() {
        let ours = proxies(&["10.0.0.0/8"], Forwarded::Standard);
        let check = |lines: &[(&'static str, &str)], expected| check(&ours, "10.0.0.1", lines, expected);
        check(&[("forwarded", "for=203.0.113.1;proto=https, For=\"10.0.0.2:80\"")], "203.0.113.1");
        check(&[("forwarded", "by=10.0.0.3; for=\"[2001:db8:1::7]:80\"")], "2001:db8:1::7");
        check(&[("forwarded", "for=198.51.100.1, for=_hidden")], "10.0.0.1");
        check(&[("forwarded", "for=203.0.113.1"), (XFF, "198.51.100.1")], "203.0.113.1");
    }

    proptest! {
        /// Whatever stands before what our proxies wrote, the caller is who they saw.
        #[test]
        fn no_beginning_of_a_header_changes_who_asks(made_up in "[ -~]{0,60}", standard in any::<bool>()) {
            let (header, name, written) = if standard {
                (Forwarded::Standard, "forwarded", "for=203.0.113.1, for=10.0.0.2")
            } else {
                (Forwarded::XForwardedFor, XFF, "203.0.113.1, 10.0.0.2")
            };
            let ours = proxies(&["10.0.0.0/8"], header);
            check(&ours, "10.0.0.1", &[(name, &format!("{made_up}, {written}"))], "203.0.113.1");
            check(&ours, "10.0.0.1", &[(name, &made_up), (name, written)], "203.0.113.1");
        }
    }
}
