//! Postal addresses, as far as their form tells them: a number and the words of a street, a post box, a labelled postcode.
//!
//! The street comes first and decides; what follows it (flat, town, postcode, country) is taken along by `tail.rs`. The number of
//! the house stands before the name (`12 Main Street`), or behind one that names its kind (`Via Roma 12`, `Hauptstraße 5`). Looks
//! at most 384 bytes ahead, and no further than the next word that cannot belong to an address.

mod street;
mod tail;

use super::context::said_before;
use super::labelled::{value_after, word_ends};
use super::number::Number;
use super::reader::{Looked, Match, Reader, is_word_byte, sight};
use super::words::{is_one_of, is_particle, word_at};
use crate::detector::{Class, Detector, Digits, Sight, Trigger, View};
use street::{ENDINGS, KINDS_AFTER, KINDS_BEFORE, KINDS_FIRST, has_ending};
use tail::{tail, unit_at};

pub(super) const NUMBERED: Detector = Detector {
    rule: "address",
    class: Class::PostalAddress,
    trigger: Trigger::Digits(may_be_house),
    look: |view: View<'_>| -> Sight { sight(numbered(&Reader::new(view))) },
};

/// Up to five digits and perhaps a letter, and then a word or another number.
fn may_be_house(digits: Digits) -> bool {
    let ends = match digits.after {
        [b' ', next] => next.is_ascii_alphanumeric() || next >= 0x80,
        [b',', next] => next == b' ',
        [after, next] => after.is_ascii_alphabetic() && matches!(next, b' ' | b','),
    };
    ends && digits.length <= 5 && !is_word_byte(digits.before[1]) && !b"$+(-./:#=".contains(&digits.before[1])
}

pub(super) const STREET: Detector = Detector {
    rule: "address-street",
    class: Class::PostalAddress,
    trigger: Trigger::Word(KINDS_FIRST),
    look: |view: View<'_>| -> Sight { sight(street_first(&Reader::new(view))) },
};

pub(super) const ENDING: Detector = Detector {
    rule: "address-street",
    class: Class::PostalAddress,
    // The last byte of `ß`, which ASCII text never has.
    trigger: Trigger::Byte(0x9f),
    look: |view: View<'_>| -> Sight { sight(street_in_a_word(&Reader::new(view))) },
};

pub(super) const BOX: Detector = Detector {
    rule: "post-box",
    class: Class::PostalAddress,
    trigger: Trigger::Word(BOXES),
    look: |view: View<'_>| -> Sight { sight(post_box(&Reader::new(view))) },
};

pub(super) const DOTTED_BOX: Detector = Detector {
    rule: "post-box",
    class: Class::PostalAddress,
    trigger: Trigger::Prefix(&["P.O.", "p.o."]),
    look: |view: View<'_>| -> Sight { sight(post_box(&Reader::new(view))) },
};

pub(super) const POSTCODE: Detector = Detector {
    rule: "postcode",
    class: Class::PostalAddress,
    trigger: Trigger::Word(&[
        "zip",
        "zipcode",
        "postal",
        "postcode",
        "plz",
        "postleitzahl",
        "eircode",
        "pincode",
    ]),
    look: |view: View<'_>| -> Sight { sight(postcode(&Reader::new(view))) },
};

/// Words that post boxes begin with.
const BOXES: &[&str] =
    &["box", "psc", "unit", "cmr", "postfach", "postbus", "postboks", "postbox", "apartado", "casella"];

/// Words before a number that make it one of a house.
const DWELLING: &[&str] = &[
    "address*",
    "adresse",
    "anschrift",
    "deliver*",
    "dirección",
    "domicil*",
    "home",
    "indirizzo",
    "live",
    "lived",
    "lives",
    "living",
    "located",
    "mail",
    "moved",
    "office*",
    "resid*",
    "return",
    "send",
    "ship*",
    "stop",
    "taxi",
    "wohn*",
];

