//! How long a request is: Anthropic's `/v1/messages/count_tokens`.

use serde_json::{Value, json};

use crate::messages;
use crate::request::{Refused, Request};

/// Reads what is to be counted: a request of the messages wire that says nothing of its answer's length.
pub fn read(body: &Value) -> Result<Request, Refused> {
    messages::read_count(body)
}

/// Writes what was counted.
#[must_use]
pub fn write(input_tokens: u64) -> Value {
    json!({ "input_tokens": input_tokens })
}

/// Reads what an upstream counted, if it says.
#[must_use]
pub fn read_answer(body: &Value) -> Option<u64> {
    body.get("input_tokens")?.as_u64()
}
