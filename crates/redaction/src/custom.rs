//! Patterns of a tenant, as regular expressions.
//!
//! A pattern is tried at each place of the text, from where it either comes to an end or does not fit. So whether and what it finds depends on
//! the text alone and not on the pieces it came in, and only a match that is under way is held back. Where it fits, the first
//! alternative that does is taken, as usual; the search goes on behind it.
//!
//! - A match is at most [`MAX_CUSTOM`] bytes long: a longer one is cut off there, and the pattern is tried again behind the cut.
//! - `\b` and `\B` mean ASCII words, which is what an automaton can tell without looking ahead. Classes and cases know all of Unicode.
//! - A pattern that would match nothing at all, or needs too large an automaton, is refused.

use std::sync::Arc;

use regex_automata::Anchored;
use regex_automata::dfa::{Automaton as _, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::start;
use regex_syntax::hir::{Capture, Hir, HirKind, Look, Repetition};

use crate::detector::Class;
use crate::finding::{Candidate, Rule};

/// How many bytes a match of a tenant's pattern can have.
pub const MAX_CUSTOM: usize = 512;

/// How long a pattern can be, and how large what is made of it.
const MAX_PATTERN: usize = 2000;
const MAX_PROGRAM: usize = 1 << 20;
const MAX_AUTOMATON: usize = 4 << 20;

/// Why a tenant's pattern is not taken.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum CustomError {
    /// It is no regular expression.
    #[error("pattern `{name}` cannot be read: {problem}")]
    Syntax {
        /// The pattern's name.
        name: String,
        /// What is wrong with it, and where.
        problem: String,
    },
    /// It would be found everywhere.
    #[error("pattern `{name}` matches the empty text; make it need at least one character")]
    Empty {
        /// The pattern's name.
        name: String,
    },
    /// It would take too much memory.
    #[error("pattern `{name}` is too large; shorten it, or lower its repetitions")]
    TooLarge {
        /// The pattern's name.
        name: String,
    },
}

/// A pattern that is ready to be tried.
pub(crate) struct Pattern {
    automaton: dense::DFA<Vec<u32>>,
    /// Whether a match can begin with a byte.
    first: [bool; 256],
    class: Class,
    rule: Arc<str>,
}

impl Pattern {
    pub(crate) fn new(name: &str, pattern: &str, class: Class) -> Result<Self, CustomError> {
        let too_large = || CustomError::TooLarge { name: name.to_owned() };
        if pattern.len() > MAX_PATTERN {
            return Err(too_large());
        }
        let hir = regex_syntax::Parser::new()
            .parse(pattern)
            .map_err(|error| CustomError::Syntax { name: name.to_owned(), problem: told(&error) })?;
        if hir.properties().minimum_len().is_none_or(|length| length == 0) {
            return Err(CustomError::Empty { name: name.to_owned() });
        }
        let program = thompson::Compiler::new()
            .configure(thompson::Config::new().nfa_size_limit(Some(MAX_PROGRAM)))
            .build_from_hir(&with_ascii_words(&hir))
            .map_err(|_| too_large())?;
        let limits = dense::Config::new()
            .start_kind(StartKind::Anchored)
            .dfa_size_limit(Some(MAX_AUTOMATON))
            .determinize_size_limit(Some(4 * MAX_AUTOMATON));
        let automaton =
            dense::Builder::new().configure(limits).build_from_nfa(&program).map_err(|_| too_large())?;
        let first = first_bytes(&automaton);
        Ok(Self { automaton, first, class, rule: name.into() })
    }

    /// Tries the pattern from `*next` on, tells of what it finds and moves `*next` to the first place that is not decided.
    pub(crate) fn search(
        &self,
        text: &[u8],
        ended: bool,
        next: &mut usize,
        mut found: impl FnMut(Candidate),
    ) {
        while let Some(step) = text[*next..].iter().position(|&byte| self.first[usize::from(byte)]) {
            *next += step;
            match self.try_at(text, *next, ended) {
                Tried::Undecided => return,
                Tried::Fits(end) => {
                    found(Candidate {
                        range: *next..end,
                        class: self.class,
                        rule: Rule::Named(Arc::clone(&self.rule)),
                        encoding: None,
                    });
                    *next = end;
                }
                Tried::Fails => *next += 1,
            }
        }
        *next = text.len();
    }

    fn try_at(&self, text: &[u8], at: usize, ended: bool) -> Tried {
        let before = at.checked_sub(1).map(|index| text[index]);
        let start = start::Config::new().look_behind(before).anchored(Anchored::Yes);
        let Ok(mut state) = self.automaton.start_state(&start) else { return Tried::Fails };
        let mut fits = None;
        // The automaton tells of a match one byte late: it has to see what follows.
        for index in at..=at + MAX_CUSTOM {
            state = match text.get(index) {
                Some(&byte) => self.automaton.next_state(state, byte),
                None if ended => self.automaton.next_eoi_state(state),
                None => return Tried::Undecided,
            };
            if self.automaton.is_match_state(state) {
                fits = Some(index);
            }
            if self.automaton.is_dead_state(state) || index >= text.len() {
                break;
            }
        }
        fits.filter(|end| *end > at).map_or(Tried::Fails, Tried::Fits)
    }
}

enum Tried {
    Fits(usize),
    Fails,
    Undecided,
}

fn first_bytes(automaton: &dense::DFA<Vec<u32>>) -> [bool; 256] {
    let mut first = [false; 256];
    // One byte of each kind that a look back tells apart.
    for before in [None, Some(b' '), Some(b'a'), Some(b'\n'), Some(b'\r')] {
        let start = start::Config::new().look_behind(before).anchored(Anchored::Yes);
        if let Ok(state) = automaton.start_state(&start) {
            for byte in 0..=u8::MAX {
                first[usize::from(byte)] |= !automaton.is_dead_state(automaton.next_state(state, byte));
            }
        }
    }
    first
}

/// The same expression with word boundaries that look at single bytes.
fn with_ascii_words(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Look(look) => Hir::look(match look {
            Look::WordUnicode => Look::WordAscii,
            Look::WordUnicodeNegate => Look::WordAsciiNegate,
            Look::WordStartUnicode => Look::WordStartAscii,
            Look::WordEndUnicode => Look::WordEndAscii,
            Look::WordStartHalfUnicode => Look::WordStartHalfAscii,
            Look::WordEndHalfUnicode => Look::WordEndHalfAscii,
            other => *other,
        }),
        HirKind::Repetition(repetition) => Hir::repetition(Repetition {
            sub: Box::new(with_ascii_words(&repetition.sub)),
            ..repetition.clone()
        }),
        HirKind::Capture(capture) => {
            Hir::capture(Capture { sub: Box::new(with_ascii_words(&capture.sub)), ..capture.clone() })
        }
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(with_ascii_words).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(with_ascii_words).collect()),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) => hir.clone(),
    }
}

/// The problem in one line; the whole message draws the pattern over several.
fn told(error: &regex_syntax::Error) -> String {
    match error {
        regex_syntax::Error::Parse(error) => {
            format!("{} at column {}", error.kind(), error.span().start.column)
        }
        regex_syntax::Error::Translate(error) => {
            format!("{} at column {}", error.kind(), error.span().start.column)
        }
        _ => "it is no regular expression".to_owned(),
    }
}
