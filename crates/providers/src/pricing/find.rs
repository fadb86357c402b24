//! Which row a model's id belongs to.

/// The names to look for, the closest first: the id, then without what tells snapshots of one model apart, at its end.
/// Only that is taken off, so `gpt-4o-mini` is never `gpt-4o`, nor `o1-pro` `o1`.
pub(super) fn names(model: &str) -> Vec<&str> {
    let mut names = vec![model];
    // Vendors whose models cost the same wherever they are asked for by that name.
    let bare =
        ["openai/", "anthropic/", "google/", "mistralai/"].iter().find_map(|slug| model.strip_prefix(slug));
    names.extend(bare);
    let mut name = bare.unwrap_or(model);
    while let Some(shorter) = without_snapshot(name) {
        names.push(shorter);
        name = shorter;
    }
    names
}

/// The name without a date or a word for "the newest" at its end.
fn without_snapshot(name: &str) -> Option<&str> {
    for word in ["-latest", "-preview", "-exp"] {
        if let Some(shorter) = name.strip_suffix(word) {
            return Some(shorter);
        }
    }
    // 2024-08-06, 09-2025, 05-06; 20250929, 0613 and 2411, 001.
    [&[4, 2, 2][..], &[2, 4], &[2, 2], &[8], &[4], &[3]]
        .into_iter()
        .find_map(|lengths| without_digits(name, lengths))
}

/// The name without groups of digits of these lengths at its end, each after a dash.
fn without_digits<'n>(name: &'n str, lengths: &[usize]) -> Option<&'n str> {
    let mut rest = name;
    for length in lengths.iter().rev() {
        let (shorter, digits) = rest.rsplit_once('-')?;
        if digits.len() != *length || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        rest = shorter;
    }
    (!rest.is_empty()).then_some(rest)
}
