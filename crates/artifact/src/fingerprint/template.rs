//! Templates: what stays the same in messages of one kind, with typed slots where they differ. Mined as they come.
//!
//! A message is typed tokens and words. It belongs to the template of its length that it resembles most; where their words
//! differ, the template gets a slot. The same messages in the same order give the same templates, so they can be rebuilt.

use std::collections::BTreeSet;

use schema::Digest;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::digest;
use crate::token::{Kind, tokens};

/// One place of a template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Piece {
    /// Always this word, lower case.
    Word(String),
    /// Differs; typed by what it showed.
    Slot(Kind),
    /// One of a few words so far.
    Choice(BTreeSet<String>),
}

/// A template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Template {
    /// What it is known by: the hash of its first message's skeleton. It stays when slots are found.
    pub id: Digest,
    /// Its places.
    pub pieces: Vec<Piece>,
    /// How many messages it has.
    pub seen: u64,
}

/// All templates under one system prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Templates {
    known: Vec<Template>,
}

/// Bounds on memory: templates, places of one, words of a choice.
const MOST_TEMPLATES: usize = 512;
const MOST_PIECES: usize = 256;
const MOST_CHOICES: usize = 8;
/// The share of places that must be the same.
const ALIKE: f64 = 0.6;

impl Templates {
    /// The template of `message` under `system`; a new one if none is alike. When there is no room, the skeleton itself is the answer.
    pub fn observe(&mut self, system: &str, message: &str) -> Digest {
        let skeleton = skeleton(message);
        let best = self
            .known
            .iter()
            .enumerate()
            .filter(|(_, template)| template.pieces.len() == skeleton.len())
            .map(|(at, template)| (alike(&template.pieces, &skeleton), at))
            .filter(|(share, _)| *share >= ALIKE)
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        if let Some((_, at)) = best {
            let template = &mut self.known[at];
            template.seen += 1;
            for (piece, here) in template.pieces.iter_mut().zip(skeleton) {
                widen(piece, here);
            }
            return template.id;
        }
        let id = digest(&json!({ "system": system, "skeleton": skeleton }));
        if self.known.len() < MOST_TEMPLATES {
            self.known.push(Template { id, pieces: skeleton, seen: 1 });
        }
        id
    }

    /// All of them, the oldest first.
    #[must_use]
    pub fn all(&self) -> &[Template] {
        &self.known
    }
}

fn skeleton(message: &str) -> Vec<Piece> {
    let piece = |token: &crate::token::Token<'_>| {
        token.kind.map_or_else(|| Piece::Word(token.text.to_lowercase()), Piece::Slot)
    };
    tokens(message).iter().take(MOST_PIECES).map(piece).collect()
}

fn alike(template: &[Piece], skeleton: &[Piece]) -> f64 {
    let same = template.iter().zip(skeleton).filter(|(piece, here)| match (piece, here) {
        (Piece::Choice(words), Piece::Word(word)) => words.contains(word),
        (piece, here) => piece == here,
    });
    if template.is_empty() { 1.0 } else { same.count() as f64 / template.len() as f64 }
}

fn widen(piece: &mut Piece, here: Piece) {
    let next = match (&mut *piece, here) {
        (Piece::Word(word), Piece::Word(other)) if *word != other => {
            Piece::Choice(BTreeSet::from([word.clone(), other]))
        }
        (Piece::Choice(words), Piece::Word(other)) => {
            words.insert(other);
            if words.len() <= MOST_CHOICES {
                return;
            }
            Piece::Slot(Kind::Text)
        }
        (Piece::Slot(Kind::Text), _) | (Piece::Word(_), Piece::Word(_)) => return,
        (Piece::Slot(kind), Piece::Slot(other)) if *kind == other => return,
        // A word here and a number there: only that something is here is known.
        _ => Piece::Slot(Kind::Text),
    };
    *piece = next;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_becomes_a_slot_of_its_kind() {
        let mut templates = Templates::default();
        let one = templates.observe("", "please refund order A-17 to the gold account");
        let two = templates.observe("", "please refund order B-9 to the silver account");
        assert_eq!(one, two);
        let pieces = &templates.all()[0].pieces;
        assert_eq!(pieces[3], Piece::Slot(Kind::Id));
        assert_eq!(pieces[6], Piece::Choice(BTreeSet::from(["gold".to_owned(), "silver".to_owned()])));
    }

    #[test]
    fn another_system_prompt_is_another_template() {
        assert_ne!(Templates::default().observe("a", "hello"), Templates::default().observe("b", "hello"));
    }

    #[test]
    fn the_same_messages_again_give_the_same_templates() {
        let messages: Vec<String> = (0..200)
            .map(|at| format!("ticket {at}: {} is broken since {}", ["door", "lift", "lamp"][at % 3], at * 7))
            .collect();
        let fold = || {
            messages.iter().fold(Templates::default(), |mut all, message| {
                all.observe("s", message);
                all
            })
        };
        assert_eq!(fold(), fold());
        assert_eq!(fold().all().len(), 1);
    }
}
