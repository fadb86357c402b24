//! Learning a classifier: a linear learner (`dual.rs`) that also judges what it has not learned (`crossed.rs`), the trust in it
//! (`trust.rs`, `logistic.rs`), and its versions (`learner.rs`).
mod crossed;
mod dual;
pub(crate) use dual::shuffle;
mod learner;
pub(crate) mod logistic;
mod trust;
pub use learner::{Learner, MOST_LABELS};
