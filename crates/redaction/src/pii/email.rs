//! E-mail addresses. Looks at most 64 bytes behind the `@`, and as far after it as a domain can reach (255 bytes).

use super::reader::{Looked, Match, Reader, is_of_word, sight};
use crate::detector::{Class, Detector, Sight, Trigger, View};

/// The longest local part that mail allows.
const LOCAL: usize = 64;
/// The longest domain.
const DOMAIN: usize = 255;

pub(super) const EMAIL: Detector =
    Detector { rule: "email", class: Class::Email, trigger: Trigger::Byte(b'@'), look };

fn look(view: View<'_>) -> Sight {
    sight(find(&Reader::new(view)))
}

fn find(reader: &Reader<'_>) -> Looked<Option<Match>> {
    let at = reader.at();
    let Some(start) = local_part(reader.behind(at, LOCAL), at) else { return Ok(None) };
    Ok(domain(reader, at + 1)?.map(|end| (start..end, Class::Email, "email")))
}

/// Where the local part begins that ends at the `@`. Letters of any alphabet may stand in it.
fn local_part(behind: &[u8], at: usize) -> Option<usize> {
    // The window may begin within a character.
    let half = behind.iter().take_while(|byte| **byte & 0xc0 == 0x80).count();
    let behind = behind.get(half..)?;
    let text = match std::str::from_utf8(behind) {
        Ok(text) => text,
        Err(_) => std::str::from_utf8(behind.rsplit(|byte| !byte.is_ascii()).next()?).ok()?,
    };
    let local = &text[text
        .rfind(|letter| !is_local(letter))
        .map_or(0, |other| other + text[other..].chars().next().map_or(0, char::len_utf8))..];
    // What a sentence or a list puts before it is not part of it.
    let local = local.trim_start_matches(|letter: char| !letter.is_alphanumeric());
    (!local.is_empty() && !local.ends_with('.')).then(|| at - local.len())
}

fn is_local(letter: char) -> bool {
    is_of_word(letter) || "._%+-'".contains(letter)
}

/// Where the domain ends that starts at `start`: labels with dots between them, the last one of letters.
fn domain(reader: &Reader<'_>, start: usize) -> Looked<Option<usize>> {
    let mut label = start;
    let mut accepted = None;
    loop {
        let mut end = reader.word(label)?;
        while end > label && reader.byte(end)? == Some(b'-') {
            let next = reader.word(end + 1)?;
            if next == end + 1 && reader.byte(next)? != Some(b'-') {
                break;
            }
            end = next;
        }
        let name = reader.read(label..end);
        if name.is_empty() || name.len() > 63 || end - start > DOMAIN {
            return Ok(accepted);
        }
        if label > start && is_top_level(name) {
            accepted = Some(end);
        }
        if reader.byte(end)? != Some(b'.') {
            return Ok(accepted);
        }
        label = end + 1;
    }
}

fn is_top_level(name: &[u8]) -> bool {
    let punycode = name.len() > 4 && name[..4].eq_ignore_ascii_case(b"xn--");
    let letters = name.iter().all(|byte| byte.is_ascii_alphabetic() || *byte >= 0x80);
    punycode || (letters && (2..=24).contains(&name.len()))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, nothing};

    #[test]
    fn addresses_are_found_without_what_surrounds_them() {
        found("Write to <jane.doe+news@mail.example.co.uk>, please.", "jane.doe+news@mail.example.co.uk");
        found("(bob@example.com).", "bob@example.com");
        found("mailto:bob_1@example.com?subject=x", "bob_1@example.com");
        found("Zoë: zoë.müller@bücher.example!", "zoë.müller@bücher.example");
        found("Mail bob@example.com. Then wait.", "bob@example.com");
        found("email='bob@example.museum'", "bob@example.museum");
        found("почта: иван@пример.рф", "иван@пример.рф");
    }

    #[test]
    fn what_only_has_an_at_is_left_alone() {
        nothing("import x from '@angular/core'; npm i react@18.2.0");
        nothing("@media (max-width: 3px) and user@localhost and a @b.c");
        nothing("git@ and foo.@example.com");
        nothing("pkg@1.2.3 @user.name");
    }
}
