//! Learning a classifier: a linear learner (`dual.rs`), the trust in it (`trust.rs`, `logistic.rs`), and its versions (`learner.rs`).
mod dual;
pub(crate) use dual::shuffle;
mod learner;
pub(crate) mod logistic;
mod trust;
pub use learner::{Learner, MOST_LABELS};