/// How many words the name of a street has at most.
const NAME: usize = 5;

/// A number, then a street.
fn numbered(reader: &Reader<'_>) -> Looked<Option<Match>> {
    let start = reader.at();
    let before = reader.before(start);
    if before.is_some_and(|byte| is_word_byte(byte) || b"$+(-./:#=".contains(&byte))
        || Number::continues(reader, start, b", ")
    {
        return Ok(None);
    }
    let Some(mut position) = house_number(reader, start)? else { return Ok(None) };
    // A flat or a postcode may come before the number of the house.
    if let Some(second) = house_number(reader, position)? {
        position = second;
    }
    let end = match street(reader, position)? {
        Some(Street::Kind(end)) => end,
        Some(Street::Number(end)) if said_before(reader, start, 40, DWELLING) || has_unit(reader, end)? => {
            end
        }
        _ => return Ok(None),
    };
    Ok(Some((start..tail(reader, end)?, Class::PostalAddress, "address")))
}

fn has_unit(reader: &Reader<'_>, end: usize) -> Looked<bool> {
    let gap = reader.run(end, |byte| matches!(byte, b' ' | b',' | b'\n' | b'>'))?;
    Ok(gap > end && unit_at(reader, gap)?.is_some())
}

/// Where the word after a number of at most five digits and one letter starts.
fn house_number(reader: &Reader<'_>, start: usize) -> Looked<Option<usize>> {
    let mut end = reader.run(start, |byte| byte.is_ascii_digit())?;
    if end == start || end > start + 5 {
        return Ok(None);
    }
    if reader.byte(end)?.is_some_and(|byte| byte.is_ascii_alphabetic()) {
        end += 1;
    }
    if reader.byte(end)? == Some(b',') {
        end += 1;
    }
    Ok((reader.byte(end)? == Some(b' ')).then_some(end + 1))
}

/// What tells a street.
enum Street {
    /// Its kind is named.
    Kind(usize),
    /// Only a number behind its name.
    Number(usize),
}

/// The street whose name starts at `position`.
fn street(reader: &Reader<'_>, mut position: usize) -> Looked<Option<Street>> {
    let mut named = 0;
    let mut end = position;
    for _ in 0..NAME + 2 {
        let Some(word) = word_at(reader, position)? else {
            return Ok(match house_end(reader, position)? {
                Some(number) if named > 0 => Some(Street::Number(number)),
                _ => None,
            });
        };
        let text = reader.read(word.start..word.end);
        if named == 0 && is_one_of(text, KINDS_BEFORE) {
            return Ok(name_after(reader, word.end)?.map(Street::Kind));
        }
        if named > 0 && is_one_of(text, KINDS_AFTER) {
            let dot = usize::from(reader.byte(word.end)? == Some(b'.'));
            return Ok(Some(Street::Kind(word.end + dot)));
        }
        if word.capital && has_ending(text, ENDINGS) {
            return Ok(Some(Street::Kind(number_after(reader, word.end)?.unwrap_or(word.end))));
        }
        if named > 0 && unit_at(reader, word.start)?.is_some() {
            return Ok(Some(Street::Number(end)));
        }
        if !word.capital && (named == 0 || !is_particle(text)) || named == NAME {
            return Ok(None);
        }
        named += usize::from(word.capital);
        end = word.end + usize::from(text.len() <= 3 && reader.byte(word.end)? == Some(b'.'));
        if reader.byte(end)? != Some(b' ') {
            return Ok(None);
        }
        position = end + 1;
    }
    Ok(None)
}

