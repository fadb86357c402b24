//! Words: a text taken apart so that two of them can be compared.

/// A word of a text, in small letters, with where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// The word in small letters.
    pub(super) text: String,
    /// Its stem.
    pub(super) stem: String,
    /// Where it begins, in bytes.
    pub(super) start: usize,
}

/// The words of a text: runs of letters and digits. `someName` and `some_name` are two.
pub(super) fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut current = String::new();
    let mut start = 0;
    let mut previous = ' ';
    for (place, character) in text.char_indices() {
        let new_hump = character.is_uppercase() && previous.is_lowercase();
        if (!character.is_alphanumeric() && character != '\'') || new_hump {
            finish(&mut words, &mut current, start);
        }
        if character.is_alphanumeric() || (character == '\'' && !current.is_empty()) {
            if current.is_empty() {
                start = place;
            }
            current.extend(character.to_lowercase());
        }
        previous = character;
    }
    finish(&mut words, &mut current, start);
    words
}

fn finish(words: &mut Vec<Word>, current: &mut String, start: usize) {
    let text = current.trim_end_matches("'s").trim_matches('\'').to_owned();
    current.clear();
    if !text.is_empty() {
        words.push(Word { stem: stem(&text), text, start });
    }
}

/// The stems that carry meaning, in order.
pub(super) fn stems(text: &str) -> Vec<String> {
    words(text).into_iter().filter(|word| !is_filler(&word.text)).map(|word| word.stem).collect()
}

/// The word without its ending: `declined`, `declines` and `declining` are one. Rough, and the same for all texts.
pub(super) fn stem(word: &str) -> String {
    let mut stem = word.to_owned();
    for (ending, instead) in [
        ("ations", ""),
        ("ation", ""),
        ("ments", ""),
        ("ment", ""),
        ("ings", ""),
        ("ing", ""),
        ("ies", "y"),
        ("ied", "y"),
        ("ers", ""),
        ("er", ""),
        ("ed", ""),
        ("es", ""),
        ("s", ""),
        ("al", ""),
        ("ly", ""),
        ("e", ""),
    ] {
        // At least three letters stay, or `ring` and `red` would vanish.
        if let Some(short) = word.strip_suffix(ending)
            && short.chars().count() >= 3
            && !(ending == "s" && short.ends_with('s'))
        {
            stem = format!("{short}{instead}");
            break;
        }
    }
    let mut last = stem.chars().rev();
    if let (Some(a), Some(b)) = (last.next(), last.next())
        && a == b
        && !"aeioulsz".contains(a)
        && stem.chars().count() > 3
    {
        stem.pop();
    }
    if stem.chars().count() > 3 && stem.ends_with('e') {
        stem.pop();
    }
    stem
}

/// Words that say little about what a text is about.
pub(super) fn is_filler(word: &str) -> bool {
    const FILLERS: &[&str] = &[
        "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because",
        "been", "but", "by", "can", "could", "did", "do", "does", "doing", "for", "from", "given", "had",
        "has", "have", "he", "her", "here", "hi", "hello", "him", "his", "how", "i", "i'd", "i'll", "i'm",
        "i've", "if", "in", "into", "is", "it", "its", "just", "let", "like", "me", "my", "of", "on", "or",
        "our", "please", "she", "should", "so", "some", "than", "that", "the", "their", "them", "then",
        "there", "these", "they", "this", "those", "to", "too", "up", "us", "using", "very", "want", "was",
        "we", "were", "what", "what's", "when", "where", "which", "while", "who", "why", "will", "with",
        "would", "you", "your", "need", "know", "tell", "get", "got",
    ];
    FILLERS.contains(&word)
}

/// The sentences of a text.
pub(super) fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((place, character)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next);
        let ends = matches!(character, '.' | '!' | '?') && next.is_none_or(char::is_whitespace);
        if ends || character == '\n' {
            let end = place + character.len_utf8();
            sentences.extend(Some(text[start..end].trim()).filter(|sentence| !sentence.is_empty()));
            start = end;
        }
    }
    sentences.extend(Some(text[start..].trim()).filter(|sentence| !sentence.is_empty()));
    sentences
}
