//! A number as people write it: groups of digits with something between them.

use super::reader::{Looked, Reader};

/// How many groups are read at most; what is longer is no number of a person.
const GROUPS: usize = 9;
/// How many digits a group has at most.
const DIGITS: usize = 19;

/// What stands between two groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    /// It is the first.
    None,
    /// One space, breaking or not.
    Space,
    /// A hyphen or a dash of its length.
    Hyphen,
    /// A full stop.
    Dot,
    /// A slash.
    Slash,
    /// A bracket that opens before this group.
    Open,
    /// A bracket that closed after the group before.
    Close,
}

/// A group of digits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group {
    /// Where its first digit stands.
    pub start: usize,
    /// Where its last digit ends.
    pub end: usize,
    /// What stands before it.
    pub joint: Joint,
}

impl Group {
    /// How many digits it has.
    pub(super) fn len(&self) -> usize {
        self.end - self.start
    }
}

/// Groups of digits, and what stands directly before them.
#[derive(Debug)]
pub(super) struct Number {
    groups: [Group; GROUPS],
    count: usize,
    /// Where it starts, sign and bracket included.
    pub start: usize,
    /// There is a `+` before it.
    pub plus: bool,
    /// There is a `(` before its first digit.
    pub bracket: bool,
}

/// Where the first digit at the trigger stands: a scanner may point at the sign or bracket before it.
pub(super) fn first_digit(reader: &Reader<'_>) -> Looked<Option<usize>> {
    let mut position = reader.at();
    while let Some(byte) = reader.byte(position)? {
        match byte {
            b'0'..=b'9' => return Ok(Some(position)),
            b'+' | b'(' if position < reader.at() + 2 => position += 1,
            _ => break,
        }
    }
    Ok(None)
}

impl Number {
    /// Reads the groups that start with the digit at `first`. None when a group or the whole has too many digits.
    pub(super) fn read(reader: &Reader<'_>, first: usize) -> Looked<Option<Self>> {
        let mut start = first;
        let mut plus = false;
        let mut bracket = false;
        while start + 2 > first {
            match reader.before(start) {
                Some(b'+') if !plus => plus = true,
                Some(b'(') if !bracket => bracket = true,
                _ => break,
            }
            start -= 1;
        }
        let none = Group { start: first, end: first, joint: Joint::None };
        let mut number = Self { groups: [none; GROUPS], count: 0, start, plus, bracket };
        let mut next = Some((first, Joint::None));
        let mut open = bracket;
        while let Some((start, joint)) = next {
            if number.count == GROUPS {
                return Ok(None);
            }
            let end = reader.run(start, |byte| byte.is_ascii_digit())?;
            if end - start > DIGITS {
                return Ok(None);
            }
            number.groups[number.count] = Group { start, end, joint };
            number.count += 1;
            open |= joint == Joint::Open;
            next = joint_at(reader, end, open)?;
            open &= next.is_none_or(|(_, joint)| joint != Joint::Close);
        }
        Ok(Some(number))
    }

    /// The groups.
    pub(super) fn groups(&self) -> &[Group] {
        &self.groups[..self.count]
    }

    /// The values of the digits of the first `count` groups; none if there are more than 19.
    pub(super) fn digits<'b>(
        &self,
        reader: &Reader<'_>,
        count: usize,
        into: &'b mut [u8; DIGITS],
    ) -> Option<&'b [u8]> {
        let mut length = 0;
        for group in &self.groups()[..count] {
            for byte in reader.read(group.start..group.end) {
                *into.get_mut(length)? = byte - b'0';
                length += 1;
            }
        }
        Some(&into[..length])
    }

    /// Whether a number goes on here that began before: `1.2` when asked about the 2.
    pub(super) fn continues(reader: &Reader<'_>, start: usize, joints: &[u8]) -> bool {
        reader.before(start).is_some_and(|joint| joints.contains(&joint))
            && reader.before(start - 1).is_some_and(|byte| byte.is_ascii_digit())
    }
}

/// Whether another group can follow behind this byte.
pub(super) fn may_join(byte: u8) -> bool {
    matches!(byte, b' ' | b'-' | b'.' | b'/' | b'(' | b')' | 0xc2 | 0xe2)
}

/// What joins the group that ends at `end` to the next, and where that starts.
fn joint_at(reader: &Reader<'_>, end: usize, open: bool) -> Looked<Option<(usize, Joint)>> {
    let (mut next, mut joint) = match reader.byte(end)? {
        Some(b' ') => (end + 1, Joint::Space),
        Some(b'-') => (end + 1, Joint::Hyphen),
        Some(b'.') => (end + 1, Joint::Dot),
        Some(b'/') => (end + 1, Joint::Slash),
        Some(b'(') => (end, Joint::Space),
        Some(b')') if open => (end + 1, Joint::Close),
        // Spaces and hyphens at which no line breaks, and the short dash.
        Some(0xc2 | 0xe2) => match reader.letter(end)? {
            Some(('\u{a0}' | '\u{202f}' | '\u{2009}', length)) => (end + length, Joint::Space),
            Some(('\u{2010}' | '\u{2011}' | '\u{2013}', length)) => (end + length, Joint::Hyphen),
            _ => return Ok(None),
        },
        _ => return Ok(None),
    };
    if joint == Joint::Close && matches!(reader.byte(next)?, Some(b' ' | b'-' | b'.')) {
        next += 1;
    }
    if joint == Joint::Space && reader.byte(next)? == Some(b'(') {
        (next, joint) = (next + 1, Joint::Open);
    }
    Ok(reader.byte(next)?.is_some_and(|byte| byte.is_ascii_digit()).then_some((next, joint)))
}