/// Where the name of a street ends that began with its kind: `Rue de Virton 38`.
fn name_after(reader: &Reader<'_>, mut end: usize) -> Looked<Option<usize>> {
    let mut named = None;
    for _ in 0..NAME + 2 {
        let dot = usize::from(reader.byte(end)? == Some(b'.'));
        if reader.byte(end + dot)? != Some(b' ') {
            break;
        }
        let position = end + dot + 1;
        if let Some(number) = house_end(reader, position)? {
            return Ok(named.map(|_| number));
        }
        let Some(word) = word_at(reader, position)? else { break };
        let text = reader.read(word.start..word.end);
        if !(word.capital || is_particle(text)) || unit_at(reader, word.start)?.is_some() {
            break;
        }
        end = word.end;
        if word.capital || named.is_some() {
            named = word.capital.then_some(end).or(named);
        }
    }
    Ok(named)
}

/// Where the number at `position` ends, a letter behind it included.
fn house_end(reader: &Reader<'_>, position: usize) -> Looked<Option<usize>> {
    let digits = reader.run(position, |byte| byte.is_ascii_digit())?;
    if digits == position || digits > position + 5 {
        return Ok(None);
    }
    let letter = usize::from(reader.byte(digits)?.is_some_and(|byte| byte.is_ascii_alphabetic()));
    Ok(reader.ends(digits + letter)?.then_some(digits + letter))
}

/// Where the number behind the name of a street ends, if there is one.
fn number_after(reader: &Reader<'_>, end: usize) -> Looked<Option<usize>> {
    let comma = usize::from(reader.byte(end)? == Some(b','));
    if reader.byte(end + comma)? != Some(b' ') {
        return Ok(None);
    }
    house_end(reader, end + comma + 1)
}

/// The kind of a street, its name and a number: `Via Roma 12`.
fn street_first(reader: &Reader<'_>) -> Looked<Option<Match>> {
    let start = reader.at();
    let Some(kind) = word_at(reader, start)? else { return Ok(None) };
    let text = reader.read(kind.start..kind.end);
    // `via` and `place` in lower case are everyday words.
    if !is_one_of(text, KINDS_BEFORE)
        || !(kind.capital || is_one_of(text, &["rue", "rua", "calle", "avenida", "ulica", "ul"]))
    {
        return Ok(None);
    }
    let Some(end) = name_after(reader, kind.end)? else { return Ok(None) };
    let numbered = reader.read(start..end).last().is_some_and(u8::is_ascii_digit);
    let end = match number_after(reader, end)? {
        Some(number) => number,
        None if numbered => end,
        None => return Ok(None),
    };
    Ok(Some((start..tail(reader, end)?, Class::PostalAddress, "address-street")))
}

/// A street whose kind ends its name, and a number: `Hauptstraße 5`.
fn street_in_a_word(reader: &Reader<'_>) -> Looked<Option<Match>> {
    let at = reader.at();
    let before = reader.behind(at, 40);
    if !before.ends_with(b"stra\xc3") {
        return Ok(None);
    }
    let name = before.iter().rev().take_while(|byte| is_word_byte(**byte) || **byte == b'-').count();
    let start = at - name;
    let capital = reader.letter(start)?.is_some_and(|(first, _)| first.is_uppercase());
    if !capital {
        return Ok(None);
    }
    let end = reader.word(at + 1)?;
    let Some(end) = number_after(reader, end)? else { return Ok(None) };
    Ok(Some((start..tail(reader, end)?, Class::PostalAddress, "address-street")))
}

/// A post box, and those of armies.
fn post_box(reader: &Reader<'_>) -> Looked<Option<Match>> {
    let start = reader.at();
    let Some(end) = box_end(reader, start)? else { return Ok(None) };
    Ok(Some((start..tail(reader, end)?, Class::PostalAddress, "post-box")))
}

