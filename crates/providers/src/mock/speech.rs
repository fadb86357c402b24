//! Words: what is said when nothing else is asked for.

use super::arithmetic;
use super::classify;
use super::facts::{Kind, facts};
use super::prompt::{Prompt, mentions};
use super::text::sentences;

/// The answer in words.
pub(super) fn say(prompt: &Prompt<'_>) -> String {
    if !prompt.results.is_empty() {
        return quote(prompt);
    }
    if prompt.asked.trim().is_empty() && prompt.pictures.is_empty() {
        return "Nobody has asked anything yet.".to_owned();
    }
    if let Some(label) = classify::choose(prompt) {
        return label.to_owned();
    }
    if let Some(found) = extract(prompt) {
        return found;
    }
    if let Some((sum, result)) = arithmetic::solve(&prompt.asked) {
        return format!("{sum} = {result}");
    }
    if let Some(summary) = summary(prompt) {
        return summary;
    }
    let seen = match prompt.pictures.as_slice() {
        [] => String::new(),
        pictures => format!("I see {}. ", pictures.join(" and ")),
    };
    if prompt.asked.trim().is_empty() {
        return seen.trim_end().to_owned();
    }
    format!("{seen}You said: {}", prompt.asked)
}

/// What tools gave, in their own words.
fn quote(prompt: &Prompt<'_>) -> String {
    let told: Vec<String> = prompt
        .results
        .iter()
        .map(|(tool, text, failed)| {
            let tool = tool.unwrap_or("the tool");
            if *failed { format!("{tool} failed: {text}") } else { format!("{tool} says: {text}") }
        })
        .collect();
    told.join("\n")
}

/// The facts that the prompt asks to be read out of a text.
fn extract(prompt: &Prompt<'_>) -> Option<String> {
    if !prompt.speaks_of(&["extract"]) {
        return None;
    }
    let orders =
        format!("{}\n{}", prompt.system, sentences(&prompt.asked).first().copied().unwrap_or_default());
    type Wanted = (&'static [&'static str], fn(Kind) -> bool);
    let kinds: [Wanted; 8] = [
        (&["email", "e-mail", "mail"], |kind| kind == Kind::Email),
        (&["phone"], |kind| kind == Kind::Phone),
        (&["url", "link"], |kind| kind == Kind::Url),
        (&["date"], |kind| kind == Kind::Date),
        (&["amount", "price", "total"], |kind| matches!(kind, Kind::Number(_, Some(_)))),
        (&["order", "id", "reference", "invoice"], |kind| kind == Kind::Id),
        (&["name", "person"], |kind| kind == Kind::Name),
        (&["number"], |kind| matches!(kind, Kind::Number(..))),
    ];
    let found = facts(&prompt.asked);
    kinds.iter().filter(|(words, _)| mentions(&orders, words)).find_map(|(_, wanted)| {
        let texts: Vec<&str> =
            found.iter().filter(|fact| wanted(fact.kind)).map(|fact| fact.text.as_str()).collect();
        (!texts.is_empty()).then(|| texts.join(", "))
    })
}

/// The first sentence of what is to be summed up.
fn summary(prompt: &Prompt<'_>) -> Option<String> {
    if !prompt.speaks_of(&["summar", "tldr"]) {
        return None;
    }
    let asked = prompt.asked.as_str();
    // The order itself is not what is to be summed up.
    let body = if mentions(sentences(asked).first()?, &["summar", "tldr"]) {
        asked.split_once([':', '\n']).map_or("", |(_, body)| body)
    } else {
        asked
    };
    sentences(body).first().map(|sentence| (*sentence).to_owned())
}
