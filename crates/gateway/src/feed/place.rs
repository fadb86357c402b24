//! Where in the feed a reader is.

use std::fmt;
use std::str::FromStr;

use schema::Seq;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use store::FeedRow;

/// The event that was told last: the index of its leaf, and its place in its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Place {
    leaf: u64,
    seq: u64,
    /// Whether the leaf has nothing more to tell. A reader that names the last event of a leaf is told nothing of it again
    /// either: nothing of the leaf comes after it.
    closed: bool,
}

/// The text names no place in a feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlaceError;

impl fmt::Display for PlaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected the id of an event of this feed, such as 12-4")
    }
}

impl Place {
    pub(super) fn of(leaf: u64, seq: Seq) -> Self {
        Self { leaf, seq: seq.0, closed: false }
    }

    /// The same, with nothing more to tell of its leaf.
    pub(super) fn closed(self) -> Self {
        Self { closed: true, ..self }
    }

    /// After everything that the first `size` leaves bind.
    pub(super) fn after_leaves(size: u64) -> Self {
        match size.checked_sub(1) {
            Some(leaf) => Self { leaf, seq: u64::MAX, closed: true },
            None => Self { leaf: 0, seq: 0, closed: false },
        }
    }

    /// The first leaf that may have something to tell.
    pub(super) fn next_leaf(self) -> u64 {
        if self.closed { self.leaf.saturating_add(1) } else { self.leaf }
    }

    /// Up to which event of a leaf's run everything was told.
    pub(super) fn seen_of(self, row: &FeedRow) -> Seq {
        if row.index == self.leaf { Seq(row.after.0.max(self.seq)) } else { row.after }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { leaf, seq, .. } = self;
        if *seq == u64::MAX { write!(f, "{leaf}") } else { write!(f, "{leaf}-{seq}") }
    }
}

/// `12-4`, or `12` for all of a leaf.
impl FromStr for Place {
    type Err = PlaceError;

    fn from_str(text: &str) -> Result<Self, PlaceError> {
        let number = |text: &str| text.parse().map_err(|_| PlaceError);
        match text.split_once('-') {
            Some((leaf, seq)) => Ok(Self { leaf: number(leaf)?, seq: number(seq)?, closed: false }),
            None => Ok(Self { leaf: number(text)?, seq: u64::MAX, closed: true }),
        }
    }
}
impl TryFrom<String> for Place {
    type Error = PlaceError;

    fn try_from(text: String) -> Result<Self, PlaceError> {
        text.parse()
    }
}

impl JsonSchema for Place {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Place".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^\\d{1,19}(-\\d{1,19})?$" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use schema::RunId;

    proptest! {
        #[test]
        fn an_id_leads_back_to_its_place(leaf in 0..1u64 << 40, seq in 1..1u64 << 40) {
            let place = Place::of(leaf, Seq(seq));
            prop_assert_eq!(place.to_string().parse::<Place>(), Ok(place));
        }

        /// Wherever a reader breaks off, it is told the rest, once.
        #[test]
        fn nothing_is_lost_or_doubled_wherever_a_reader_breaks_off(
            sizes in proptest::collection::vec(1u64..5, 1..8),
            cut in any::<prop::sample::Index>(),
        ) {
            // A run with leaves after so many events each.
            let mut rows = Vec::new();
            for (index, size) in (0u64..).zip(&sizes) {
                let after = rows.last().map_or(Seq::START, |row: &FeedRow| row.seq);
                rows.push(FeedRow { index, run: RunId::NIL, seq: Seq(after.0 + size), after });
            }
            let told = |from: Place| -> Vec<Place> {
                rows.iter().filter(|row| row.index >= from.next_leaf())
                    .flat_map(|row| (from.seen_of(row).0 + 1..=row.seq.0).map(|seq| Place::of(row.index, Seq(seq))))
                    .collect()
            };
            let all = told(Place::after_leaves(0));
            prop_assert_eq!(all.len() as u64, sizes.iter().sum::<u64>());
            let cut = cut.index(all.len());
            let resumed = told(all[cut].to_string().parse().unwrap());
            prop_assert_eq!(&resumed[..], &all[cut + 1..]);
        }
    }

    #[test]
    fn nonsense_is_no_place() {
        for bad in ["", "x", "1-", "-1", "1-2-3", "1 2", "99999999999999999999"] {
            assert_eq!(bad.parse::<Place>(), Err(PlaceError), "{bad}");
        }
    }
}
