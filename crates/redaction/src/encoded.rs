//! Text inside text: base64 and hexadecimal runs, percent signs, escapes, and characters that cannot be seen.
//!
//! What is decoded is scanned like any other text, and up to [`DEEPEST`] encodings inside each other are undone. A run that decodes to anything but
//! text is left alone: so a picture costs a look at its first bytes.

use std::ops::Range;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::detector::{Class, View};
use crate::detectors::Detectors;
use crate::finding::{Candidate, Encoding, Finding, Rule};
use crate::scan::{Scan, Seen, word_start};
use crate::secret::Shape;

/// How many encodings inside each other are undone.
pub(crate) const DEEPEST: u8 = 2;

/// Runs that are shorter hold nothing worth finding.
const SHORTEST_RUN: usize = 16;

const FORGIVING: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_allow_trailing_bits(true)
    .with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, FORGIVING);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, FORGIVING);

/// What is in a run of token characters when it is decoded. The flag says that a part of it is readable text.
pub(crate) fn look_at_run(
    detectors: &Detectors,
    view: View<'_>,
    length: usize,
    depth: u8,
) -> (Vec<Candidate>, bool) {
    let mut candidates = Vec::new();
    let mut readable = false;
    for range in parts(view.text, view.at..view.at + length) {
        let run = &view.text[range.clone()];
        // Encoded text looks like chance: what reads like words need not be decoded.
        if Shape::of(&run[..run.len().min(48)]).chance < 0.5 {
            continue;
        }
        let Some((encoding, inner)) = decode(run) else { continue };
        readable = true;
        let found = scan(detectors, &inner, depth + 1);
        let worst = found
            .iter()
            .filter(|finding| finding.class != Class::Placeholder)
            .max_by_key(|finding| finding.class.rank());
        if let Some(Finding { class, rule, .. }) = worst {
            candidates.push(Candidate { range, class: *class, rule: rule.clone(), encoding: Some(encoding) });
        } else if is_lone_token(&inner) {
            let rule = Rule::BuiltIn("encoded-token");
            candidates.push(Candidate { range, class: Class::Secret, rule, encoding: Some(encoding) });
        }
    }
    (candidates, readable)
}

/// The parts of a run that can be encoded on their own, with the signs that fill them up.
fn parts(text: &[u8], run: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let holds = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_');
    let mut at = run.start;
    std::iter::from_fn(move || {
        while at < run.end && !holds(text[at]) {
            at += 1;
        }
        let start = at;
        while at < run.end && holds(text[at]) {
            at += 1;
        }
        let mut end = at;
        while end < run.end && end - at < 2 && text[end] == b'=' {
            end += 1;
        }
        (start < run.end).then_some(start..end)
    })
    .filter(|range| range.len() >= SHORTEST_RUN)
}

fn decode(run: &[u8]) -> Option<(Encoding, Vec<u8>)> {
    let digits = run.iter().all(u8::is_ascii_hexdigit);
    if digits && run.len().is_multiple_of(2) {
        let inner = hex::decode(run).ok()?;
        return is_text(&inner).then_some((Encoding::Hex, inner));
    }
    let engine = if run.iter().any(|byte| matches!(byte, b'-' | b'_')) { URL_SAFE } else { STANDARD };
    let run = &run[..run.len() - run.iter().rev().take_while(|byte| **byte == b'=').count()];
    // A run that is cut off within a group of four is read as far as it goes.
    let run = if run.len() % 4 == 1 { &run[..run.len() - 1] } else { run };
    let beginning = engine.decode(&run[..run.len().min(SHORTEST_RUN)]).ok()?;
    if !is_text(&beginning) {
        return None;
    }
    let inner = engine.decode(run).ok()?;
    is_text(&inner).then_some((Encoding::Base64, inner))
}

/// Text, possibly cut off within a character.
fn is_text(bytes: &[u8]) -> bool {
    let valid = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    !valid.is_empty()
        && valid.chars().all(|character| !character.is_control() || matches!(character, '\n' | '\r' | '\t'))
}

/// Whether somebody went to the trouble of encoding one token that looks like chance.
fn is_lone_token(inner: &[u8]) -> bool {
    let token = inner.trim_ascii();
    let shape = Shape::of(token);
    token.len() >= 12
        && token.iter().all(u8::is_ascii_graphic)
        && shape.chance > 4.0
        && shape.chance > 0.25 * shape.length as f32
}

fn scan(detectors: &Detectors, text: &[u8], depth: u8) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut scan = Scan::new(detectors, depth);
    scan.push_bytes(detectors, text, &mut found);
    scan.finish(detectors, &mut found);
    found
}

