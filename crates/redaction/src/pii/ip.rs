//! Internet addresses of both versions. Looks at most 46 bytes ahead.
//!
//! Version numbers look the same: four small numbers are an address only where the words before them say so. Addresses that
//! are the same everywhere (loopback, unspecified, masks) tell nothing about anybody.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::context::said_before;
use super::number::Number;
use super::reader::{Looked, Match, Reader, is_word_byte, sight};
use crate::detector::{Class, Detector, Digits, Sight, Trigger, View};

pub(super) const V4: Detector = Detector {
    rule: "ip-v4",
    class: Class::IpAddress,
    trigger: Trigger::Digits(may_be_v4),
    look: |view: View<'_>| -> Sight { sight(v4(&Reader::new(view))) },
};

pub(super) const V6: Detector = Detector {
    rule: "ip-v6",
    class: Class::IpAddress,
    trigger: Trigger::Byte(b':'),
    look: |view: View<'_>| -> Sight { sight(v6(&Reader::new(view))) },
};

/// Up to three digits, and a dot.
fn may_be_v4(digits: Digits) -> bool {
    digits.length <= 3 && matches!(digits.after, [b'.', b'0'..=b'9']) && !is_word_byte(digits.before[1])
}

fn v4(reader: &Reader<'_>) -> Looked<Option<Match>> {
    let start = reader.at();
    if reader.before(start).is_some_and(is_word_byte) || Number::continues(reader, start, b".-,") {
        return Ok(None);
    }
    let mut octets = [0_u8; 4];
    let mut position = start;
    for (place, octet) in octets.iter_mut().enumerate() {
        if place > 0 {
            if reader.byte(position)? != Some(b'.') {
                return Ok(None);
            }
            position += 1;
        }
        let mut value = 0_u16;
        let first = position;
        while let Some(digit @ b'0'..=b'9') = reader.byte(position)? {
            value = value * 10 + u16::from(digit - b'0');
            position += 1;
            if value > 255 || position > first + 3 {
                return Ok(None);
            }
        }
        let leading_zero = position > first + 1 && reader.read(first..first + 1) == b"0";
        let Some(value) = u8::try_from(value).ok().filter(|_| position > first && !leading_zero) else {
            return Ok(None);
        };
        *octet = value;
    }
    let goes_on = reader.byte(position)? == Some(b'.')
        && reader.byte(position + 1)?.is_some_and(|byte| byte.is_ascii_alphanumeric());
    if goes_on || !reader.ends(position)? || !is_of_somebody(octets) || is_version(reader, start, octets) {
        return Ok(None);
    }
    Ok(Some((start..position, Class::IpAddress, "ip-v4")))
}

/// Whether the address belongs to one machine.
fn is_of_somebody(octets: [u8; 4]) -> bool {
    let address = Ipv4Addr::from(octets);
    octets[0] != 0 && octets[0] != 255 && !address.is_loopback() && !address.is_documentation()
}

/// Whether it is rather the number of a version.
fn is_version(reader: &Reader<'_>, start: usize, octets: [u8; 4]) -> bool {
    const VERSION: &[&str] =
        &["v", "ver", "version*", "release*", "build", "firmware", "revision", "section", "chapter"];
    const ADDRESS: &[&str] = &[
        "ip", "ips", "ipv4", "address*", "host*", "server*", "client", "remote", "from", "ping", "dns",
        "gateway",
    ];
    if said_before(reader, start, 24, VERSION) {
        return true;
    }
    octets.iter().all(|octet| *octet < 20) && !said_before(reader, start, 32, ADDRESS)
}

fn v6(reader: &Reader<'_>) -> Looked<Option<Match>> {
    let colon = reader.at();
    // Two bytes tell nearly every colon of prose and code from one of an address.
    if !reader.byte(colon + 1)?.is_some_and(|byte| byte == b':' || byte.is_ascii_hexdigit()) {
        return Ok(None);
    }
    let group = reader.behind(colon, 5).iter().rev().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let start = colon - group;
    let before = reader.before(start);
    if group > 4 || before.is_some_and(|byte| is_word_byte(byte) || byte == b':' || byte == b'.') {
        return Ok(None);
    }
    let end = reader.run(colon, |byte| byte.is_ascii_hexdigit() || byte == b':' || byte == b'.')?;
    if end - start > 46 || !reader.ends(end)? {
        return Ok(None);
    }
    let written = reader.read(start..end);
    let trimmed = written.trim_ascii_end().strip_suffix(b".").unwrap_or(written);
    let Some(address) = std::str::from_utf8(trimmed).ok().and_then(|text| text.parse::<Ipv6Addr>().ok())
    else {
        return Ok(None);
    };
    // `abc::def` is a path in some languages, and `::` alone is their root.
    let groups = address.segments().iter().filter(|group| **group != 0).count();
    let has_digit = trimmed.iter().any(u8::is_ascii_digit);
    let told = !address.is_loopback() && groups >= 2 && has_digit;
    Ok(told.then_some((start..start + trimmed.len(), Class::IpAddress, "ip-v6")))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, nothing};

    #[test]
    fn addresses_are_found() {
        found("from 81.2.69.142.", "81.2.69.142");
        found("|86.121.97.248|%20/", "86.121.97.248");
        found("http://192.168.10.44:8080/x", "192.168.10.44");
        found("client ip 8.8.8.8 asked", "8.8.8.8");
        found("at 2001:db8:85a3::8a2e:370:7334, then", "2001:db8:85a3::8a2e:370:7334");
        found("[fe80::1ff:fe23:4567:890a]:443", "fe80::1ff:fe23:4567:890a");
        found("2a02:8108:8ac0:2f5c:1d2e:aa11:90bc:1234 connected", "2a02:8108:8ac0:2f5c:1d2e:aa11:90bc:1234");
    }

    #[test]
    fn versions_times_and_paths_are_left_alone() {
        nothing("version 10.4.22.190 and v2.3.14.15 and 1.2.3.4");
        nothing("127.0.0.1, 0.0.0.0, 255.255.255.0, 300.1.2.3, 1.2.3.4.5");
        nothing("at 12:30:45, std::vec::Vec, abc::def, ::1, a::b");
        nothing("192.168.010.44 and 01.84.17.61");
        nothing("aa:bb:cc:dd:ee:ff and 00:1b:63:84:45:e6");
    }
}
