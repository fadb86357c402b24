use super::*;
use proptest::prelude::*;
use std::net::{Ipv4Addr, Ipv6Addr};

#[track_caller]
fn check(reach: &Reach, address: &str, expected: &str) {
    let said = reach.judge(address).map_or_else(|refusal| refusal.to_string(), |origin| origin.to_string());
    assert_eq!(said, expected, "{address}");
}

#[test]
fn public_places_are_reached_and_named_in_one_way() {
    let reach = Reach::public();
    check(&reach, "https://Example.COM/a?b#c", "https://example.com:443");
    check(&reach, "http://example.com.:8080", "http://example.com:8080");
    check(&reach, "https://b\u{fc}cher\u{3002}example", "https://xn--bcher-kva.example:443");
    check(&reach, "https://8.8.8.8", "https://8.8.8.8:443");
    check(&reach, "https://[2606:4700::1111]", "https://[2606:4700::1111]:443");
    check(&reach, "https://[::ffff:8.8.8.8]", "https://8.8.8.8:443");
    check(&reach, "https://ex%61mple.com", "https://example.com:443");
}

#[test]
fn a_refusal_says_what_is_wrong_and_repeats_no_secret() {
    let reach = Reach::public();
    check(&reach, "https://10.0.0.1/secret", "10.0.0.1 is a private address");
    check(&reach, "https://localhost/secret", "localhost is a name of this machine or its own network");
    check(
        &reach,
        "http://metadata.google.internal/secret",
        "metadata.google.internal is where a cloud hands out credentials",
    );
    check(
        &reach,
        "http://me:secret@example.com",
        "an address holds no user and no password; send them as a header",
    );
    check(&reach, "ftp://example.com/secret", "an address begins with https:// or http://");
    check(&reach, "secret", "an address looks like https://host/path, and this is none");
    check(
        &reach,
        "http://example.com/sec\tret",
        "an address has no spaces, control characters or backslashes in it",
    );
    check(&reach, "http://example.com:25/secret", "port 25 is known for something that is no web server");
    check(&reach, "http://sec*ret.example", "the name of the host is none that a host can have");
    let target = reach.target("https://example.com/secret?secret").unwrap();
    assert_eq!(format!("{target:?}"), "Target(https://example.com:443)");
}

#[test]
fn private_reach_opens_networks_of_ones_own_and_no_metadata() {
    let reach = Reach::private();
    for fine in [
        "http://localhost:8080",
        "http://opa:8181",
        "http://10.0.0.1",
        "http://[fd12::1]",
        "http://100.64.0.1",
    ] {
        assert!(reach.judge(fine).is_ok(), "{fine}");
    }
    for never in [
        "http://169.254.169.254",
        "http://[::ffff:169.254.169.254]",
        "http://[fd00:ec2::254]",
        "http://100.100.100.200",
        "http://168.63.129.16",
        "http://metadata.google.internal",
        "http://metadata",
    ] {
        assert_eq!(reach.judge(never).unwrap_err().name(), "metadata", "{never}");
    }
    for never in [
        "http://169.254.1.1",
        "http://0.0.0.0",
        "http://[fe80::1]",
        "http://[::127.0.0.1]",
        "http://224.0.0.1",
    ] {
        assert!(reach.judge(never).is_err(), "{never}");
    }
}

#[test]
fn a_listed_place_is_open_on_its_own_port_alone_and_metadata_cannot_be_listed() {
    let listed = ["opa:8181", "127.0.0.1:6000", "169.254.169.254:80", "metadata:80"];
    let reach = listed.iter().fold(Reach::public(), |reach, place| reach.and(place.parse().unwrap()));
    assert!(reach.judge("http://opa:8181/v1/data").is_ok());
    assert!(reach.judge("https://OPA.:8181").is_ok());
    assert!(reach.judge("http://127.1:6000").is_ok());
    assert_eq!(reach.judge("http://opa:8182").unwrap_err().name(), "local_name");
    assert_eq!(reach.judge("http://127.0.0.1:6001").unwrap_err().name(), "loopback");
    assert_eq!(reach.judge("http://localhost:6000").unwrap_err().name(), "port");
    assert_eq!(reach.judge("http://169.254.169.254").unwrap_err().name(), "metadata");
    assert_eq!(reach.judge("http://metadata").unwrap_err().name(), "metadata");
}

#[test]
fn a_redirect_opens_no_listed_place_on_another_host() {
    let reach = Reach::public().and("opa:8181".parse().unwrap()).and("127.0.0.1:80".parse().unwrap());
    let next = |from: &str, location: &str| {
        let from = reach.target(from).unwrap();
        reach
            .redirected(&from, location)
            .map_or_else(|refusal| refusal.name().to_owned(), |to| to.origin.to_string())
    };
    assert_eq!(next("https://example.com", "http://opa:8181"), "local_name");
    assert_eq!(next("http://opa:8181/a", "http://127.0.0.1"), "loopback");
    assert_eq!(next("http://opa:8181/a", "/b"), "http://opa:8181");
    assert_eq!(next("http://example.com", "//example.org:81/b"), "http://example.org:81");
    assert_eq!(next("https://example.com", "http://example.com"), "downgrade");
    assert_eq!(next("https://example.com", "https://user@example.com"), "credentials");
}

