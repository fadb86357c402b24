//! Secrets by their form alone, for texts that belong to nobody in particular: logs, errors, and what is kept as it is
//! written.

use std::sync::LazyLock;

use crate::detector::Class;
use crate::detectors::Detectors;
use crate::finding::Finding;

/// What looks like a secret to everybody. The rules are built in and can be compiled, which a test sees to.
static SECRETS: LazyLock<Option<Detectors>> = LazyLock::new(|| {
    let classes = [Class::Secret, Class::PrivateKey, Class::ConnectionString];
    Detectors::builder().classes(classes).build().ok()
});

/// The secrets in a text. Without rules, all of it is one.
#[must_use]
pub fn secrets_in(text: &str) -> Vec<Finding> {
    match SECRETS.as_ref() {
        Some(detectors) => {
            let mut findings = detectors.find(text);
            findings.retain(|finding| finding.class != Class::Placeholder);
            findings
        }
        None => vec![Finding::whole(text)],
    }
}

/// Whether there is a secret in a text.
#[must_use]
pub fn has_secret(text: &str) -> bool {
    !secrets_in(text).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_found_and_nothing_else_is() {
        let key = ["sk-proj-", "4fT9xQz7LmN2vB8kRw3YcJ6dHs1GpE5aUo0i"].concat();
        let text = format!("no model `{key}`");
        let found = secrets_in(&text);
        assert_eq!(found.iter().map(|finding| &text[finding.range.clone()]).collect::<Vec<_>>(), [key]);
        assert!(!has_secret("limit: expected 1 to 500, got ⟨email:1⟩ of wanda@example.org"));
    }
}
