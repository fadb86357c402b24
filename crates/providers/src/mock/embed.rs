//! Vectors: texts that share words and parts of words are near to each other.

use super::hash;
use super::text::{is_filler, words};

/// How long the vectors of a model are unless the request says otherwise.
#[must_use]
pub fn default_dimensions(model: &str) -> usize {
    match model {
        model if model.contains("text-embedding-3-large") => 3072,
        model if model.contains("text-embedding") => 1536,
        _ => 256,
    }
}

/// The vector of a text: of length one, and always the same for the same text. Words count most, then pairs of words, then
/// three letters in a row, so that a typo moves a text only a little.
#[must_use]
pub fn embed(text: &str, dimensions: usize) -> Vec<f32> {
    let mut vector = vec![0f64; dimensions];
    let mut add = |feature: String, weight: f64| {
        let number = hash(feature.as_bytes());
        let place = usize::try_from(number % dimensions.max(1) as u64).unwrap_or(0);
        if let Some(value) = vector.get_mut(place) {
            // The sign keeps features that fall on one place from always adding up.
            *value += if number >> 63 == 0 { weight } else { -weight };
        }
    };
    let words = words(text);
    for word in &words {
        add(format!("w {}", word.stem), if is_filler(&word.text) { 0.2 } else { 1.0 });
        let letters: Vec<char> = format!(" {} ", word.text).chars().collect();
        for three in letters.windows(3) {
            add(format!("c {}", three.iter().collect::<String>()), 0.15);
        }
    }
    for pair in words.windows(2) {
        add(format!("p {} {}", pair[0].stem, pair[1].stem), 0.4);
    }
    if words.is_empty() {
        add(format!("t {text}"), 1.0);
    }
    let length = vector.iter().map(|value| value * value).sum::<f64>().sqrt();
    // Features that cancel out leave nothing to scale; any unit vector is as good.
    if length < 1e-9 {
        return (0..dimensions).map(|place| if place == 0 { 1.0 } else { 0.0 }).collect();
    }
    vector.into_iter().map(|value| (value / length) as f32).collect()
}
