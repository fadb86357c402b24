//! Where in an input a piece of text is.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::run::{Input, Piece};
use crate::token::Kind;

/// Where a piece of text is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Find {
    /// The only typed token of its kind.
    Only {
        /// The kind.
        kind: Kind,
    },
    /// A typed token with certain words before it.
    After {
        /// The kind.
        kind: Kind,
        /// The tokens just before, lower case, nearest last.
        before: Vec<String>,
    },
    /// What stands between two pieces of text, the first place where both are.
    Between {
        /// Before it; empty for the beginning.
        before: String,
        /// After it; empty for the end of the line.
        after: String,
        /// At most so many bytes.
        longest: u16,
    },
    /// A group of a regular expression.
    Regex {
        /// The expression.
        pattern: String,
        /// The group.
        group: u8,
    },
    /// A place in an input that is JSON.
    Pointer {
        /// As in RFC 6901.
        pointer: String,
    },
}

/// No expression that needs more than this is compiled.
const MOST_REGEX: usize = 64 * 1024;

impl Find {
    /// The piece of `input`, if it is there and there is no doubt which it is.
    #[must_use]
    pub fn in_input<'a>(&self, input: &'a Input) -> Option<Cow<'a, str>> {
        match self {
            Self::Only { kind } => the_one(input, |_, piece| piece.kind == Some(*kind)),
            Self::After { kind, before } => {
                the_one(input, |at, piece| piece.kind == Some(*kind) && follows(input.pieces(), at, before))
            }
            Self::Between { before, after, longest } => {
                let text = input.text();
                let start = text.find(before.as_str())? + before.len();
                let rest = &text[start..];
                let end = if after.is_empty() {
                    rest.find('\n').unwrap_or(rest.len())
                } else {
                    rest.find(after.as_str())?
                };
                (end > 0 && end <= usize::from(*longest)).then(|| rest[..end].into())
            }
            Self::Regex { pattern, group } => {
                let regex = regex::RegexBuilder::new(pattern)
                    .size_limit(MOST_REGEX)
                    .dfa_size_limit(MOST_REGEX)
                    .build()
                    .ok()?;
                Some(regex.captures(input.text())?.get(usize::from(*group))?.as_str().into())
            }
            Self::Pointer { pointer } => match input.json()?.pointer(pointer)? {
                Value::String(text) => Some(text.as_str().into()),
                Value::Null => None,
                other => Some(other.to_string().into()),
            },
        }
    }
}

/// The text of the pieces that are `wanted`, if there is one and all say the same: a thing said twice is still one thing.
fn the_one(input: &Input, wanted: impl Fn(usize, &Piece) -> bool) -> Option<Cow<'_, str>> {
    let mut found = input
        .pieces()
        .iter()
        .enumerate()
        .filter(|(at, piece)| wanted(*at, piece))
        .map(|(_, piece)| input.slice(piece));
    let first = found.next()?;
    found.all(|text| text == first).then_some(Cow::Borrowed(first))
}

fn follows(pieces: &[Piece], at: usize, before: &[String]) -> bool {
    at >= before.len()
        && pieces[at - before.len()..at]
            .iter()
            .zip(before)
            .all(|(piece, word)| piece.kind.is_none() && piece.lower == *word)
}
