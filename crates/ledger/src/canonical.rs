//! Canonical JSON: RFC 8785, narrowed so that a canonical text reads back as the same value in any language.
//!
//! The maintained crate for RFC 8785 is the reference here, but it costs several times what the hashing does, and
//! every recorded field passes through. So the common shapes (strings, whole numbers, keys in ASCII) are written
//! directly, the rest (fractions, other keys) goes to the crate, and a property test holds the two together.

use serde_json::Value;

/// The largest integer that every JSON reader keeps: 2⁵³ − 1.
pub const MAX_INTEGER: u64 = (1 << 53) - 1;
/// How deep arrays and objects may nest.
pub const MAX_DEPTH: usize = 100;

/// Why a value has no canonical form here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CanonicalError {
    /// An integer, or a double that would be written as one, that not every reader keeps.
    #[error("number {0} is beyond 2^53 - 1; carry it as a string")]
    Number(String),
    /// Nested too deep.
    #[error("nested deeper than {MAX_DEPTH} levels")]
    Depth,
}

/// Why bytes are not a canonical text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// Not one JSON text that any reader reads alike.
    #[error("not JSON: {0}")]
    NotJson(String),
    /// JSON, but not in its canonical bytes.
    #[error("not in canonical form: {0}")]
    NotCanonical(String),
}

/// The canonical bytes of `value`.
///
/// # Errors
/// A number beyond 2⁵³ − 1, or nesting beyond [`MAX_DEPTH`].
pub fn to_vec(value: &Value) -> Result<Vec<u8>, CanonicalError> {
    let mut out = Vec::with_capacity(256);
    write(value, &mut out)?;
    Ok(out)
}

/// Appends the canonical bytes of `value` to `out`. After an error `out` holds a part of them.
///
/// # Errors
/// As [`to_vec`].
pub fn write(value: &Value, out: &mut Vec<u8>) -> Result<(), CanonicalError> {
    write_nested(value, out, MAX_DEPTH)
}

/// Reads bytes that must be canonical: one spelling of the value and no other passes.
///
/// # Errors
/// [`ParseError::NotJson`] before [`ParseError::NotCanonical`].
pub fn parse(bytes: &[u8]) -> Result<Value, ParseError> {
    let value: Value =
        serde_json::from_slice(bytes).map_err(|error| ParseError::NotJson(error.to_string()))?;
    // Measured on the text, because a member written twice hides its first value from the tree.
    if depth(bytes) > MAX_DEPTH {
        return Err(ParseError::NotJson(CanonicalError::Depth.to_string()));
    }
    let canonical = to_vec(&value).map_err(|error| ParseError::NotCanonical(error.to_string()))?;
    match canonical.iter().zip(bytes).position(|(ours, theirs)| ours != theirs) {
        None if canonical.len() == bytes.len() => Ok(value),
        differs => {
            let at = differs.unwrap_or(canonical.len().min(bytes.len()));
            Err(ParseError::NotCanonical(format!("byte {at} differs from the canonical text")))
        }
    }
}

/// How deep the brackets of a JSON text nest.
fn depth(json: &[u8]) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0usize, 0, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

fn write_nested(value: &Value, out: &mut Vec<u8>, left: usize) -> Result<(), CanonicalError> {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => write_number(number, out)?,
        Value::String(text) => write_string(text, out),
        Value::Array(items) => {
            let left = left.checked_sub(1).ok_or(CanonicalError::Depth)?;
            out.push(b'[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                write_nested(item, out, left)?;
            }
            out.push(b']');
        }
        Value::Object(members) => {
            let left = left.checked_sub(1).ok_or(CanonicalError::Depth)?;
            write_object(members.iter(), out, left)?;
        }
    }
    Ok(())
}

/// Appends the canonical bytes of an object with these members, of which no two have one name. After an error `out` holds a
/// part of them.
///
/// # Errors
/// As [`to_vec`].
pub fn write_members<'m>(
    members: impl Iterator<Item = (&'m String, &'m Value)> + Clone,
    out: &mut Vec<u8>,
) -> Result<(), CanonicalError> {
    write_object(members, out, MAX_DEPTH - 1)
}

fn write_object<'m>(
    members: impl Iterator<Item = (&'m String, &'m Value)> + Clone,
    out: &mut Vec<u8>,
    left: usize,
) -> Result<(), CanonicalError> {
    out.push(b'{');
    let mut first = true;
    in_key_order(members, |name, member| {
        if !first {
            out.push(b',');
        }
        first = false;
        write_string(name, out);
        out.push(b':');
        write_nested(member, out, left)
    })?;
    out.push(b'}');
    Ok(())
}

