//! Texts as sequences of words.

use std::collections::HashSet;

/// A word of a text, lower-cased, with what stands around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// The letters and digits.
    pub(crate) text: String,
    /// Whether a clause begins with it.
    pub(crate) opens: bool,
    /// Whether it stands alone in quotation marks.
    pub(crate) quoted: bool,
    /// Whether a `#` stands before it.
    pub(crate) numbered: bool,
}

/// The words of `text`, in order.
pub(crate) fn words(text: &str) -> Vec<Word> {
    let mut found = Vec::with_capacity(text.len() / 6);
    let mut rest = text;
    loop {
        let begin = rest.find(char::is_alphanumeric).unwrap_or(rest.len());
        let before = &rest[..begin];
        rest = &rest[begin..];
        if rest.is_empty() {
            return found;
        }
        let end = rest.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(rest.len());
        let after = rest[end..].chars().next();
        let is_quote = |letter: Option<char>| letter.is_some_and(|letter| "'\"`‘’“”".contains(letter));
        found.push(Word {
            text: rest[..end].to_lowercase(),
            opens: found.is_empty() || before.contains(['.', ',', ';', ':', '!', '?', '\n', '(', '•']),
            quoted: is_quote(before.chars().next_back()) && is_quote(after),
            numbered: before.ends_with('#'),
        });
        rest = &rest[end..];
    }
}

/// The words of `text` and nothing else.
pub(crate) fn tokens(text: &str) -> Vec<String> {
    text.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// The words of a name in any of the spellings of programs: `send_email`, `sendEmail`, `send-email`, `mail.send`.
pub(crate) fn name_words(name: &str) -> Vec<String> {
    let mut spaced = String::with_capacity(name.len() + 4);
    let mut was_lower = false;
    for letter in name.chars() {
        if letter.is_uppercase() && was_lower {
            spaced.push(' ');
        }
        was_lower = letter.is_lowercase() || letter.is_ascii_digit();
        spaced.push(letter);
    }
    tokens(&spaced)
}

/// A word without the ending of its plural, so that `emails` and `email` meet.
pub(crate) fn singular(word: &str) -> &str {
    match word.strip_suffix('s') {
        Some(stem) if stem.len() >= 3 && !stem.ends_with('s') => stem,
        _ => word,
    }
}

/// What a verb may be a form of, itself first. Forms of the past are left out on purpose: what was done is not asked for.
pub(crate) fn verb_forms(word: &str) -> Vec<String> {
    let mut forms = vec![word.to_owned()];
    if let Some(stem) = word.strip_suffix("es") {
        forms.push(stem.to_owned());
    }
    if let Some(stem) = word.strip_suffix('s') {
        forms.push(stem.to_owned());
    }
    if let Some(stem) = word.strip_suffix("ing").filter(|stem| stem.len() >= 2) {
        forms.push(stem.to_owned());
        forms.push(format!("{stem}e"));
        let mut letters = stem.chars().rev();
        if letters.next().is_some_and(|last| letters.next() == Some(last)) {
            forms.push(stem[..stem.len() - 1].to_owned());
        }
    }
    forms
}

/// Whether a word says something of its own. Short words and the glue of English do not.
pub(crate) fn is_significant(word: &str) -> bool {
    const GLUE: &str = "about after all also and any are been before but can did docx does each for from had has have her him
        his how into its just more not now our out pdf please she that the their them then there these they this txt was were
        what when which who will with xlsx you your";
    word.len() >= 3 && !is_one_of(word, GLUE)
}

/// Whether `word` is in `list`, whose words have blanks between them.
pub(crate) fn is_one_of(word: &str, list: &str) -> bool {
    list.split_ascii_whitespace().any(|other| other == word)
}

/// The numbers in `text`, as people write them: `98.70`, `1,100`, `$30,000`.
pub(crate) fn numbers(text: &str) -> impl Iterator<Item = f64> + '_ {
    let is_part = |letter: char| letter.is_ascii_digit() || letter == '.' || letter == ',';
    let read = |piece: &str| {
        let piece = piece.trim_end_matches(['.', ',']);
        if piece.contains(',') { piece.replace(',', "").parse().ok() } else { piece.parse().ok() }
    };
    text.split_ascii_whitespace()
        .filter(|piece| piece.bytes().any(|byte| byte.is_ascii_digit()))
        .flat_map(move |piece| piece.split(move |letter| !is_part(letter)))
        .filter(|piece| piece.starts_with(|letter: char| letter.is_ascii_digit()))
        .filter_map(read)
}

/// Numbers by which a person knows a payment: with cents, or with the sign of a currency.
pub(crate) fn sums(text: &str) -> HashSet<u64> {
    let mut found = HashSet::new();
    for piece in text.split_whitespace() {
        let has_sign = piece.contains(['$', '€', '£', '¥']);
        let bare = piece.trim_matches(|letter: char| !letter.is_ascii_digit());
        let has_cents = bare.rsplit_once('.').is_some_and(|(_, cents)| cents.len() == 2);
        if has_sign || has_cents {
            found.extend(numbers(bare).map(f64::to_bits));
        }
    }
    found
}

/// Whether `needle` stands in `hay`, word for word.
pub(crate) fn contains(hay: &[Word], needle: &[String]) -> bool {
    !needle.is_empty()
        && hay
            .windows(needle.len())
            .any(|window| window.iter().zip(needle).all(|(word, want)| word.text == *want))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_apart_in_every_spelling() {
        for name in ["send_email", "sendEmail", "send-email", "Send.Email"] {
            assert_eq!(name_words(name), ["send", "email"], "{name}");
        }
    }

    #[test]
    fn a_word_knows_its_clause_and_its_quotes() {
        let words = words("Delete '13', then mail Bob #4");
        let of = |text: &str| words.iter().find(|word| word.text == text).cloned().unwrap();
        assert!(of("delete").opens && of("13").quoted && of("then").opens && of("4").numbered);
        assert!(!of("mail").opens && !of("bob").quoted);
    }

    #[test]
    fn what_was_done_is_no_form_of_what_is_asked() {
        assert!(verb_forms("sharing").contains(&"share".to_owned()));
        assert!(verb_forms("putting").contains(&"put".to_owned()));
        assert!(!verb_forms("shared").contains(&"share".to_owned()));
    }

    #[test]
    fn numbers_are_read_as_people_write_them() {
        assert_eq!(numbers("pay $1,100.50, or 98.70.").collect::<Vec<_>>(), [1100.5, 98.7]);
        assert!(sums("a fee of 5.29 for 3 items").contains(&5.29f64.to_bits()));
        assert!(!sums("a fee of 5.29 for 3 items").contains(&3f64.to_bits()));
    }

    #[test]
    fn the_glue_of_english_says_nothing() {
        for word in ["about", "docx", "please", "xlsx", "your", "more", "pdf"] {
            assert!(!is_significant(word), "{word}");
        }
        assert!(is_significant("rent"));
    }
}