fn box_end(reader: &Reader<'_>, start: usize) -> Looked<Option<usize>> {
    for outer in ["psc", "unit", "cmr"] {
        if let Some(position) = reader.literal(start, outer)? {
            let Some(end) = number_after(reader, position)? else { return Ok(None) };
            let gap = reader.run(end, |byte| byte == b' ' || byte == b',')?;
            let Some(inner) = reader.literal(gap, "box")? else { return Ok(None) };
            return number_after(reader, inner);
        }
    }
    let mut position = reader.run(start, |byte| byte.is_ascii_alphabetic() || byte == b'.')?;
    let first = reader.read(start..position);
    if !is_one_of(first, BOXES) && !is_one_of(first, &["p.o."]) {
        return Ok(None);
    }
    // `PO Box 77` is found at its second word: the first two letters are those of too many others.
    if first.eq_ignore_ascii_case(b"box") {
        let named = reader.behind(start, 4).to_ascii_lowercase();
        return if named.ends_with(b"po ") { number_after(reader, position) } else { Ok(None) };
    }
    for word in [" o.", " box", " postal", " postale"] {
        position = reader.literal(position, word)?.unwrap_or(position);
    }
    let words = reader.read(start..position).to_ascii_lowercase();
    let is_box =
        words.ends_with(b" box") || (words.starts_with(b"p") && words.ends_with(b"b")) || words.len() > 6;
    if !is_box {
        return Ok(None);
    }
    let sign = if reader.literal(position, " #")?.is_some() { 1 } else { 0 };
    match sign {
        0 => number_after(reader, position),
        _ => house_end(reader, position + 2),
    }
}

/// A postcode behind its label.
fn postcode(reader: &Reader<'_>) -> Looked<Option<Match>> {
    let end = reader.run(reader.at(), |byte| byte.is_ascii_alphabetic())?;
    if !word_ends(reader, end)? {
        return Ok(None);
    }
    let Some(value) = value_after(reader, end)? else { return Ok(None) };
    let digits = value.characters().iter().filter(|byte| byte.is_ascii_digit()).count();
    // `zip:amd64` is a package.
    let written = reader.read(value.range.clone());
    let plain = written
        .iter()
        .all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase() || matches!(byte, b' ' | b'-'));
    let fits = plain && digits >= 2 && (3..=10).contains(&value.characters().len());
    Ok(fits.then_some((value.range, Class::PostalAddress, "postcode")))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, nothing};

    #[test]
    fn addresses_are_found_with_their_towns() {
        found(
            "at 1600 Pennsylvania Avenue NW, Washington, DC 20500, USA.",
            "1600 Pennsylvania Avenue NW, Washington, DC 20500, USA",
        );
        found("We moved to 1668 Glyn St last year", "1668 Glyn St");
        found("in 26 rue des Lilas, 75020 Paris today", "26 rue des Lilas, 75020 Paris");
        found("at 221B Baker Street, London NW1 6XE.", "221B Baker Street, London NW1 6XE");
        found("wohnt Via Franscini 71 jetzt", "Via Franscini 71");
        found("She lives at 172 Maneeži 75, Saareküla.", "172 Maneeži 75, Saareküla");
        found("it was 475 Breivangvegen 38 Suite 490\nOslo", "475 Breivangvegen 38 Suite 490\nOslo");
        found("to PSC 0413, Box 8144\nAPO AA 42323 now", "PSC 0413, Box 8144\nAPO AA 42323");
        found("Write to P.O. Box 1234, Springfield.", "P.O. Box 1234, Springfield");
        found("Write to PO Box 77.", "Box 77");
        found("Er wohnt Hauptstraße 5a, 10115 Berlin.", "Hauptstraße 5a, 10115 Berlin");
        found("my zip code is 35350.", "35350");
        found("ZIP: 7412 SL", "7412 SL");
    }

    #[test]
    fn numbers_before_other_words_are_left_alone() {
        nothing("In 2021 Apple sold 3 Million Phones in 5 Countries of Europe");
        nothing("There are 12 apples, 3 Musketeers and 40 Thieves. Unit 7 Box");
        nothing("via Email 2 people asked; zip 3 files; zip:amd64 3.0; via ferrata");
        nothing("Step 4 Open The Door and go on; 7 Days Free Trial");
    }
}
