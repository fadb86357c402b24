//! What the user asked to have done: the verbs of the user's words, and whether they ask for a tool.

use std::collections::HashSet;

use crate::thesaurus::{PHRASES, asked_by, is_write};
use crate::words::{Word, is_one_of, name_words, tokens, verb_forms};

/// Words that a verb stands behind when somebody asks for something.
const BEFORE: &str = "afterwards also and by can could first finally help i just lets ll me must next now or please should simply so
    then to us we will would you d s";
/// Words behind which nothing is asked for.
const NOT: &str = "not never without don dont no t";

/// The verbs that `text` asks with. A verb counts where a request has it: at the start of a clause, or behind `please`,
/// `and`, `to` and their like. `the update`, `their share` and `was sent` ask for nothing.
pub(crate) fn verbs(text: &[Word]) -> HashSet<String> {
    let mut found = HashSet::new();
    for (at, word) in text.iter().enumerate() {
        if !asks(text, at) {
            continue;
        }
        found.extend(verb_forms(&word.text));
        let near = text.iter().skip(at + 1).take(4);
        for (first, second, meaning) in PHRASES {
            if word.text == *first && near.clone().any(|other| other.text == *second) {
                found.insert((*meaning).to_owned());
            }
        }
    }
    found
}

fn asks(text: &[Word], at: usize) -> bool {
    // Adverbs stand between: "and then quickly delete".
    let before = text[..at].iter().rev().find(|word| !(word.text.ends_with("ly") && word.text.len() > 3));
    match before {
        None => true,
        Some(_) if text[at].opens => true,
        Some(before) if is_one_of(&before.text, NOT) => false,
        Some(before) => is_one_of(&before.text, BEFORE),
    }
}

/// Whether `asked` asks for a tool of this name and description. A tool without a verb that we know is asked for by the
/// words of its own name.
pub(crate) fn is_asked(asked: &HashSet<String>, name: &str, description: &str) -> bool {
    let is_said = |mut asks: std::vec::IntoIter<&str>| asks.any(|ask| asked.contains(ask));
    if let Some((verb, things)) = verb_of(name) {
        return is_said(asked_by(&verb, &things));
    }
    let first = tokens(description).into_iter().next().unwrap_or_default();
    name_words(name).iter().any(|word| asked.contains(word))
        || verb_forms(&first).iter().any(|verb| is_said(asked_by(verb, &[])))
}

/// The verb of a tool's name and the things behind it.
pub(crate) fn verb_of(name: &str) -> Option<(String, Vec<String>)> {
    let parts = name_words(name);
    let at = parts.iter().position(|part| is_write(part))?;
    Some((parts[at].clone(), [&parts[..at], &parts[at + 1..]].concat()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::words;

    #[track_caller]
    fn check(text: &str, tool: &str, expected: bool) {
        assert_eq!(is_asked(&verbs(&words(text)), tool, ""), expected, "{text} / {tool}");
    }

    #[test]
    fn a_tool_is_asked_for_by_its_verb_or_another_of_its_meaning() {
        check("Can you please pay the plumber?", "send_money", true);
        check("Let Ann know that we are late.", "send_message", true);
        check("Find the old report and quickly get rid of it.", "delete_file", true);
        check("Make a note, then invite Bob.", "add_member", true);
        check("Please push back the review to Monday.", "reschedule_event", true);
    }

    #[test]
    fn what_was_done_and_what_things_are_called_asks_for_nothing() {
        check("They just sent me their share of the bill.", "share_file", false);
        check("Which files were deleted by the last update?", "delete_file", false);
        check("Who is invited to the party?", "invite_user", false);
        check("What does the email from Ann say?", "send_email", false);
    }

    #[test]
    fn what_is_forbidden_is_not_asked_for() {
        check("Summarise it but do not send anything.", "send_email", false);
        check("Do not forget to invite Mark.", "invite_user", true);
    }
}
