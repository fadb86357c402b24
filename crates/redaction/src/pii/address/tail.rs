//! What follows the street of an address: flat, town, state, postcode, country.

use super::super::reader::{Looked, Reader};
use super::super::words::{is_one_of, is_particle, word_at};

/// How many parts may follow a street.
const PARTS: usize = 7;
/// How many words a part has at most.
const WORDS: usize = 4;

const UNITS: &[&str] = &[
    "apartment",
    "apt",
    "bldg",
    "building",
    "dept",
    "flat",
    "fl",
    "floor",
    "lot",
    "office",
    "piso",
    "room",
    "ste",
    "suite",
    "unit",
];
const DIRECTIONS: &[&str] = &["n", "s", "e", "w", "ne", "nw", "se", "sw", "north", "south", "east", "west"];

/// Where the address ends whose street ends at `end`.
pub(super) fn tail(reader: &Reader<'_>, mut end: usize) -> Looked<usize> {
    // What comes after a flat needs no comma.
    let mut loose = false;
    for part in 0..PARTS {
        let gap = gap_at(reader, end)?;
        let Some((start, parted)) = gap else { break };
        if let Some(unit) = unit_at(reader, start)? {
            (end, loose) = (unit, true);
        } else if let Some(army) = army_at(reader, start)? {
            return Ok(army);
        } else if let Some(code) = postcode_at(reader, start)?
            && (parted || part > 0)
        {
            (end, loose) = (code, true);
        } else if let Some(words) = words_at(reader, start, parted || loose)? {
            (end, loose) = (words, true);
        } else {
            break;
        }
    }
    Ok(end)
}

/// Where the next part starts, and whether a comma or a line parts it from the one before. A blank line ends an address.
fn gap_at(reader: &Reader<'_>, end: usize) -> Looked<Option<(usize, bool)>> {
    let (mut position, mut lines, mut commas) = (end, 0, 0);
    while let Some(byte) = reader.byte(position)? {
        match byte {
            b' ' | b'\t' | b'>' | b'\r' => {}
            b'\n' => lines += 1,
            b',' => commas += 1,
            _ => break,
        }
        position += 1;
        if commas > 1 || lines > 2 || position > end + 8 {
            return Ok(None);
        }
    }
    let blank = lines > 1 && commas == 0;
    Ok((position > end && !blank).then_some((position, lines + commas > 0)))
}

/// Where the flat at `start` ends: `Apt. 595`.
pub(super) fn unit_at(reader: &Reader<'_>, start: usize) -> Looked<Option<usize>> {
    let Some(word) = word_at(reader, start)? else { return Ok(None) };
    if !is_one_of(reader.read(word.start..word.end), UNITS) {
        return Ok(None);
    }
    let position = reader.run(word.end, |byte| matches!(byte, b'.' | b' ' | b'#'))?.min(word.end + 3);
    let end = reader.run(position, |byte| byte.is_ascii_alphanumeric())?;
    let numbered = reader.read(position..end).iter().any(u8::is_ascii_digit) && end <= position + 6;
    Ok(numbered.then_some(end))
}

/// Where the post office of an army ends: `APO AA 42323`.
fn army_at(reader: &Reader<'_>, start: usize) -> Looked<Option<usize>> {
    for office in ["apo a", "fpo a", "dpo a"] {
        if let Some(region) = reader.literal(start, office)? {
            let Some(b'a' | b'A' | b'e' | b'E' | b'p' | b'P') = reader.byte(region)? else { return Ok(None) };
            let digits = reader.run(region + 2, |byte| byte.is_ascii_digit())?;
            return Ok((digits == region + 7).then_some(digits));
        }
    }
    Ok(None)
}

/// Where the postcode at `start` ends: three to six digits, perhaps with a second group, or the British and Canadian kind.
fn postcode_at(reader: &Reader<'_>, start: usize) -> Looked<Option<usize>> {
    let end = reader.run(start, |byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())?;
    let code = reader.read(start..end);
    let digits = code.iter().filter(|byte| byte.is_ascii_digit()).count();
    if digits == 0 || code.len() > 6 || code.len() < 2 || !reader.ends(end)? {
        return Ok(None);
    }
    let joint = reader.byte(end)?;
    if digits < code.len() {
        let second = reader.run(end + 1, |byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())?;
        let right = joint == Some(b' ')
            && second == end + 4
            && reader.byte(end + 1)?.is_some_and(|byte| byte.is_ascii_digit());
        return Ok(right.then_some(second));
    }
    if !matches!(joint, Some(b'-' | b' ' | b'.')) {
        return Ok((digits >= 3).then_some(end));
    }
    let second = reader.run(end + 1, |byte| byte.is_ascii_digit())?;
    match second - end - 1 {
        0 => Ok((digits >= 3).then_some(end)),
        3 | 4 if joint == Some(b'-') => Ok(Some(second)),
        // `394 13`; more groups are a telephone number.
        2 if joint == Some(b' ') && digits == 3 && !matches!(reader.byte(second)?, Some(b' ' | b'-')) => {
            Ok(Some(second))
        }
        _ => Ok(None),
    }
}

/// Where the words of a town or country at `start` end. Words that a colon follows are the label of something else.
fn words_at(reader: &Reader<'_>, start: usize, parted: bool) -> Looked<Option<usize>> {
    let mut end = None;
    let mut position = start;
    for _ in 0..WORDS {
        let Some(word) = word_at(reader, position)? else { break };
        let text = reader.read(word.start..word.end);
        let direction = end.is_none() && is_one_of(text, DIRECTIONS);
        if text.iter().any(u8::is_ascii_digit) {
            break;
        }
        let fits = word.capital || (end.is_some() && is_particle(text));
        if !fits || !(parted || direction) {
            break;
        }
        if reader.byte(word.end)? == Some(b':') || unit_at(reader, word.start)?.is_some() {
            break;
        }
        if word.capital {
            end = Some(word.end);
        }
        if reader.byte(word.end)? != Some(b' ') || direction {
            break;
        }
        position = word.end + 1;
    }
    Ok(end)
}
