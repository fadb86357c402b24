//! Values that need not look like chance, because they are called a password.

use crate::detector::{Class, LOOK_AHEAD, Sight, View};
use crate::secret::address::is_stand_in;
use crate::secret::context::is_vague;
use crate::secret::header;
use crate::secret::shape::{Shape, is_digest, is_identifier};
use crate::words::Edges;

/// What calls for a look, and what has to stand around it: `password = "…"`, and what else means the same.
pub(crate) const WORDS: &[(&str, Edges)] = &[
    ("password", Edges::Anywhere),
    ("passwd", Edges::Anywhere),
    ("passphrase", Edges::Anywhere),
    ("passcode", Edges::Word),
    ("pass", Edges::Word),
    ("pwd", Edges::Word),
    ("pw", Edges::Word),
    ("secret", Edges::Word),
    ("token", Edges::Word),
    ("apikey", Edges::Word),
    ("key", Edges::Word),
    ("credential", Edges::Word),
    ("credentials", Edges::Word),
    ("creds", Edges::Word),
    ("auth", Edges::Word),
];

/// How much of a name can follow the word, and how much can stand before the value.
const NAME: usize = 24;
const BETWEEN: usize = 12;
/// How much space may stand there in all.
const SPACE: usize = 64;

/// The longest password.
const LONGEST: usize = 200;

#[derive(Clone, Copy, PartialEq)]
enum Tie {
    Assigned,
    Told,
    Listed,
}

/// What is tied to the word at the view's place.
pub(crate) fn look(view: View<'_>) -> Sight {
    let text = view.text;
    let word = view.at
        + text[view.at..].iter().take_while(|byte| byte.is_ascii_alphabetic() || **byte == b'_').count();
    let mut at = word
        + text[word..]
            .iter()
            .take(NAME)
            .take_while(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(byte))
            .count();
    let name = at;
    let certain = certain(&text[view.at..name]);
    let Some(tie) = tie(view, &mut at) else { return Sight::Wait };
    // `<add key="Password" value="…" />`
    if text.get(at..at + 6).is_some_and(|there| there.eq_ignore_ascii_case(b"value=")) {
        at += 6 + text[at + 6..].iter().take(8).take_while(|byte| **byte == b'\\').count();
        return match text.get(at) {
            Some(b'"') => quoted(view, at + 1, b'"', |value| value.len() >= 4 && !is_stand_in(value)),
            None if !view.ended => Sight::Wait,
            _ => Sight::Nothing,
        };
    }
    let quote = at.checked_sub(1).filter(|before| *before >= word).map(|before| text[before]);
    // A name and a quoted value behind it need no more than that.
    let beside = matches!(quote, Some(b'"' | b'\'' | b'`')).then_some(Tie::Listed);
    let Some(tie) = tie.or(beside) else { return Sight::Nothing };
    match text.get(at.wrapping_sub(1)) {
        Some(quote @ (b'"' | b'\'' | b'`')) if at > word => {
            let is_secret: fn(&[u8]) -> bool = match certain {
                true if tie == Tie::Listed => is_listed_password,
                true => is_quoted_password,
                false if is_key(text, view.at) => is_quoted_key,
                false if is_vague(&text[view.at..name]) => is_vague_token,
                false => is_quoted_token,
            };
            quoted(view, at, *quote, is_secret)
        }
        _ if certain && tie != Tie::Listed => bare(view, at, tie),
        _ if tie == Tie::Assigned && is_key(text, view.at) => bare_key(view, at),
        _ if tie == Tie::Listed => Sight::Nothing,
        _ => match is_colourful_word(view, at) {
            None => Sight::Wait,
            Some(true) => bare(view, at, tie),
            Some(false) if tie == Tie::Assigned && is_header(&text[..view.at]) => {
                header::value(view, at, "header", |shape| {
                    shape.length >= 8 && shape.digits > 0 && shape.letters() > 0 && shape.distinct >= 5
                })
            }
            Some(false) => Sight::Nothing,
        },
    }
}

/// Whether a header is named here on a command line.
fn is_header(before: &[u8]) -> bool {
    let near = &before[before.len().saturating_sub(48)..];
    [&b"-H"[..], b"--header"].iter().any(|option| memchr::memmem::find(near, option).is_some())
}

/// Whether a name says password, and nothing less.
fn certain(name: &[u8]) -> bool {
    [&b"pass"[..], b"pwd", b"pw", b"secret"]
        .iter()
        .any(|word| name.len() >= word.len() && name[..word.len()].eq_ignore_ascii_case(word))
}

