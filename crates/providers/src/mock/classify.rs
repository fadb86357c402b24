//! Labels: finding them in a prompt, and picking the one that fits a text best.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::prompt::Prompt;
use super::text::{stem, stems};

/// Something that a text may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Label<'t> {
    /// As it was written.
    pub(super) name: &'t str,
    /// What was said about it.
    pub(super) about: &'t str,
}

/// The label that the prompt asks for, when it asks for one.
pub(super) fn choose<'p>(prompt: &'p Prompt<'_>) -> Option<&'p str> {
    let asks = [
        "classif",
        "categor",
        "label",
        "intent",
        "sentiment",
        "topic",
        "triage",
        "one",
        "which",
        "choose",
        "pick",
        "select",
    ];
    if !prompt.speaks_of(&asks) {
        return None;
    }
    if let Some((labels, _)) = find(&prompt.system) {
        return best(&labels, &prompt.asked).map(|place| labels[place].name);
    }
    let (labels, around) = find(&prompt.asked)?;
    best(&labels, &around).map(|place| labels[place].name)
}

/// The place of the label that fits `text` best; of equals the first. Nothing only without labels.
pub(super) fn best(labels: &[Label<'_>], text: &str) -> Option<usize> {
    let said = stems(text);
    let of_labels: Vec<(Vec<String>, Vec<String>)> =
        labels.iter().map(|label| (label_stems(label.name), stems(label.about))).collect();
    let mut spread: HashMap<&str, f64> = HashMap::new();
    for (name, about) in &of_labels {
        let mut once: Vec<&str> = name.iter().chain(about).map(String::as_str).collect();
        once.sort_unstable();
        once.dedup();
        for word in once {
            *spread.entry(word).or_default() += 1.0;
        }
    }
    // A word that many labels share tells them apart less.
    let weight = |word: &str| (1.0 + labels.len() as f64 / spread.get(word).copied().unwrap_or(1.0)).ln();
    let score = |(name, about): &(Vec<String>, Vec<String>)| {
        let of = |words: &[String]| {
            let hits: f64 = words.iter().map(|word| weight(word) * closeness(word, &said)).sum();
            let all: f64 = words.iter().map(|word| weight(word)).sum();
            // Between the sum, which favours long labels, and the share, which favours short ones.
            if all > 0.0 { hits / all.sqrt() } else { 0.0 }
        };
        of(name) + 0.5 * of(about)
    };
    let mut best: Option<(usize, f64)> = None;
    for (place, words) in of_labels.iter().enumerate() {
        let score = score(words);
        if best.is_none_or(|(_, known)| score > known + 1e-9) {
            best = Some((place, score));
        }
    }
    best.map(|(place, _)| place)
}

fn label_stems(name: &str) -> Vec<String> {
    let meaning = stems(name);
    // A label of nothing but small words, such as `why_not`, is compared by those.
    if meaning.is_empty() {
        super::text::words(name).into_iter().map(|word| word.stem).collect()
    } else {
        meaning
    }
}

/// How near `word` comes to any of the words that were said: 1 when it is one of them.
fn closeness(word: &str, said: &[String]) -> f64 {
    said.iter().map(|other| near(word, other)).fold(0.0, f64::max)
}

fn near(a: &str, b: &str) -> f64 {
    if a == b {
        return 1.0;
    }
    let concepts = |word: &str| CONCEPTS.get(word).map_or(&[][..], Vec::as_slice);
    if concepts(a).iter().any(|concept| concepts(b).contains(concept)) {
        return 0.7;
    }
    let common = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    if common >= 4 && common * 4 >= a.len().min(b.len()) * 3 { 0.6 } else { 0.0 }
}

/// Words that people use for the same thing. General on purpose: of moods, and of what customers write about.
static GROUPS: &[&str] = &[
    "positive good great love excellent happy amazing wonderful best perfect fantastic thanks pleased enjoy recommend",
    "negative bad terrible hate awful worst angry disappointed poor horrible unhappy broken useless annoyed",
    "neutral okay fine average",
    "urgent asap immediately emergency critical now",
    "lost stolen missing theft stole robbed",
    "cancel terminate close delete end stop unsubscribe",
    "refund reimburse money return returned back",
    "billing invoice charge payment bill subscription charged fee price",
    "fee charge cost charged extra",
    "technical error bug crash broken fail failing slow issue exception",
    "fail failed unsuccessful declined rejected refused working work",
    "account login password username profile signin",
    "verify identity prove confirm verification identification",
    "shipping delivery arrive arrival package parcel courier track shipment deliver",
    "arrival arrive arrived come waiting received receive",
    "purchase buy bought order ordered checkout",
    "wrong incorrect mistake error mistaken false",
    "question ask help how inquiry information",
    "complaint complain unacceptable dissatisfied",
    "cash atm withdraw withdrawal machine",
    "country abroad countries foreign overseas",
    "top add deposit load fund",
    "exchange rate convert conversion currency",
    "pin passcode code",
    "pending waiting processing still",
    "change edit update modify switch",
    "phone mobile device smartphone",
    "spam advertisement unsolicited prize winner lottery",
    "bug defect regression",
    "feature suggestion request idea enhancement",
];

static CONCEPTS: LazyLock<HashMap<String, Vec<usize>>> = LazyLock::new(|| {
    let mut concepts: HashMap<String, Vec<usize>> = HashMap::new();
    for (number, group) in GROUPS.iter().enumerate() {
        for word in group.split(' ') {
            concepts.entry(stem(word)).or_default().push(number);
        }
    }
    concepts
});

/// The labels that a text lists, and the text around the list.
pub(super) fn find(text: &str) -> Option<(Vec<Label<'_>>, String)> {
    find_bullets(text).or_else(|| find_in_line(text))
}

/// A list of a line each, with bullets, numbers or nothing before them.
fn find_bullets(text: &str) -> Option<(Vec<Label<'_>>, String)> {
    let mut labels = Vec::new();
    let mut around = Vec::new();
    let mut after_colon = false;
    for line in text.lines() {
        let bare = line.trim();
        let item = bullet(bare).or_else(|| (after_colon && !bare.is_empty()).then_some(bare));
        match item.and_then(label) {
            Some(label) => labels.push(label),
            None => {
                around.push(line);
                after_colon = bare.ends_with(':') || (after_colon && bare.is_empty() && labels.is_empty());
            }
        }
    }
    (labels.len() >= 2).then(|| (labels, around.join("\n")))
}

fn bullet(line: &str) -> Option<&str> {
    let dashed = ["- ", "* ", "• ", "– "].iter().find_map(|mark| line.strip_prefix(mark));
    dashed.or_else(|| {
        let rest = line.trim_start_matches(|character: char| character.is_ascii_digit());
        (rest.len() < line.len())
            .then(|| rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")))
            .flatten()
    })
}

/// `name`, `name: about`, `name - about` or `name (about)`; nothing when that is more of a sentence than a name.
fn label(item: &str) -> Option<Label<'_>> {
    let (name, about) = [": ", " - ", " – ", " ("]
        .iter()
        .filter_map(|mark| item.split_once(mark))
        .min_by_key(|(name, _)| name.len())
        .unwrap_or((item, ""));
    let name =
        name.trim().trim_matches(['"', '\'', '`', '*', '“', '”', ',', ';']).trim_end_matches(['.', ':']);
    let few = !name.is_empty() && name.len() <= 60 && name.split_whitespace().count() <= 5;
    few.then_some(Label { name, about: about.trim_end_matches(')') })
}

/// A list in a line, after words that announce one.
fn find_in_line(text: &str) -> Option<(Vec<Label<'_>>, String)> {
    const CUES: &[&str] = &[
        "one of",
        "labels",
        "categories",
        "classes",
        "intents",
        "options",
        "sentiments",
        "topics",
        "following",
        "either",
        "label",
        "category",
        "sentiment",
        " as ",
        " into ",
    ];
    let lower = text.to_ascii_lowercase();
    let mut starts: Vec<usize> =
        CUES.iter().flat_map(|cue| lower.match_indices(cue).map(|(place, cue)| place + cue.len())).collect();
    starts.sort_unstable();
    starts.into_iter().find_map(|start| {
        let rest = &text[start..];
        let soon = |place: &usize| !rest[..*place].contains(['.', '\n']);
        // In brackets or after a colon, when one comes soon; else right here.
        let bracket = rest.find(['[', '(']).filter(|place| *place <= 20).filter(soon);
        let colon = rest.find(':').filter(|place| *place <= 60).filter(soon).map(|place| place + 1);
        [bracket, colon, Some(0)].into_iter().flatten().find_map(|place| {
            let list = &rest[place..];
            let end = end_of_list(list);
            Some((in_line(&list[..end])?, format!("{} {}", &text[..start], &list[end..])))
        })
    })
}

/// Where a list in a line ends: with its bracket, or with its sentence.
fn end_of_list(list: &str) -> usize {
    let end = if list.trim_start().starts_with(['[', '(', '{']) {
        list.find([']', ')', '}'])
    } else {
        let ends = list.match_indices(['.', '\n', '?', ':']).map(|(place, _)| place);
        ends.into_iter().find(|place| list[place + 1..].chars().next().is_none_or(char::is_whitespace))
    };
    end.unwrap_or(list.len())
}

fn in_line(list: &str) -> Option<Vec<Label<'_>>> {
    let list = list.trim().trim_start_matches(['[', '(', '{']);
    let commas = list.split([',', '|', ';', '/']);
    let items = commas.flat_map(|item| item.split(" or ")).flat_map(|item| item.split(" and "));
    let items = items.map(|item| {
        let item = item.trim();
        item.strip_prefix("or ").or_else(|| item.strip_prefix("and ")).unwrap_or(item)
    });
    let labels: Option<Vec<_>> = items.filter(|item| !item.is_empty()).map(label).collect();
    labels.filter(|labels| labels.len() >= 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(system: &str, asked: &str, expected: Option<&str>) {
        let prompt =
            Prompt { system: system.into(), asked: asked.into(), results: Vec::new(), pictures: Vec::new() };
        assert_eq!(choose(&prompt), expected, "{system} {asked}");
    }

    #[test]
    fn labels_are_found_however_they_are_listed() {
        check(
            "Classify the message as one of: billing, technical, account.",
            "My invoice is too high",
            Some("billing"),
        );
        check("Classify as positive, negative or neutral", "I love it, it is great", Some("positive"));
        check(
            "Pick a label:\n- card_arrival\n- lost_card: the card was stolen\n- top_up",
            "Someone stole it!",
            Some("lost_card"),
        );
        check(
            "Labels:\n\n1. bug\n2. feature request",
            "It would be an idea to enhance the search",
            Some("feature request"),
        );
        check("Choose a category from [\"shipping\", \"refund\"]", "Where is my parcel?", Some("shipping"));
        check("", "Classify the sentiment (positive, negative): this was awful", Some("negative"));
        check("Categories:\nbilling\naccount\n", "I forgot my password", Some("account"));
    }

    #[test]
    fn of_equals_the_first_is_picked_and_without_labels_none() {
        check("Classify as one of: alpha, beta", "zzz", Some("alpha"));
        check("You are kind.", "Which day is it?", None);
        check("You classify things. Be brief, and be kind to people who ask.", "Hello", None);
    }
}
