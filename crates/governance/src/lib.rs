//! Governance: what an action is allowed to do.
//!
//! [`decide`] takes the policies in force, [`Facts`] and one [`Action`] and gives a [`Verdict`](schema::Verdict). It is a
//! pure function: no clock, no storage, no network, no waiting. The caller gathers the facts beforehand: who asks and how
//! far they are trusted, what it would cost, how far limits are used up, what untrusted text had to do with it, what people
//! have approved.
//!
//! Start at [`decide`]; `policy/` is what a file in YAML can say, `cedar/` asks those in the Cedar language (the feature
//! `cedar`; without it they are refused), `set.rs` is the files as one value that is quick to ask, `load.rs` how they are
//! read, `facts.rs` what is known. `permit.rs` is what a side effect needs, `replay.rs` re-derives a recorded verdict for
//! whoever verifies it, `trust.rs` is how an agent's behaviour becomes a score.
//!
//! - The strictest voice decides: a denying rule more, or another voice, never turns a denial into an allow
//!   (`more_denials_never_allow_more`).
//! - What is not known is never a reason to allow: a condition over it holds for rules that hold something back, and for no
//!   other.
//! - An approval lifts the question it answers, and no denial; an exception lifts a policy, and no limit.
//! - Only the live path can make an [`EffectPermit`]: a replay calls [`decide`] and can act on nothing.
//!
//! To change what a rule can say: see `policy/mod.rs`. What would change old verdicts is a new engine under a new name.

mod action;
pub mod approval;
mod budget;
#[cfg(feature = "cedar")]
mod cedar;
#[cfg(not(feature = "cedar"))]
#[path = "without_cedar.rs"]
mod cedar;
mod decide;
mod exception;
mod facts;
mod load;
mod permit;
pub mod policy;
mod replay;
mod rules_one;
mod set;
pub mod tripwire;
pub mod trust;

pub use action::{Action, ActionError, Pattern};
pub use budget::{Budget, Spender};
pub use decide::{LimitAsked, Opinion, Voice, decide, explain, limits};
pub use exception::Exception;
pub use facts::{Excepted, Facts, Granted, Meter, Remote, Shaped};
pub use load::{LoadError, PolicyFile, load};
pub use permit::{EffectPermit, LiveAuthority};
pub use replay::{ENGINE, ReplayError, replay};
pub use set::{PolicySet, SetError};