/// Whether the name of which a part stands at `at` means a key that opens something, and not one of a table.
fn is_key(text: &[u8], at: usize) -> bool {
    const KINDS: [&[u8]; 9] =
        [b"api", b"secret", b"access", b"auth", b"refresh", b"private", b"bearer", b"session", b"signing"];
    let before = text[..at].strip_suffix(b"_").or(text[..at].strip_suffix(b"-")).unwrap_or(&text[..at]);
    let ends = |kind: &&[u8]| {
        before.len() >= kind.len() && before[before.len() - kind.len()..].eq_ignore_ascii_case(kind)
    };
    KINDS.iter().any(ends) || text[at..].get(..6).is_some_and(|name| name.eq_ignore_ascii_case(b"apikey"))
}

/// Reads up to the value. The outer nothing: more must be seen. The inner one: no value is tied to the name.
fn tie(view: View<'_>, at: &mut usize) -> Option<Option<Tie>> {
    let from = *at;
    let mut spaces = 0;
    let mut tie = None;
    loop {
        let Some(&byte) = view.text.get(*at) else { return if view.ended { Some(None) } else { None } };
        match byte {
            b'=' | b':' => tie = Some(Tie::Assigned),
            b'>' if tie.is_some() => {}
            b',' | b'?' | b'|' if tie.is_none() => tie = Some(Tie::Listed),
            b'\\' => {
                spaces += 1;
                // An escaped line end or tabulator is space; an escaped quote is a quote.
                match view.text.get(*at + 1) {
                    None if !view.ended => return None,
                    Some(b'n' | b'r' | b't') => *at += 1,
                    _ => {}
                }
            }
            b' ' | b'\t' | b'\n' | b'\r' => spaces += 1,
            b'"' | b'\'' | b'`' | b'(' => {}
            b'i' | b'w' if tie.is_none() => match view.text.get(*at..*at + 3) {
                Some(b"is ") => {
                    tie = Some(Tie::Told);
                    *at += 2;
                }
                Some(b"was") => {
                    tie = Some(Tie::Told);
                    *at += 2;
                }
                None if !view.ended => return None,
                _ => return Some(None),
            },
            b'v' | b'V' if view.text[*at..].len() < 7 && !view.ended => return None,
            _ => return Some(tie),
        }
        *at += 1;
        if *at - from - spaces > BETWEEN || spaces > SPACE {
            return Some(None);
        }
    }
}

fn quoted(view: View<'_>, at: usize, quote: u8, is_secret: fn(&[u8]) -> bool) -> Sight {
    let within = &view.text[at..view.text.len().min(at + LONGEST)];
    // Where the quotes are escaped, a backslash belongs to the one that closes.
    let escaped = at >= 2 && view.text[at - 2] == b'\\';
    let ends = |byte: &u8| *byte == quote || *byte == b'\n' || (escaped && *byte == b'\\');
    let Some(length) = within.iter().position(ends) else {
        return if within.len() == LONGEST || view.ended { Sight::Nothing } else { Sight::Wait };
    };
    if is_secret(&within[..length]) {
        return Sight::Found { range: at..at + length, class: Class::Secret, rule: "password" };
    }
    Sight::Nothing
}

/// A value without quotes that is called a key.
fn bare_key(view: View<'_>, at: usize) -> Sight {
    let holds = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-+/=.~".contains(byte);
    let end = at + view.text[at..].iter().take(LONGEST).take_while(holds).count();
    match view.text.get(end) {
        None if !view.ended => return Sight::Wait,
        // A call, a place in a list, a type.
        Some(b'(' | b'[' | b'<' | b':' | b'!' | b'?' | b'{') => return Sight::Nothing,
        _ => {}
    }
    let value = &view.text[at..end];
    let end = end - value.iter().rev().take_while(|byte| **byte == b'.').count();
    if is_quoted_key(&view.text[at..end]) {
        return Sight::Found { range: at..end, class: Class::Secret, rule: "password" };
    }
    Sight::Nothing
}

fn bare(view: View<'_>, at: usize, tie: Tie) -> Sight {
    let ends = |byte: &u8| {
        byte.is_ascii_whitespace()
            || matches!(byte, b'"' | b'\'' | b'`' | b',' | b';' | b'&' | b'\\' | b'<' | b')' | b'}' | b']')
    };
    let mut end = at + view.text[at..].iter().take(LONGEST).take_while(|byte| !ends(byte)).count();
    if end == view.text.len() && !view.ended && end - view.at < LOOK_AHEAD {
        return Sight::Wait;
    }
    while end > at && matches!(view.text[end - 1], b'.' | b'!' | b'?' | b':') && tie == Tie::Told {
        end -= 1;
    }
    let value = &view.text[at..end];
    let shape = Shape::of(value);
    let symbols = value.iter().filter(|byte| b"!@#$%^&*+?~".contains(byte)).count();
    let strange = (shape.digits > 0 && shape.letters() > 0 && !value.contains(&b'/')
        || symbols > 0 && shape.letters() > 2
        || shape.chance > 6.0)
        && !value.contains(&b'(')
        && !value.contains(&b'.')
        && !value.contains(&b'[');
    let is_made = strange && !is_identifier(value, -0.05);
    if (6..LONGEST).contains(&value.len())
        && (is_made || is_chosen(value))
        && !is_stand_in(value)
        && shape.distinct >= 4
    {
        return Sight::Found { range: at..end, class: Class::Secret, rule: "password" };
    }
    Sight::Nothing
}

