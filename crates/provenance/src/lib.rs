//! Provenance: where the words of an action came from.
//!
//! An agent reads what strangers wrote, and then acts. [`Trace::read`] takes a conversation in once; [`Trace::judge`] then
//! says of a proposed tool call where each of its values came from ([`Origin`]) and whether untrusted text could have shaped
//! it ([`Finding`]): if so, a person has to look at it. It is pure: no clock, no storage, no network, no model. What is
//! deliberately absent is any attempt to tell an attack from a harmless text by its looks.
//!
//! Start at `judge.rs`, which has the rules; `trace.rs` labels what was read, `said.rs` knows the user's words, `strangers.rs`
//! everybody else's. `infer.rs` guesses about tools that nobody declared, for operators who opt in.
//! `docs/explanation/provenance.md` says why the rules are what they are, and what they cannot see.
//!
//! - Where nothing untrusted was read, every action is clean.
//! - Untrusted text, however much of it, never makes a shaped action clean (`more_untrusted_text_never_makes_clean`), and
//!   neither does taking words of the user away (`fewer_words_of_the_user_never_make_clean`).
//! - A label follows its value: what went from untrusted text into a call is untrusted wherever it comes back.
//! - A finding names places and never repeats values.
//!
//! To add a rule: a variant of [`Reason`], its line in `judge.rs`, a scenario in `tests/scenarios.json`, and the figures of
//! `cargo bench -p provenance` before and after.

mod conversation;
mod finding;
mod infer;
mod intent;
mod judge;
mod kind;
mod leaf;
mod notation;
mod said;
mod settings;
mod strangers;
mod thesaurus;
mod tool;
mod trace;
mod words;

pub use conversation::{Call, Conversation, Influence, Lane, Tool, Turn};
pub use finding::{Argument, Finding, Judgement, Origin, Reason, Source};
pub use notation::read as read_printed;
pub use settings::{Coverage, Declaration, Label, Role, Settings, Undeclared};
pub use trace::Trace;
