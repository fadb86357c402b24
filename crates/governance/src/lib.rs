//! Governance: what an action is allowed to do.
//!
//! [`decide`] takes the rules in force, [`Facts`] and one [`Action`] and gives a [`Verdict`](schema::Verdict). It is a
//! pure function: no clock, no storage, no network, no waiting. The caller gathers the facts beforehand.
//!
//! Start at [`decide`]; `rule.rs` is the vocabulary, `permit.rs` is what a side effect needs, `replay.rs` re-derives a
//! recorded verdict for whoever verifies it.
//!
//! - Rules that cannot be read refuse; there is no path to an allow without a rule or a written default.
//! - Putting a deny in front never turns a deny into an allow (`more_denials_never_allow_more`).
//! - Only the live path can make an [`EffectPermit`]: a replay calls [`decide`] and can act on nothing.
//!
//! To change what a rule can say: `rule.rs`, the arm in [`decide`], the cells it changes in `tests/matrix.txt`, and
//! the engine's section in `docs/reference/evidence-packet.md` under a new engine name if old verdicts would change.

mod decide;
mod permit;
mod replay;
mod rule;

pub use decide::{Facts, decide};
pub use permit::{EffectPermit, LiveAuthority};
pub use replay::{ReplayError, replay};
pub use rule::{Action, ActionError, ENGINE, RuleSet, RuleSetError};
