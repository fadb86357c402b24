//! What a tagger sees of a word: itself, its letters and shape, its neighbours, the tags before it.

use crate::text::{Word, stable_hash};

/// Buckets that features fall into.
pub const FEATURES: usize = 1 << 16;

/// The buckets of word `at`, after the two tags `before`.
pub fn features(words: &[Word], text: &str, at: usize, before: [usize; 2], buckets: &mut Vec<u32>) {
    buckets.clear();
    let word = |offset: isize| {
        at.checked_add_signed(offset).and_then(|place| words.get(place)).map_or("", |word| word.text.as_str())
    };
    let mut add = |kind: u64, parts: &[&str]| {
        let mut hash = kind;
        for part in parts {
            hash = stable_hash(hash, part.as_bytes());
        }
        buckets.push((hash % FEATURES as u64) as u32);
    };
    let own = word(0);
    let (one, two) = (before[1].to_string(), before[0].to_string());
    add(1, &[]);
    add(2, &[own]);
    for (kind, offset) in [(3, -1), (4, 1), (5, -2), (6, 2), (26, -3), (27, 3)] {
        add(kind, &[word(offset)]);
    }
    add(7, &[word(-1), own]);
    add(8, &[own, word(1)]);
    add(9, &[word(-2), word(-1)]);
    add(10, &[word(1), word(2)]);
    add(28, &[word(-1), word(1)]);
    let letters: Vec<usize> = own.char_indices().map(|(start, _)| start).chain([own.len()]).collect();
    for length in 2..=4.min(letters.len() - 1) {
        add(11 + length as u64, &[&own[..letters[length]]]);
        add(16 + length as u64, &[&own[letters[letters.len() - 1 - length]..]]);
    }
    let shape = |place: usize| {
        words.get(place).map_or("none", |word| match &text[word.start..word.end] {
            original if original.chars().all(char::is_numeric) => "number",
            original if original.starts_with(char::is_uppercase) => "capital",
            original if original.contains(char::is_numeric) => "mixed",
            _ => "plain",
        })
    };
    add(21, &[shape(at)]);
    add(22, &[shape(at), &one]);
    add(23, &[&one]);
    add(24, &[&two, &one]);
    add(25, &[&one, own]);
    add(29, &[&one, word(-1)]);
    add(30, &[&one, word(1)]);
    if at == 0 {
        add(31, &[]);
    }
    // What the request begins with often tells what it is about.
    add(32, &[words.first().map_or("", |word| word.text.as_str()), own]);
    let gap = at
        .checked_sub(1)
        .and_then(|place| words.get(place))
        .map_or("", |before| text.get(before.end..words[at].start).unwrap_or(""));
    if !gap.trim().is_empty() {
        add(33, &[gap.trim()]);
    }
}
