//! Where a JSON object ends, while it comes in pieces.

/// How deep in a JSON object or list its text so far has come. Each letter is looked at once, so that a long text in small
/// pieces costs no more than a long text.
#[derive(Debug, Default)]
pub(super) struct Nesting {
    begun: bool,
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Nesting {
    /// Takes more of the text.
    pub(super) fn feed(&mut self, json: &str) {
        for letter in json.bytes() {
            if self.in_string {
                match letter {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
                continue;
            }
            match letter {
                b'"' => self.in_string = true,
                b'{' | b'[' => (self.begun, self.depth) = (true, self.depth + 1),
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }

    /// Whether what began has ended.
    pub(super) fn is_over(&self) -> bool {
        self.begun && self.depth == 0 && !self.in_string
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    proptest! {
        #[test]
        fn an_object_is_over_at_its_last_letter_and_not_before(
            members in prop::collection::btree_map("[a-z{}\"\\\\]{0,5}", "[a-z{}\"\\\\\\[\\]🦀]{0,8}", 0..4),
        ) {
            let text = json!({ "members": members, "list": [[Value::Null], {}] }).to_string();
            let mut nesting = Nesting::default();
            for (place, letter) in text.char_indices() {
                nesting.feed(&text[place..place + letter.len_utf8()]);
                prop_assert_eq!(nesting.is_over(), place + letter.len_utf8() == text.len());
            }
        }
    }
}
