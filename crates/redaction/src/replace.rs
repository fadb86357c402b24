//! Findings replaced in a text.

use std::borrow::Cow;

use crate::finding::Finding;

/// `text` with what `with` says in the place of each finding; what it says nothing about stays. Findings are in order and
/// do not overlap.
pub fn replaced<'t>(
    text: &'t str,
    findings: &[Finding],
    mut with: impl FnMut(&Finding, &str) -> Option<String>,
) -> Cow<'t, str> {
    let mut told: Option<String> = None;
    let mut from = 0;
    for finding in findings {
        let Some(other) = with(finding, &text[finding.range.clone()]) else { continue };
        let told = told.get_or_insert_with(|| String::with_capacity(text.len()));
        told.push_str(&text[from..finding.range.start]);
        told.push_str(&other);
        from = finding.range.end;
    }
    match told {
        None => Cow::Borrowed(text),
        Some(mut told) => {
            told.push_str(&text[from..]);
            Cow::Owned(told)
        }
    }
}
