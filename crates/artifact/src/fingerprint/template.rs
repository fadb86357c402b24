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
    /// How many messages it has, counted up to [`COUNTED`].
    pub seen: u64,
    /// Whether it was mined elsewhere; then its id is that of its kind of work.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adopted: bool,
}

/// All templates under one system prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Templates {
    known: Vec<Template>,
}

/// The template that a message belongs to, once the message is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Observed<'a> {
    /// The template.
    pub template: &'a Template,
    /// Whether the message fitted before the template was widened by it.
    pub fitted: bool,
    /// Whether anything about the template is new.
    pub is_changed: bool,
}

/// Messages of a template are counted up to here. Beyond, one that fits changes nothing, and nobody has to write anything down.
pub const COUNTED: u64 = 16;

/// Bounds on memory: templates, places of one, words of a choice.
const MOST_TEMPLATES: usize = 512;
const MOST_PIECES: usize = 256;
const MOST_CHOICES: usize = 8;
/// The share of places that must be the same.
const ALIKE: f64 = 0.6;
/// A place with a word of its own in memory.
const BYTES_OF_A_PLACE: usize = size_of::<Piece>() + 16;

impl Templates {
    /// Takes in a message, as its [`skeleton`], under `system`: into the template that it resembles most, or else one of its own.
    /// None, if there is no room for that.
    pub fn observe(&mut self, system: &str, skeleton: Vec<Piece>) -> Option<Observed<'_>> {
        let Some(at) = self.nearest(&skeleton, alike) else { return self.begin(system, skeleton) };
        let template = &mut self.known[at];
        let fitted = fits(&template.pieces, &skeleton);
        let mut is_changed = template.seen < COUNTED;
        template.seen += u64::from(is_changed);
        if !fitted {
            for (piece, here) in template.pieces.iter_mut().zip(skeleton) {
                is_changed |= widen(piece, here);
            }
        }
        Some(Observed { template, fitted, is_changed })
    }

    fn begin(&mut self, system: &str, skeleton: Vec<Piece>) -> Option<Observed<'_>> {
        if self.known.len() >= MOST_TEMPLATES {
            return None;
        }
        let id = digest(&json!({ "system": system, "skeleton": skeleton }));
        self.known.push(Template { id, pieces: skeleton, seen: 1, adopted: false });
        self.known.last().map(|template| Observed { template, fitted: false, is_changed: true })
    }

    /// The template that stands here for one that was mined elsewhere, as the kind of work `task`: the one that its messages belong to
    /// already, or else itself from now on. None, if there is no room for it.
    pub fn adopt(&mut self, task: Digest, pieces: &[Piece]) -> Option<&Template> {
        // Each may have words where the other has slots.
        let alike_either_way =
            |known: &[Piece], there: &[Piece]| alike(known, there).max(alike(there, known));
        let at = match self.nearest(pieces, alike_either_way) {
            Some(at) => at,
            None if self.known.len() < MOST_TEMPLATES && pieces.len() <= MOST_PIECES => {
                self.known.push(Template { id: task, pieces: pieces.to_vec(), seen: 0, adopted: true });
                self.known.len() - 1
            }
            None => return None,
        };
        self.known.get(at)
    }

    /// The template of this length that is most `alike`, the oldest of several.
    fn nearest(&self, pieces: &[Piece], alike: impl Fn(&[Piece], &[Piece]) -> f64) -> Option<usize> {
        let shares = self.known.iter().enumerate().filter(|(_, known)| known.pieces.len() == pieces.len());
        shares
            .map(|(at, known)| (alike(&known.pieces, pieces), at))
            .filter(|(share, _)| *share >= ALIKE)
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))
            .map(|(_, at)| at)
    }

    /// All of them, the oldest first.
    #[must_use]
    pub fn all(&self) -> &[Template] {
        &self.known
    }

    /// About how much memory they take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let places: usize = self.known.iter().map(|template| template.pieces.len()).sum();
        places * BYTES_OF_A_PLACE
    }
}

/// The places of a message by itself.
#[must_use]
pub fn skeleton(message: &str) -> Vec<Piece> {
    let piece = |token: &crate::token::Token<'_>| {
        token.kind.map_or_else(|| Piece::Word(token.text.to_lowercase()), Piece::Slot)
    };
    tokens(message).iter().take(MOST_PIECES).map(piece).collect()
}

/// Whether a message with the places `here` is one of the template's word for word, slots aside.
#[must_use]
pub fn fits(template: &[Piece], here: &[Piece]) -> bool {
    template.len() == here.len()
        && template.iter().zip(here).all(|(piece, here)| match (piece, here) {
            (Piece::Slot(Kind::Text), _) => true,
            (Piece::Choice(words), Piece::Word(word)) => words.contains(word),
            (piece, here) => piece == here,
        })
}

