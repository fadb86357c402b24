//! Canonical JSON against RFC 8785's own vectors, and against the reference crate on everything else.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper of tests may fail as a test does"
)]

use ledger::canonical::{CanonicalError, ParseError, parse, to_vec};
use proptest::prelude::*;
use serde_json::{Value, json};

fn canonical(json: &str) -> String {
    String::from_utf8(to_vec(&serde_json::from_str(json).unwrap()).unwrap()).unwrap()
}

#[test]
fn the_example_of_the_rfc() {
    // RFC 8785, section 3.2.2 and 3.2.3.
    let input = r#"{
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
    }"#;
    let expected = "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}";
    assert_eq!(canonical(input), expected);
}

#[test]
fn the_key_order_of_the_rfc() {
    // RFC 8785, section 3.2.3: by UTF-16 code units, which is not the order of UTF-8 bytes.
    let input = r#"{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",
        "\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}"#;
    let text = canonical(input);
    let order = ["Carriage Return", "One", "Control", "Latin Small", "Euro Sign", "Emoji", "Hebrew"];
    let places: Vec<usize> = order.iter().map(|name| text.find(name).unwrap()).collect();
    assert!(places.is_sorted(), "{text}");
}

#[test]
fn the_number_table_of_the_rfc() {
    // RFC 8785, appendix B. Those that would be written as integers beyond 2^53 - 1 are refused here, on purpose.
    let table: &[(u64, Option<&str>)] = &[
        (0x0000_0000_0000_0000, Some("0")),
        (0x8000_0000_0000_0000, Some("0")),
        (0x0000_0000_0000_0001, Some("5e-324")),
        (0x8000_0000_0000_0001, Some("-5e-324")),
        (0x7fef_ffff_ffff_ffff, Some("1.7976931348623157e+308")),
        (0xffef_ffff_ffff_ffff, Some("-1.7976931348623157e+308")),
        (0x4340_0000_0000_0000, None),
        (0xc340_0000_0000_0000, None),
        (0x4430_0000_0000_0000, None),
        (0x44b5_2d02_c7e1_4af5, Some("9.999999999999997e+22")),
        (0x44b5_2d02_c7e1_4af6, Some("1e+23")),
        (0x44b5_2d02_c7e1_4af7, Some("1.0000000000000001e+23")),
        (0x444b_1ae4_d6e2_ef4e, None),
        (0x444b_1ae4_d6e2_ef4f, None),
        (0x444b_1ae4_d6e2_ef50, Some("1e+21")),
        (0x3eb0_c6f7_a0b5_ed8c, Some("9.999999999999997e-7")),
        (0x3eb0_c6f7_a0b5_ed8d, Some("0.000001")),
        (0x41b3_de43_5555_5553, Some("333333333.3333332")),
        (0x41b3_de43_5555_5554, Some("333333333.33333325")),
        (0x41b3_de43_5555_5555, Some("333333333.3333333")),
        (0x41b3_de43_5555_5556, Some("333333333.3333334")),
        (0x41b3_de43_5555_5557, Some("333333333.33333343")),
        (0xbecb_f647_612f_3696, Some("-0.0000033333333333333333")),
        (0x4314_3ff3_c1cb_0959, Some("1424953923781206.2")),
    ];
    for (bits, expected) in table {
        let double = f64::from_bits(*bits);
        let written = to_vec(&json!(double)).ok().map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!(written.as_deref(), *expected, "{bits:016x}");
    }
}

#[test]
fn integers_beyond_2_to_the_53_are_refused() {
    for good in ["9007199254740991", "-9007199254740991", "0", "-1"] {
        assert_eq!(canonical(good), good);
    }
    for bad in [
        "9007199254740992",
        "-9007199254740992",
        "18446744073709551615",
        "-9223372036854775808",
        "9007199254740992.0",
        "1e20",
    ] {
        let value: Value = serde_json::from_str(bad).unwrap();
        assert!(matches!(to_vec(&value), Err(CanonicalError::Number(_))), "{bad}");
    }
}

#[test]
fn only_the_canonical_bytes_are_read() {
    let not_canonical = [
        "{\"b\":1,\"a\":2}",
        "{\"a\":1,\"a\":1}",
        " 1",
        "1\n",
        "[1 ,2]",
        "1.0",
        "-0",
        "1E2",
        "\"\\u0061\"",
        "\"\\/\"",
        "9007199254740993",
        "{\"a\":[[1]],\"a\":1}",
        "1e20",
    ];
    for text in not_canonical {
        assert!(matches!(parse(text.as_bytes()), Err(ParseError::NotCanonical(_))), "{text}");
    }
    let deep = |n: usize| "[".repeat(n) + &"]".repeat(n);
    let too_deep = deep(101);
    let hidden = format!("{{\"a\":{},\"a\":1}}", deep(100));
    let not_json: [&[u8]; 9] = [
        b"",
        b"\xef\xbb\xbf1",
        b"\"\xff\"",
        b"\"\\ud800\"",
        b"1e400",
        b"[1,]",
        b"1 2",
        too_deep.as_bytes(),
        hidden.as_bytes(),
    ];
    for bytes in not_json {
        assert!(matches!(parse(bytes), Err(ParseError::NotJson(_))), "{}", String::from_utf8_lossy(bytes));
    }
    assert!(parse(deep(100).as_bytes()).is_ok());
}

/// Any JSON value whose numbers are in range.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-9_007_199_254_740_991i64..=9_007_199_254_740_991).prop_map(Value::from),
        any::<f64>()
            .prop_filter("in range", |x| x.is_finite() && !(9_007_199_254_740_992.0..1e21).contains(&x.abs()))
            .prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[\u{0}-\u{1f}\"\\\\/\u{7f}-\u{ff}]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner.clone(), 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
            prop::collection::btree_map("[a-z\u{e000}-\u{e010}\u{1f600}-\u{1f610}]{0,3}", inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn the_direct_way_and_the_reference_crate_agree(value in any_value()) {
        prop_assert_eq!(to_vec(&value).unwrap(), serde_json_canonicalizer::to_vec(&value).unwrap());
    }

    #[test]
    fn what_is_canonical_reads_back_as_itself(value in any_value()) {
        let bytes = to_vec(&value).unwrap();
        let again = parse(&bytes).unwrap();
        prop_assert_eq!(to_vec(&again).unwrap(), bytes);
    }

    #[test]
    fn garbage_is_refused_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = parse(&bytes);
    }
}
