//! The clock: the one place where this shell reads the time.

use jiff::Timestamp;

/// The time now.
#[expect(clippy::disallowed_methods, reason = "a shell reads its clock in one place, and this is it")]
pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}