fn alike(template: &[Piece], skeleton: &[Piece]) -> f64 {
    let same = template.iter().zip(skeleton).filter(|(piece, here)| match (piece, here) {
        (Piece::Choice(words), Piece::Word(word)) => words.contains(word),
        (piece, here) => piece == here,
    });
    if template.is_empty() { 1.0 } else { same.count() as f64 / template.len() as f64 }
}

/// Has a place allow for what is `here`. Says whether it did not before.
fn widen(piece: &mut Piece, here: Piece) -> bool {
    let next = match (&mut *piece, here) {
        (Piece::Word(word), Piece::Word(other)) if *word != other => {
            Piece::Choice(BTreeSet::from([word.clone(), other]))
        }
        (Piece::Choice(words), Piece::Word(other)) => {
            let is_new = words.insert(other);
            if words.len() <= MOST_CHOICES {
                return is_new;
            }
            Piece::Slot(Kind::Text)
        }
        (Piece::Slot(Kind::Text), _) | (Piece::Word(_), Piece::Word(_)) => return false,
        (Piece::Slot(kind), Piece::Slot(other)) if *kind == other => return false,
        // A word here and a number there: only that something is here is known.
        _ => Piece::Slot(Kind::Text),
    };
    *piece = next;
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observe(templates: &mut Templates, system: &str, message: &str) -> Digest {
        templates.observe(system, skeleton(message)).unwrap().template.id
    }

    #[test]
    fn what_differs_becomes_a_slot_of_its_kind() {
        let mut templates = Templates::default();
        let one = observe(&mut templates, "", "please refund order A-17 to the gold account");
        let two = observe(&mut templates, "", "please refund order B-9 to the silver account");
        assert_eq!(one, two);
        let pieces = &templates.all()[0].pieces;
        assert_eq!(pieces[3], Piece::Slot(Kind::Id));
        assert_eq!(pieces[6], Piece::Choice(BTreeSet::from(["gold".to_owned(), "silver".to_owned()])));
    }

    #[test]
    fn another_system_prompt_is_another_template() {
        let of = |system| observe(&mut Templates::default(), system, "hello");
        assert_ne!(of("a"), of("b"));
    }

    #[test]
    fn a_template_from_elsewhere_is_one_of_its_own_or_the_one_that_is_here() {
        let task = Digest::ZERO;
        let mut elsewhere = Templates::default();
        observe(&mut elsewhere, "", "please refund order A-17 to the gold account");
        observe(&mut elsewhere, "", "please refund order B-9 to the silver account");
        let pieces = elsewhere.all()[0].pieces.clone();

        let mut templates = Templates::default();
        assert_eq!(templates.adopt(task, &pieces).map(|template| template.id), Some(task));
        assert_eq!(templates.adopt(task, &pieces).map(|template| template.id), Some(task), "once");
        assert_eq!(observe(&mut templates, "", "please refund order C-3 to the blue account"), task);

        let mut templates = Templates::default();
        let here = observe(&mut templates, "", "please refund order C-3 to the blue account");
        assert_eq!(templates.adopt(task, &pieces).map(|template| template.id), Some(here));
        assert_eq!(templates.all().len(), 1);
    }

    #[test]
    fn the_same_messages_again_give_the_same_templates() {
        let messages: Vec<String> = (0..200)
            .map(|at| format!("ticket {at}: {} is broken since {}", ["door", "lift", "lamp"][at % 3], at * 7))
            .collect();
        let fold = || {
            messages.iter().fold(Templates::default(), |mut all, message| {
                observe(&mut all, "s", message);
                all
            })
        };
        assert_eq!(fold(), fold());
        assert_eq!(fold().all().len(), 1);
    }

    #[test]
    fn what_is_told_to_have_changed_is_what_did() {
        let mut templates = Templates::default();
        let told = |templates: &mut Templates, message: &str| {
            let before = templates.clone();
            let observed = templates.observe("", skeleton(message)).unwrap();
            let (fitted, is_changed) = (observed.fitted, observed.is_changed);
            assert_eq!(is_changed, before != *templates, "{message}");
            (fitted, is_changed)
        };
        for order in 0..COUNTED {
            assert!(told(&mut templates, &format!("refund order {order} to the red account")).1);
        }
        assert_eq!(told(&mut templates, "refund order 99 to the red account"), (true, false));
        for colour in ["blue", "green", "grey", "pink", "black", "white", "brown", "gold"] {
            let message = format!("refund order 1 to the {colour} account");
            assert_eq!(told(&mut templates, &message), (false, true));
            assert_eq!(told(&mut templates, &message), (true, false));
        }
    }

    #[test]
    fn where_there_is_no_room_nothing_is_taken_in() {
        let mut templates = Templates::default();
        let message = |at: usize| format!("a{at} b{at} c{at}");
        for at in 0..MOST_TEMPLATES {
            let words: Vec<Piece> = message(at).split(' ').map(|word| Piece::Word(word.to_owned())).collect();
            assert!(templates.observe("", words).is_some());
        }
        let before = templates.clone();
        assert_eq!(templates.observe("", vec![Piece::Word("x".to_owned()); 3]), None);
        assert_eq!(templates, before);
    }
}
