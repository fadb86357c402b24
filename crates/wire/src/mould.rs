//! Frames that differ in their words alone.
//!
//! Most of a stream is one frame over and over, with other words in it. Where all around the words is as it was in a frame
//! that was read, the rest of it says what it said there, and need not be read again.

/// A frame that was read, without its words.
#[derive(Debug, Default)]
pub(crate) struct Mould {
    before: String,
    /// Empty while there is none: behind the words there is at least the sign that ends them.
    after: String,
}

impl Mould {
    /// Remembers a frame by the place of its words in it. Words that are spelled with escapes have no place of their own.
    pub(crate) fn keep(&mut self, frame: &str, words: &str) {
        let place = (words.as_ptr() as usize).checked_sub(frame.as_ptr() as usize);
        let around = place.and_then(|place| {
            let (before, rest) = frame.split_at_checked(place)?;
            Some((before, rest.strip_prefix(words)?))
        });
        match around {
            Some((before, after)) if before.ends_with('"') && after.starts_with('"') => {
                before.clone_into(&mut self.before);
                after.clone_into(&mut self.after);
            }
            _ => self.forget(),
        }
    }

    /// Takes the frame back: what was read of it does not hold any more.
    pub(crate) fn forget(&mut self) {
        self.after.clear();
    }

    /// The words of a frame that is otherwise the one that is remembered; nothing, if there are none.
    pub(crate) fn words<'f>(&self, frame: &'f str) -> Option<&'f str> {
        if self.after.is_empty() {
            return None;
        }
        let words = frame.strip_prefix(&*self.before)?.strip_suffix(&*self.after)?;
        // With a sign in it that JSON spells otherwise, it would not be one text, or another one.
        let is_itself = |byte: &u8| *byte >= b' ' && *byte != b'"' && *byte != b'\\';
        (!words.is_empty() && words.as_bytes().iter().all(is_itself)).then_some(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    fn mould() -> Mould {
        let mut mould = Mould::default();
        let frame = r#"{"say":"some words","n":"1"}"#;
        mould.keep(frame, &frame[8..18]);
        mould
    }

    #[test]
    fn other_words_in_the_same_place_are_found_and_nothing_else_is() {
        let mould = mould();
        assert_eq!(mould.words(r#"{"say":"héllo","n":"1"}"#), Some("héllo"));
        assert_eq!(mould.words(r#"{"say":"","n":"1"}"#), None);
        assert_eq!(mould.words(r#"{"say":"a","n":"2"}"#), None);
        assert_eq!(mould.words(r#"{"say":"a\n","n":"1"}"#), None);
        assert_eq!(mould.words(r#"{"say":"a","n":"1","n":"1"}"#), None);
        assert_eq!(Mould::default().words(""), None);
    }

    #[test]
    fn words_that_are_not_in_the_frame_leave_nothing_behind() {
        let mut mould = mould();
        mould.keep(r#"{"say":"a"}"#, "a");
        assert_eq!(mould.words(r#"{"say":"a","n":"1"}"#), None);
        assert_eq!(mould.words(r#"{"say":"b"}"#), None);
    }

    proptest! {
        #[test]
        fn what_is_found_is_what_json_says(words in any::<String>()) {
            let mut frame: Value = serde_json::from_str(r#"{"say":"","n":"1"}"#).unwrap();
            frame["say"] = words.into();
            let text = frame.to_string();
            if let Some(found) = mould().words(&text) {
                prop_assert_eq!(found, frame["say"].as_str().unwrap());
            }
        }
    }
}
