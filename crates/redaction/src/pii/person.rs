//! Names of people, where the words before them leave little doubt: a title, a salutation, an introduction, a closing.
//!
//! Most names in prose stand without any of these and are not found. Looks at most 140 bytes ahead.

use super::context::says;
use super::reader::{Looked, Match, Reader, sight};
use super::words::{is_one_of, is_particle, word_at};
use crate::detector::{Class, Detector, Sight, Trigger, View};

pub(super) const TITLED: Detector = Detector {
    rule: "person-titled",
    class: Class::Person,
    trigger: Trigger::Word(TITLES),
    look: |view: View<'_>| -> Sight { sight(titled(&Reader::new(view))) },
};

pub(super) const INTRODUCED: Detector = Detector {
    rule: "person-introduced",
    class: Class::Person,
    trigger: Trigger::Word(&["name", "regards", "sincerely", "dear"]),
    look: |view: View<'_>| -> Sight { sight(introduced(&Reader::new(view))) },
};

const TITLES: &[&str] = &[
    "mr",
    "mrs",
    "ms",
    "miss",
    "mx",
    "dr",
    "prof",
    "professor",
    "herr",
    "frau",
    "señor",
    "señora",
    "sra",
    "monsieur",
    "madame",
    "mme",
    "signor",
    "signora",
    "mevrouw",
    "meneer",
];

/// Whose name it is.
const WHOSE: &[&str] = &[
    "my",
    "his",
    "her",
    "their",
    "your",
    "full",
    "first",
    "last",
    "patient",
    "maiden",
    "middle",
    "family",
    "partner's",
    "customer",
    "client",
    "employee",
    "holder",
    "contact",
];

/// Words with a capital that stand where a name would, and are none.
const NOBODY: &[&str] = &[
    "all",
    "colleague",
    "colleagues",
    "customer",
    "customers",
    "everyone",
    "friend",
    "friends",
    "god",
    "hiring",
    "madam",
    "not",
    "president",
    "service",
    "sir",
    "sirs",
    "support",
    "team",
    "the",
    "user",
    "users",
    "valued",
    "your",
];

/// How many words a name has at most.
const WORDS: usize = 4;

/// A title, and the name behind it.
fn titled(reader: &Reader<'_>) -> Looked<Option<Match>> {
    let Some(title) = word_at(reader, reader.at())? else { return Ok(None) };
    // In lower case `ms` is a time and `dr` a variable.
    if !title.capital || !is_one_of(reader.read(title.start..title.end), TITLES) {
        return Ok(None);
    }
    let dot = usize::from(reader.byte(title.end)? == Some(b'.'));
    if reader.byte(title.end + dot)? != Some(b' ') {
        return Ok(None);
    }
    let name = name_at(reader, title.end + dot + 1)?;
    Ok(name.map(|name| (name.start..name.end, Class::Person, "person-titled")))
}

/// A name that somebody says or signs.
fn introduced(reader: &Reader<'_>) -> Looked<Option<Match>> {
    let at = reader.at();
    let Some(word) = word_at(reader, at)? else { return Ok(None) };
    let text = reader.read(word.start..word.end);
    let name = if text.eq_ignore_ascii_case(b"name") {
        stated(reader, word.end, text.starts_with(b"N"))?
    } else if text.eq_ignore_ascii_case(b"dear") {
        saluted(reader, word.end)?
    } else if is_one_of(text, &["regards", "sincerely"]) {
        signed(reader, word.end)?
    } else {
        None
    };
    Ok(name.map(|name| (name.start..name.end, Class::Person, "person-introduced")))
}

/// `my name is …`, and `Name: …` on a form. Settings in lower case have names, too, but seldom people's.
fn stated(reader: &Reader<'_>, end: usize, capital: bool) -> Looked<Option<Name>> {
    let whose = || says(reader.behind(reader.at(), 12), WHOSE);
    let said = reader.literal(end, " is ")?.is_some() && whose();
    let position = if said {
        end + 4
    } else if capital && reader.byte(end)? == Some(b':') {
        reader.run(end + 1, |byte| byte == b' ' || byte == b'\t')?
    } else {
        return Ok(None);
    };
    let name = name_at(reader, position)?;
    Ok(name.filter(|name| said || name.words > 1 || whose()))
}

/// `Dear …,`.
fn saluted(reader: &Reader<'_>, end: usize) -> Looked<Option<Name>> {
    if reader.byte(end)? != Some(b' ') {
        return Ok(None);
    }
    let Some(name) = name_at(reader, end + 1)? else { return Ok(None) };
    Ok(matches!(reader.byte(name.end)?, Some(b',' | b':' | b'!' | b'\n')).then_some(name))
}

/// The line under `Regards,`.
fn signed(reader: &Reader<'_>, end: usize) -> Looked<Option<Name>> {
    let comma = usize::from(reader.byte(end)? == Some(b','));
    let position = reader.run(end + comma, |byte| matches!(byte, b'\n' | b'\r' | b' '))?;
    let lines = reader.read(end..position).iter().filter(|byte| **byte == b'\n').count();
    if lines == 0 || lines > 2 {
        return Ok(None);
    }
    let Some(name) = name_at(reader, position)? else { return Ok(None) };
    Ok(matches!(reader.byte(name.end)?, None | Some(b'\n' | b'\r' | b',')).then_some(name))
}

struct Name {
    start: usize,
    end: usize,
    words: usize,
}

/// The name at `start`: words with capitals, initials, and what stands between them.
fn name_at(reader: &Reader<'_>, start: usize) -> Looked<Option<Name>> {
    let mut name = Name { start, end: start, words: 0 };
    let mut position = start;
    for _ in 0..WORDS + 2 {
        let Some(word) = word_at(reader, position)? else { break };
        let text = reader.read(word.start..word.end);
        if is_one_of(text, NOBODY) {
            return Ok(None);
        }
        if word.capital {
            let initial = text.len() == 1 && reader.byte(word.end)? == Some(b'.');
            let owned =
                ["'s", "’s"].iter().find(|mark| text.ends_with(mark.as_bytes())).map_or(0, |mark| mark.len());
            name.end = word.end + usize::from(initial) - owned;
            if owned > 0 {
                name.words += 1;
                break;
            }
            name.words += 1;
        } else if !is_particle(text) {
            break;
        }
        let next = name.end.max(word.end);
        if name.words == WORDS || reader.byte(next)? != Some(b' ') {
            break;
        }
        position = next + 1;
    }
    let letters = reader.read(start..name.end).len();
    Ok((name.words > 0 && letters > 1).then_some(name))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, nothing};

    #[test]
    fn names_behind_strong_words_are_found() {
        found("Hello, my name is Šárka Ottová and I", "Šárka Ottová");
        found("I met Mr. Jan van der Berg.", "Jan van der Berg");
        found("Dr. Faina D. Yefremova called", "Faina D. Yefremova");
        found("Dear Mary-Ann O'Neil,\nthanks", "Mary-Ann O'Neil");
        found("Name: Toshimi Arata\n", "Toshimi Arata");
        found("Best regards,\n\nMaureen Thibault", "Maureen Thibault");
    }

    #[test]
    fn other_capitals_are_left_alone() {
        nothing("Dear Customer, Dear Hiring Manager, Dear All,");
        nothing("The name is Important. name: Deploy To Production, 5 ms Later");
        nothing("Regards,\nThe Support Team");
        nothing("My name is not known, Name: x");
    }
}
