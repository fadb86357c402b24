//! Checksums of what no hash chain covers: the rows of runs and what a job is about.
//!
//! SQLite notices when the shape of a page is wrong, not when a letter in it has become another one. A text that would be
//! served as it stands is therefore kept with a checksum behind it, over itself and over what it belongs to. It guards
//! against disks, not against people: whoever can write to the file can make a checksum too.

use std::fmt::Write as _;

/// `text` as it is kept. `about` is whatever it belongs to.
pub(super) fn with_sum(about: &[impl AsRef<[u8]>], mut text: String) -> String {
    let sum = sum(about, &text);
    // Writing to a text cannot fail.
    let _ = write!(text, "#{sum:08x}");
    text
}

/// What was kept, if it is what it was. A text from before there were checksums is taken as it is: no JSON ends like one
/// that has a checksum.
pub(super) fn without_sum<'a>(about: &[impl AsRef<[u8]>], kept: &'a str) -> Option<&'a str> {
    let Some((text, written)) = kept.rsplit_once('#').filter(|(_, written)| is_sum(written)) else {
        return Some(kept);
    };
    (u32::from_str_radix(written, 16) == Ok(sum(about, text))).then_some(text)
}

fn is_sum(text: &str) -> bool {
    text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The checksum of a text and of what it belongs to.
pub(super) fn sum(about: &[impl AsRef<[u8]>], text: &str) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    for part in about {
        // With their lengths: what moves from one part to the next is a change too.
        let part = part.as_ref();
        hasher.update(&part.len().to_le_bytes());
        hasher.update(part);
    }
    hasher.update(text.as_bytes());
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_byte_is_noticed_and_old_texts_are_read() {
        let kept = with_sum(&[b"run"], r#"{"model":"small"}"#.to_owned());
        assert_eq!(without_sum(&[b"run"], &kept), Some(r#"{"model":"small"}"#));
        assert_eq!(without_sum(&[b"ran"], &kept), None);
        for place in 0..kept.len() {
            for bit in 0..7 {
                let mut changed = kept.clone().into_bytes();
                changed[place] ^= 1 << bit;
                let changed = String::from_utf8(changed).unwrap();
                let read = without_sum(&[b"run"], &changed);
                // A mark that became another letter, or a digit in capitals: the rest is no JSON then, or the same.
                let is_noticed = read.is_none_or(|text| {
                    serde_json::from_str::<serde_json::Value>(text).is_err() || kept.starts_with(text)
                });
                assert!(is_noticed, "{changed}");
            }
        }
        assert_eq!(without_sum(&[b"run"], r#"{"color":"a #0011aabb"}"#), Some(r#"{"color":"a #0011aabb"}"#));
    }
}
