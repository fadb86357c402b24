//! When two tool calls are the same.

use ledger::canonical::{self, CanonicalError};
use schema::{Digest, Subject};
use serde_json::{Value, json};

/// The longest that a tool's result is kept: a day.
pub const MAX_TTL_SECONDS: u64 = 24 * 60 * 60;

/// What the result of a tool call is kept under.
///
/// # Errors
/// The arguments have no canonical form.
pub fn tool_key(tool: &str, subject: Option<&Subject>, args: &Value) -> Result<Digest, CanonicalError> {
    let whole = json!({ "punk": "tool/1", "tool": tool, "subject": subject, "args": args });
    Ok(ledger::sha256(&canonical::to_vec(&whole)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tool_the_subject_and_the_arguments_are_in_the_key_and_their_order_is_not() {
        let subject = Subject::try_from("user-7".to_owned()).unwrap();
        let key = |tool, subject, args: Value| tool_key(tool, subject, &args).unwrap();
        let plain = key("crm", None, json!({ "id": 1, "deep": true }));
        assert_eq!(plain, key("crm", None, json!({ "deep": true, "id": 1 })));
        assert_ne!(plain, key("crm2", None, json!({ "id": 1, "deep": true })));
        assert_ne!(plain, key("crm", Some(&subject), json!({ "id": 1, "deep": true })));
        assert_ne!(plain, key("crm", None, json!({ "id": 2, "deep": true })));
    }
}