/// The ways to write an IPv4 address that some program takes: each part octal, hexadecimal or decimal, the last ones
/// drawn together, with zeros before them, and a dot behind.
fn spellings(address: Ipv4Addr) -> Vec<String> {
    let [a, b, c, d] = address.octets();
    let bits = address.to_bits();
    let (low24, low16) = (bits & 0xff_ffff, bits & 0xffff);
    let mut all = vec![
        format!("{a}.{b}.{c}.{d}"),
        format!("{a}.{b}.{c}.{d}."),
        format!("{a}.{b}.{low16}"),
        format!("{a}.{low24}"),
        format!("{bits}"),
        format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
        format!("000{a:o}.{b}.0x{c:x}.{d}"),
        format!("0x{a:x}.0X{b:X}.0x{c:x}.0x{d:x}"),
        format!("0x{a:x}.0{low24:o}"),
        format!("0x{bits:x}"),
        format!("0x{bits:08X}"),
        format!("0{bits:o}"),
        format!("[::ffff:{a}.{b}.{c}.{d}]"),
        format!("[::FFFF:{:x}:{low16:x}]", bits >> 16),
        format!("[0000:0000:0000:0000:0000:ffff:{:04x}:{low16:04x}]", bits >> 16),
        format!("[::{a}.{b}.{c}.{d}]"),
        format!("[64:ff9b::{a}.{b}.{c}.{d}]"),
        format!("[64:ff9b:1::{a}.{b}.{c}.{d}]"),
        format!("[2002:{:x}:{low16:x}::]", bits >> 16),
        format!("[2001:0:4136:e378:8000:63bf:{:x}:{:x}]", !bits >> 16, !bits & 0xffff),
        format!("[2606:4700::5efe:{a}.{b}.{c}.{d}]"),
    ];
    let wide = |text: &str| {
        text.chars()
            .map(|letter| match letter {
                '0'..='9' => char::from_u32(u32::from(letter) - u32::from('0') + 0xff10).unwrap(),
                other => other,
            })
            .collect::<String>()
    };
    all.push(wide(&all[0]));
    all.push(all[0].replace('.', "\u{3002}"));
    all.push(all[0].replace('.', "%2e"));
    all.push(all[0].bytes().map(|byte| format!("%{byte:02x}")).collect());
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Over all addresses, so that most are public: what is refused and what is not is decided by `Kind` alone.
    #[test]
    fn no_spelling_of_an_address_reaches_further_than_the_address(bits in any::<u32>()) {
        let address = Ipv4Addr::from_bits(bits);
        let is_public = Kind::of(address.into()) == Kind::Public;
        for spelling in spellings(address) {
            let judged = Reach::public().judge(&format!("http://{spelling}/"));
            prop_assert!(is_public || judged.is_err(), "{} is reached as {}", address, spelling);
            if let Ok(origin) = judged {
                let Host::Address(read) = origin.host() else { panic!("{spelling} became a name") };
                let nat64 = Ipv6Addr::from_bits(0x64_ff9b_u128 << 96 | u128::from(bits));
                prop_assert!(*read == IpAddr::V4(address) || *read == IpAddr::V6(nat64));
            }
        }
    }

    /// Over the networks that are not public, where the first property seldom looks.
    #[test]
    fn no_spelling_of_an_inner_address_is_reached(network in 0usize..12, bits in any::<u32>()) {
        let networks = [
            ([0, 0, 0, 0], 8), ([10, 0, 0, 0], 8), ([100, 64, 0, 0], 10), ([127, 0, 0, 0], 8),
            ([169, 254, 0, 0], 16), ([172, 16, 0, 0], 12), ([192, 0, 0, 0], 24), ([192, 168, 0, 0], 16),
            ([198, 18, 0, 0], 15), ([203, 0, 113, 0], 24), ([224, 0, 0, 0], 4), ([240, 0, 0, 0], 4),
        ];
        let (first, length) = networks[network];
        let address = Ipv4Addr::from_bits(Ipv4Addr::from_octets(first).to_bits() | bits >> length);
        for spelling in spellings(address) {
            let judged = Reach::public().judge(&format!("https://{spelling}:8443/x"));
            prop_assert!(judged.is_err(), "{} is reached as {}", address, spelling);
        }
    }

    #[test]
    fn no_text_is_too_odd_and_what_is_read_is_read_again_the_same(text in "(https?://)?.{0,40}") {
        if let Ok(origin) = Reach::public().judge(&text) {
            prop_assert_eq!(Reach::public().judge(&origin.to_string()), Ok(origin));
        }
    }
}
