//! Pages of a list: by key, never by number, so that a page does not shift while it is read.

use std::num::NonZeroU32;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

const DEFAULT: NonZeroU32 = NonZeroU32::new(50).unwrap();
const MOST: u32 = 200;

/// How many items a page has, as a query string says it.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Limit(NonZeroU32);

impl Default for Limit {
    fn default() -> Self {
        Self(DEFAULT)
    }
}

impl TryFrom<String> for Limit {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let limit = text.parse().ok().filter(|limit: &NonZeroU32| limit.get() <= MOST);
        limit.map(Self).ok_or("expected a whole number from 1 to 200")
    }
}

impl JsonSchema for Limit {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Limit".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 1, "maximum": MOST, "default": DEFAULT.get() })
    }
}

impl Limit {
    /// One more than the page has: whether there is a next page shows in whether it comes.
    pub(crate) fn and_one(self) -> NonZeroU32 {
        self.0.saturating_add(1)
    }

    /// Cuts what [`Self::and_one`] brought to the page, and says where the next page begins, if there is one.
    pub(crate) fn cut<T, K>(self, mut items: Vec<T>, key: impl Fn(&T) -> K) -> (Vec<T>, Option<K>) {
        let size = self.0.get() as usize;
        let more = items.len() > size;
        items.truncate(size);
        let next = items.last().filter(|_| more).map(key);
        (items, next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_page_says_that_it_is() {
        let limit = Limit::try_from("2".to_owned()).unwrap();
        assert_eq!(limit.cut(vec![9, 8, 7], |n| *n), (vec![9, 8], Some(8)));
        assert_eq!(limit.cut(vec![7, 6], |n| *n), (vec![7, 6], None));
        assert_eq!(limit.cut(vec![], |n: &u8| *n), (vec![], None));
        for bad in ["0", "201", "-1", "x", "", "1.5", " 1"] {
            assert!(Limit::try_from(bad.to_owned()).is_err(), "{bad}");
        }
    }
}
