//! The nearest known name: what was probably meant.

/// The `known` names closest to `wrong`, the closest first, at most three; none when nothing is close.
pub(crate) fn nearest<'n>(wrong: &str, known: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    // No known name comes near this length, and the distance takes time and room by it.
    if wrong.len() > 80 {
        return Vec::new();
    }
    // A typo is a letter or two; a third of the name leaves room for a forgotten or swapped word.
    let tolerance = (wrong.chars().count() / 3).clamp(1, 8);
    let wrong = wrong.to_lowercase();
    let mut close: Vec<_> = known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&wrong, &name.to_lowercase()), name))
        .filter(|(distance, _)| *distance <= tolerance)
        .collect();
    close.sort_unstable();
    // Only what is as close as the best: a second guess twice as far away helps nobody.
    let best = close.first().map_or(0, |(distance, _)| *distance);
    close.into_iter().filter(|(distance, _)| *distance <= best + 1).map(|(_, name)| name).take(3).collect()
}

/// Names to keep.
pub(crate) fn owned(names: Vec<&str>) -> Vec<String> {
    names.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_its_name_and_nonsense_finds_none() {
        let known = ["PUNK_PORT", "PUNK_HOST", "PUNK_DATABASE_URL"];
        assert_eq!(nearest("PUNK_PROT", known), ["PUNK_PORT"]);
        assert_eq!(nearest("punk_port", known), ["PUNK_PORT"]);
        assert_eq!(nearest("PUNK_DATABSE_URI", known), ["PUNK_DATABASE_URL"]);
        assert!(nearest("PUNK_SOMETHING_ELSE", known).is_empty());
        assert!(nearest("", known).is_empty());
        assert!(nearest(&"P".repeat(1 << 20), known).is_empty());
    }
}