/// In quotes, what is called a password is one unless it reads like a text or stands for another value.
fn is_quoted_password(value: &[u8]) -> bool {
    let shape = Shape::of(value);
    is_possible(value, 6)
        && shape.distinct >= 4
        && (shape.digits > 0 && shape.letters() > 0
            || is_chosen(value)
            || shape.chance > 4.0
            || value.iter().any(|byte| b"!@#^&*~?".contains(byte)))
        && (shape.chance > 4.0 || is_colourful(value) || !value.iter().any(|byte| b"{/(".contains(byte)))
}

/// In a list, words that are joined can be anything.
fn is_listed_password(value: &[u8]) -> bool {
    is_quoted_password(value) && !is_chosen(value)
}

/// What people choose who have to remember it.
fn is_chosen(value: &[u8]) -> bool {
    is_phrase(value) || is_numbered_word(value)
}

/// Words joined as people join them who are told to make passwords of words. Names in programs are not joined like this.
fn is_phrase(value: &[u8]) -> bool {
    let mut words = 0;
    value.split(|byte| *byte == b'-').all(|word| {
        words += 1;
        word.len() >= 3 && word.iter().all(u8::is_ascii_alphabetic)
    }) && words >= 3
}

/// What is called a key that opens something has letters and digits, or looks like chance.
fn is_quoted_key(value: &[u8]) -> bool {
    let shape = Shape::of(value);
    is_quoted_token(value)
        || is_possible(value, 10) && shape.digits >= 2 && shape.letters() >= 2 && is_plain(value)
}

/// What is only called a key has to look a little like chance.
fn is_quoted_token(value: &[u8]) -> bool {
    let shape = Shape::of(value);
    is_possible(value, 10)
        && shape.digits > 0
        && shape.letters() > 0
        && (is_plain(value) && shape.chance > 0.12 * shape.length as f32 + 1.0
            || shape.chance > 0.0 && is_colourful(value))
}

/// Of what tokens are made, and nothing else.
fn is_plain(value: &[u8]) -> bool {
    value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-+/=.~".contains(byte))
}

/// A word and a number, as many choose for a password.
fn is_numbered_word(value: &[u8]) -> bool {
    let digits = value.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let word = &value[..value.len() - digits];
    digits > 0 && word.len() >= 4 && word.iter().all(u8::is_ascii_alphabetic) && !is_hump(word)
}

/// Whether a capital stands within a word, as in names of programs.
fn is_hump(word: &[u8]) -> bool {
    word.windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
}

/// What is only called `key` can also be a digest.
fn is_vague_token(value: &[u8]) -> bool {
    is_quoted_token(value) && !is_digest(&Shape::of(value))
}

/// Not a sentence, not a name in a program, not what documentation writes in place of a value.
fn is_possible(value: &[u8], least: usize) -> bool {
    (least..LONGEST).contains(&value.len())
        && !value.iter().any(u8::is_ascii_whitespace)
        && !is_stand_in(value)
        && (!is_identifier(value, -0.05) || is_chosen(value))
}

/// Whether the word at a place is such a value. Nothing: more must be seen.
fn is_colourful_word(view: View<'_>, at: usize) -> Option<bool> {
    let length = view.text[at..].iter().take(LONGEST).take_while(|byte| !byte.is_ascii_whitespace()).count();
    if length < LONGEST && at + length == view.text.len() && !view.ended {
        return None;
    }
    let value = &view.text[at..at + length];
    let shape = Shape::of(value);
    Some(length >= 12 && shape.digits >= 2 && shape.lower > 0 && shape.upper > 0 && is_colourful(value))
}

/// Letters, digits and several signs, of which none begins a template, a call or an address.
fn is_colourful(value: &[u8]) -> bool {
    let signs = value
        .iter()
        .filter(|byte| byte.is_ascii_punctuation())
        .fold(0_u128, |seen, byte| seen | 1 << (byte & 0x7F));
    let code = [&b"${"[..], b"{{", b"://", b"()", b"=>", b"::", b"%s"];
    signs.count_ones() >= 3 && !code.iter().any(|part| memchr::memmem::find(value, part).is_some())
}
