//! Requests without instructions: what stays the same in them is mined from those that came before, and is their kind.
//!
//! A prompt such as `translate “…” to French` says what to do only by what it has in common with others. Its template
//! (`artifact::fingerprint::Templates`) is mined as the log is read, apart for each model and way of asking, so the same log gives the
//! same templates. A template is a kind of work once it came a few times. What was learned of it serves only what fits the template
//! word for word, slots aside, as it was when the program was made.

use artifact::fingerprint::{Piece, Template, Templates, digest, fits, skeleton};
use schema::Digest;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::task::{Loose, Task};

/// A template, as whatever was learned of it carries it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Skeleton {
    /// The model, the form of the answer and the sampling that it was mined under.
    pub base: Digest,
    /// Its places.
    pub pieces: Vec<Piece>,
}

/// What mining says of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Mined {
    /// The request, as the learner sees it.
    pub task: Task,
    /// The template, with this request in it.
    pub skeleton: Skeleton,
    /// Whether the request fitted before the template was widened by it.
    pub fitted: bool,
}

/// So often a template has to have come before it is a kind of work.
const FEWEST_SEEN: u64 = 4;
/// A text of fewer tokens says too little, and one of more too much, to have a template.
const TOKENS: std::ops::RangeInclusive<usize> = 3..=200;
/// The share of the places that have to stay the same: below it the words are the work, and not the form.
const LEAST_FIXED: f64 = 0.3;
const NAME_WORDS: usize = 6;

/// Takes a request in, and says what kind of work it is; nothing while its template is too new, or says too little. And whether
/// the templates are others now.
pub(crate) fn mine(templates: &mut Templates, loose: &Loose) -> (Option<Mined>, bool) {
    let here = skeleton(&loose.text);
    if !TOKENS.contains(&here.len()) {
        return (None, false);
    }
    let Some(observed) = templates.observe("", here) else { return (None, false) };
    let mined = says_enough(observed.template).then(|| {
        let pieces = &observed.template.pieces;
        let key = key_of(loose.base, observed.template);
        let task = Task { key, name: name(pieces), input: loose.text.clone() };
        let skeleton = Skeleton { base: loose.base, pieces: pieces.clone() };
        Mined { task, skeleton, fitted: observed.fitted }
    });
    (mined, observed.is_changed)
}

/// Whether a template is a kind of work.
fn says_enough(template: &Template) -> bool {
    let fixed = template.pieces.iter().filter(|piece| matches!(piece, Piece::Word(_))).count();
    let is_new = template.seen < FEWEST_SEEN && !template.adopted;
    !is_new && fixed as f64 >= LEAST_FIXED * template.pieces.len() as f64
}

/// What the work of a program that was made elsewhere, as the kind of work `task`, is known by here.
pub(crate) fn adopt(templates: &mut Templates, skeleton: &Skeleton, task: Digest) -> Digest {
    templates.adopt(task, &skeleton.pieces).map_or(task, |template| key_of(skeleton.base, template))
}

/// What the work of a template is known by.
fn key_of(base: Digest, template: &Template) -> Digest {
    if template.adopted { template.id } else { digest(&json!({ "base": base, "template": template.id })) }
}

impl Skeleton {
    /// Whether a request is one of the template's.
    #[must_use]
    pub fn admits(&self, loose: &Loose) -> bool {
        self.admits_pieces(loose.base, &skeleton(&loose.text))
    }

    /// The same, for whoever asks many.
    pub(crate) fn admits_pieces(&self, base: Digest, here: &[Piece]) -> bool {
        base == self.base && fits(&self.pieces, here)
    }

    /// It, for people: `translate {text} to french`.
    #[must_use]
    pub fn shown(&self) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Word(word) => word.clone(),
            Piece::Slot(kind) => format!("{{{}}}", format!("{kind:?}").to_lowercase()),
            Piece::Choice(words) => format!("{{{}}}", words.iter().cloned().collect::<Vec<_>>().join("|")),
        };
        self.pieces.iter().map(piece).collect::<Vec<_>>().join(" ")
    }
}

fn name(pieces: &[Piece]) -> String {
    let words =
        pieces.iter().filter_map(|piece| if let Piece::Word(word) = piece { Some(word) } else { None });
    let words = words.filter(|word| word.chars().any(char::is_alphanumeric)).take(NAME_WORDS);
    words.cloned().collect::<Vec<_>>().join("-").chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loose(text: &str) -> Loose {
        Loose { base: Digest::ZERO, text: text.to_owned() }
    }

    #[test]
    fn what_comes_again_is_a_kind_of_work_and_fits_its_template() {
        let mut templates = Templates::default();
        let say = |city: &str, day: u32| loose(&format!("tell me the weather in {city} on day {day} please"));
        let cities =
            ["bern", "oslo", "rome", "kyoto", "lagos", "quito", "lima", "riga", "doha", "bonn", "cork"];
        let mined: Vec<Option<Mined>> =
            cities.iter().zip(1..).map(|(city, day)| mine(&mut templates, &say(city, day)).0).collect();
        assert!(mined[..3].iter().all(Option::is_none), "too new");
        let last = mined[10].as_ref().unwrap();
        assert_eq!(last.task.key, mined[3].as_ref().unwrap().task.key);
        assert_eq!(last.skeleton.shown(), "tell me the weather in {text} on day {number} please");
        assert_eq!(last.task.name, "tell-me-the-weather-in-on");
        assert!(last.skeleton.admits(&say("paris", 7)) && last.fitted);
        assert!(!last.skeleton.admits(&loose("tell me the time in paris on day 7 please")));
        assert!(!last.skeleton.admits(&loose("tell me the weather in paris")));
    }

    #[test]
    fn a_request_that_widens_its_template_did_not_fit() {
        let mut templates = Templates::default();
        for day in 0..5 {
            mine(&mut templates, &loose(&format!("open the red door on day {day}")));
        }
        let wider = mine(&mut templates, &loose("open the blue door on day 9")).0.unwrap();
        assert!(!wider.fitted);
        assert!(mine(&mut templates, &loose("open the blue door on day 10")).0.unwrap().fitted);
    }
}
