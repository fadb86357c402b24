//! The clock: the one place where this shell reads the time.

use jiff::Timestamp;

/// The time now.
#[expect(clippy::disallowed_methods, reason = "a shell reads its clock in one place, and this is it")]
pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}

/// The same as ledgers and jobs name it. Before 1970 and after 9999 it stands still at the nearest moment they can name.
pub(crate) fn wall() -> schema::Timestamp {
    let millis = u64::try_from(now().as_millisecond()).unwrap_or(0);
    schema::Timestamp::from_millis(millis).unwrap_or(schema::Timestamp::LAST)
}