/// What is in a word when its percent signs, escapes and unseen characters are undone. The place is the first of them.
pub(crate) fn look_at_word(detectors: &Detectors, view: View<'_>, depth: u8) -> Seen {
    let Some(first) = escape(&view.text[view.at..]) else {
        return if view.text.len() - view.at < LONGEST_ESCAPE && !view.ended {
            Seen::Wait
        } else {
            Seen::Nothing
        };
    };
    let word = word_start(view.text, view.at);
    // The first one in a word speaks for all of them.
    if (word..view.at)
        .any(|index| can_escape(view.text[index]) && escape(&view.text[index..view.at]).is_some())
    {
        return Seen::Nothing;
    }
    let Some(length) = view.text[view.at..].iter().position(u8::is_ascii_whitespace).or_else(|| {
        (view.ended || view.text.len() - view.at >= crate::LOOK_AHEAD).then_some(view.text.len() - view.at)
    }) else {
        return Seen::Wait;
    };
    let plain = Plain::of(&view.text[..view.at + length], word, first.encoding);
    let found = scan(detectors, &plain.bytes, depth + 1).into_iter().filter_map(|finding| {
        let range = plain.places[finding.range.start]..plain.places[finding.range.end];
        let escaped = range.len() != finding.range.len() || range.start >= word;
        (range.end > word && escaped && finding.class != Class::Placeholder).then(|| Candidate {
            range: range.start.max(word)..range.end,
            class: finding.class,
            rule: finding.rule,
            encoding: Some(finding.encoding.unwrap_or(first.encoding)),
        })
    });
    Seen::Found(found.collect())
}

/// The bytes with which an escape can begin.
pub(crate) const BEGINNINGS: [u8; 5] = [b'%', b'\\', 0xE2, 0xEF, 0xC2];

/// Whether no escape begins at the beginning of `text`, which is one of [`BEGINNINGS`], by the byte behind it.
pub(crate) fn is_plain(text: &[u8]) -> bool {
    match text {
        [b'\\', next, ..] => !matches!(next, b'u' | b'x' | b'/'),
        [b'%', next, ..] => !next.is_ascii_hexdigit(),
        [0xE2, next, ..] => !matches!(next, 0x80 | 0x81),
        [0xEF, next, ..] => *next != 0xBB,
        [0xC2, next, ..] => *next != 0xAD,
        _ => false,
    }
}

fn can_escape(byte: u8) -> bool {
    BEGINNINGS.contains(&byte)
}

/// The longest escape, `\u0000`.
const LONGEST_ESCAPE: usize = 6;

struct Escape {
    encoding: Encoding,
    length: usize,
    stands_for: Option<char>,
}

/// The escape at the beginning of `text`.
fn escape(text: &[u8]) -> Option<Escape> {
    let number = |range: Range<usize>| {
        let digits = std::str::from_utf8(text.get(range)?).ok()?;
        digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
    };
    let (encoding, length, stands_for) = match text {
        [b'%', ..] => (Encoding::Url, 3, char::from_u32(number(1..3)?)),
        [b'\\', b'u', ..] => (Encoding::Escaped, 6, char::from_u32(number(2..6)?)),
        [b'\\', b'x', ..] => (Encoding::Escaped, 4, char::from_u32(number(2..4)?)),
        [b'\\', b'/', ..] => (Encoding::Escaped, 2, Some('/')),
        [0xE2, 0x80, 0x8B..=0x8F | 0xAA..=0xAE, ..]
        | [0xE2, 0x81, 0xA0..=0xA4, ..]
        | [0xEF, 0xBB, 0xBF, ..] => (Encoding::Spaced, 3, None),
        [0xC2, 0xAD, ..] => (Encoding::Spaced, 2, None),
        _ => return None,
    };
    Some(Escape { encoding, length, stands_for })
}

/// A text without escapes, and where each of its bytes comes from.
struct Plain {
    bytes: Vec<u8>,
    places: Vec<usize>,
}

impl Plain {
    /// Undoes the escapes in `text` from `word` on; what stands before is context.
    fn of(text: &[u8], word: usize, encoding: Encoding) -> Self {
        let mut plain =
            Self { bytes: Vec::with_capacity(text.len()), places: Vec::with_capacity(text.len() + 1) };
        let mut at = 0;
        while at < text.len() {
            let undone = if at >= word && can_escape(text[at]) { escape(&text[at..]) } else { None };
            match undone {
                Some(Escape { length, stands_for, encoding }) => {
                    let mut buffer = [0; 4];
                    let bytes: &[u8] = match stands_for {
                        // A percent sign stands for a byte, the others for a character.
                        Some(byte) if encoding == Encoding::Url => &[byte as u8],
                        Some(character) => character.encode_utf8(&mut buffer).as_bytes(),
                        None => &[],
                    };
                    plain.bytes.extend_from_slice(bytes);
                    plain.places.extend(std::iter::repeat_n(at, bytes.len()));
                    at += length;
                }
                None => {
                    let space = text[at] == b'+' && at >= word && encoding == Encoding::Url;
                    plain.bytes.push(if space { b' ' } else { text[at] });
                    plain.places.push(at);
                    at += 1;
                }
            }
        }
        plain.places.push(text.len());
        plain
    }
}
