//! The public data sets, read in place.

use std::fs;
use std::path::Path;

use artifact::text::{mix, words};
use learning::tag::Gold;
use serde_json::Value;

/// A request and the label that live answers with.
pub(crate) type Labelled = (String, String);

/// The requests of banking77 that are there: `train.csv`, and `test.csv` where it is present.
pub(crate) fn banking(root: &Path) -> Result<Vec<Labelled>, String> {
    let mut rows = csv(&read(&root.join("banking77/train.csv"))?);
    let test = root.join("banking77/test.csv");
    if test.is_file() {
        rows.extend(csv(&read(&test)?));
    }
    Ok(rows)
}

/// Requests and labels of a file with two columns, text and label, below a header.
pub(crate) fn classification(path: &Path) -> Result<Vec<Labelled>, String> {
    Ok(csv(&read(path)?))
}

/// An utterance: its text, its intent, and the spans of its fields.
pub(crate) struct Utterance {
    pub(crate) text: String,
    pub(crate) intent: String,
    pub(crate) gold: Vec<Gold>,
}

/// The utterances of the files in `folder`, as SNIPS 2017 has them.
pub(crate) fn utterances(folder: &Path) -> Result<Vec<Utterance>, String> {
    let listed = fs::read_dir(folder).map_err(|error| missing(folder, &error))?;
    let mut files: Vec<_> = listed
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .collect();
    files.sort();
    let mut rows = Vec::new();
    for path in files {
        let parsed: Value =
            serde_json::from_str(&read(&path)?).map_err(|error| format!("{}: {error}", path.display()))?;
        for (intent, list) in parsed.as_object().into_iter().flatten() {
            for utterance in list.as_array().into_iter().flatten() {
                let (text, gold) = utterance_of(utterance);
                rows.push(Utterance { text, intent: intent.clone(), gold });
            }
        }
    }
    Ok(rows)
}

fn utterance_of(utterance: &Value) -> (String, Vec<Gold>) {
    let (mut text, mut gold) = (String::new(), Vec::new());
    for piece in utterance["data"].as_array().into_iter().flatten() {
        let part = piece["text"].as_str().unwrap_or_default();
        let start = text.len();
        text.push_str(part);
        if let Some(field) = piece["entity"].as_str() {
            gold.push(Gold { field: field.to_owned(), start, end: text.len() });
        }
    }
    // A value is its words: blanks and marks at its edges are nobody's.
    let words = words(&text);
    for one in &mut gold {
        let mut inside = words.iter().filter(|word| word.start >= one.start && word.end <= one.end);
        if let Some(first) = inside.next() {
            let last = inside.next_back().unwrap_or(first);
            (one.start, one.end) = (first.start, last.end);
        }
    }
    (text, gold)
}

/// The same order for the same seed.
pub(crate) fn shuffled<T: Clone>(rows: &[T], seed: u64) -> Vec<T> {
    let mut rows = rows.to_vec();
    for at in (1..rows.len()).rev() {
        rows.swap(at, (mix(seed.wrapping_mul(1_000_003).wrapping_add(at as u64)) % (at as u64 + 1)) as usize);
    }
    rows
}

/// A number from 0 up to 1 that only depends on `seed` and `at`.
pub(crate) fn draw(seed: u64, at: u64) -> f64 {
    (mix(mix(seed) ^ at.wrapping_mul(0x9e37_79b9_7f4a_7c15)) >> 11) as f64 / (1_u64 << 53) as f64
}

fn read(path: &Path) -> Result<String, String> {
    let bytes = fs::read(path).map_err(|error| missing(path, &error))?;
    // Some files are Latin-1.
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| error.into_bytes().iter().map(|byte| char::from(*byte)).collect()))
}

fn missing(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}; name the folder of the data sets with --data or PUNK_BENCH_DATA", path.display())
}

fn csv(text: &str) -> Vec<Labelled> {
    let (mut rows, mut fields, mut field, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                field.push('"');
                letters.next();
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(std::mem::take(&mut field)),
            '\n' if !quoted => {
                fields.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut fields));
            }
            '\r' if !quoted => {}
            other => field.push(other),
        }
    }
    rows.into_iter()
        .skip(1)
        .filter_map(|row| <[String; 2]>::try_from(row).ok())
        .map(|[text, label]| (text, label))
        .collect()
}
