//! What an answer took, as the vendor counts it.
//!
//! The vendor's `input_tokens` are those that neither came from its cache nor went into it; ours are all of them.

use schema::Usage;
use serde_json::{Map, Value, json};

/// What it took, in our way of counting.
pub(crate) fn read(usage: &Map<String, Value>) -> Usage {
    let count = |name| usage.get(name).and_then(Value::as_u64).unwrap_or(0);
    let within =
        |name, inner| usage.get(name).and_then(|part| part.get(inner)).and_then(Value::as_u64).unwrap_or(0);
    let read = count("cache_read_input_tokens");
    let long = within("cache_creation", "ephemeral_1h_input_tokens");
    let short = within("cache_creation", "ephemeral_5m_input_tokens");
    // The sum is what is billed; the split may be missing.
    let written = count("cache_creation_input_tokens").max(long.saturating_add(short));
    Usage {
        input_tokens: count("input_tokens").saturating_add(read).saturating_add(written),
        output_tokens: count("output_tokens"),
        cache_read_tokens: read,
        cache_write_tokens: written - long,
        cache_write_long_tokens: long,
        reasoning_tokens: within("output_tokens_details", "thinking_tokens"),
    }
}

/// What it took, in the vendor's way of counting.
pub(crate) fn write(usage: &Usage) -> Value {
    let written = usage.cache_write_tokens.saturating_add(usage.cache_write_long_tokens);
    let cached = written.saturating_add(usage.cache_read_tokens);
    let mut told = json!({
        "input_tokens": usage.input_tokens.saturating_sub(cached),
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_write_tokens,
            "ephemeral_1h_input_tokens": usage.cache_write_long_tokens,
        },
        "output_tokens": usage.output_tokens,
    });
    if usage.reasoning_tokens > 0 {
        told["output_tokens_details"] = json!({ "thinking_tokens": usage.reasoning_tokens });
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read_value(value: &Value) -> Usage {
        read(value.as_object().unwrap())
    }

    #[test]
    fn cached_tokens_are_counted_once_and_among_the_input() {
        let usage = read_value(&json!({
            "input_tokens": 10, "cache_read_input_tokens": 200, "cache_creation_input_tokens": 30,
            "cache_creation": { "ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 10 },
            "output_tokens": 5, "output_tokens_details": { "thinking_tokens": 3 },
        }));
        let expected = Usage {
            input_tokens: 240,
            output_tokens: 5,
            cache_read_tokens: 200,
            cache_write_tokens: 20,
            cache_write_long_tokens: 10,
            reasoning_tokens: 3,
        };
        assert_eq!(usage, expected);
    }

    #[test]
    fn writes_without_a_split_are_short_ones() {
        let usage =
            read_value(&json!({ "input_tokens": 1, "cache_creation_input_tokens": 30, "output_tokens": 0 }));
        assert_eq!(
            (usage.input_tokens, usage.cache_write_tokens, usage.cache_write_long_tokens),
            (31, 30, 0)
        );
    }

    proptest! {
        #[test]
        fn counting_the_vendors_way_and_back_changes_nothing(
            fresh in 0u64..1 << 40, read in 0u64..1 << 40, short in 0u64..1 << 40, long in 0u64..1 << 40,
            output_tokens in 0u64..1 << 40, reasoning_tokens in 0u64..1 << 40,
        ) {
            let usage = Usage {
                input_tokens: fresh + read + short + long,
                output_tokens,
                cache_read_tokens: read,
                cache_write_tokens: short,
                cache_write_long_tokens: long,
                reasoning_tokens,
            };
            prop_assert_eq!(read_value(&write(&usage)), usage);
        }
    }
}