/// Visits members in the order of RFC 8785: by UTF-16 code units.
fn in_key_order<'m, E>(
    mut members: impl Iterator<Item = (&'m String, &'m Value)> + Clone,
    mut visit: impl FnMut(&'m String, &'m Value) -> Result<(), E>,
) -> Result<(), E> {
    // Members often come in byte order, which is the same order unless a name leaves ASCII.
    if members.clone().all(|(name, _)| name.is_ascii()) && members.clone().map(|(name, _)| name).is_sorted() {
        return members.try_for_each(|(name, member)| visit(name, member));
    }
    let mut ordered: Vec<_> = members.collect();
    sort_names(&mut ordered, |(name, _)| name);
    ordered.into_iter().try_for_each(|(name, member)| visit(name, member))
}

/// Sorts `items` by a name of theirs, as RFC 8785 orders the names of an object.
pub(crate) fn sort_names<T>(items: &mut [T], name: impl Fn(&T) -> &str) {
    if items.iter().all(|item| name(item).is_ascii()) {
        items.sort_by(|one, other| name(one).cmp(name(other)));
    } else {
        items.sort_by(|one, other| name(one).encode_utf16().cmp(name(other).encode_utf16()));
    }
}

fn write_number(number: &serde_json::Number, out: &mut Vec<u8>) -> Result<(), CanonicalError> {
    let beyond = || CanonicalError::Number(number.to_string());
    if let Some(integer) = number.as_i64() {
        if integer.unsigned_abs() > MAX_INTEGER {
            return Err(beyond());
        }
        write_integer(integer, out);
        return Ok(());
    }
    // What is left is an unsigned integer past i64, or a double. A double from 2^53 up to 10^21 would be written
    // without an exponent, that is, as an integer that no longer reads back as this value.
    match number.as_f64() {
        Some(double) if number.is_f64() && !(9_007_199_254_740_992.0..1e21).contains(&double.abs()) => {
            serde_json_canonicalizer::to_writer(&double, out).map_err(|_| beyond())
        }
        _ => Err(beyond()),
    }
}

/// Appends an integer in decimal.
pub(crate) fn write_integer(integer: i64, out: &mut Vec<u8>) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    let mut rest = integer.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if integer < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}

/// What JSON does not allow inside a string as it is.
fn is_escaped(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// Appends a JSON string: RFC 8785 escapes exactly what must be escaped, in the shortest way.
pub(crate) fn write_string(text: &str, out: &mut Vec<u8>) {
    let mut rest = text.as_bytes();
    // And some more: whatever is written behind a long text must not make all of it move.
    out.reserve(rest.len() + rest.len() / 8 + 2);
    out.push(b'"');
    loop {
        let plain = unescaped_prefix(rest);
        out.extend_from_slice(&rest[..plain]);
        let Some(byte) = rest.get(plain) else { break };
        write_escaped(*byte, out);
        rest = &rest[plain + 1..];
    }
    out.push(b'"');
}

/// How many bytes from the beginning need no escape. Most text needs none at all, so thirty-two bytes are looked at together, which
/// the compiler turns into vector instructions; then eight in one word, because most texts are names.
fn unescaped_prefix(bytes: &[u8]) -> usize {
    let is_plain = |chunk: &&[u8; 32]| !chunk.iter().fold(false, |any, &byte| any | is_escaped(byte));
    let long = bytes.as_chunks().0.iter().take_while(is_plain).count() * 32;
    let (words, _) = bytes[long..].as_chunks();
    let short = long + words.iter().take_while(|word| !has_escaped(**word)).count() * 8;
    // The last eight again, some of which were looked at: one look instead of up to seven.
    if bytes.len() - short < 8
        && let Some(word) = bytes.last_chunk()
        && !has_escaped(*word)
    {
        return bytes.len();
    }
    let rest = &bytes[short..];
    short + rest.iter().position(|&byte| is_escaped(byte)).unwrap_or(rest.len())
}

/// Whether one of eight bytes is escaped: [`is_escaped`] of all of them in one word.
fn has_escaped(bytes: [u8; 8]) -> bool {
    const EACH: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = EACH << 7;
    let word = u64::from_le_bytes(bytes);
    // The high bit of the first byte that is less than `bound` is set; behind it others may be, too.
    let has_less = |word: u64, bound: u8| word.wrapping_sub(EACH * u64::from(bound)) & !word & HIGH;
    let has = |byte: u8| has_less(word ^ (EACH * u64::from(byte)), 1);
    has_less(word, 0x20) | has(b'"') | has(b'\\') != 0
}

fn write_escaped(byte: u8, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    match byte {
        b'"' => out.extend_from_slice(b"\\\""),
        b'\\' => out.extend_from_slice(b"\\\\"),
        0x08 => out.extend_from_slice(b"\\b"),
        b'\t' => out.extend_from_slice(b"\\t"),
        b'\n' => out.extend_from_slice(b"\\n"),
        0x0c => out.extend_from_slice(b"\\f"),
        b'\r' => out.extend_from_slice(b"\\r"),
        _ => {
            let (high, low) = (HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]);
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
        }
    }
}
