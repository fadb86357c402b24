//! Ids that are told freely though they look thrown together: those of our own kind, and those that providers give to what models say.
//!
//! Ours are a word of letters, and a UUID in 26 characters of base32.

/// Crockford's alphabet in lower case has no `i`, `l`, `o` and `u`.
fn is_base32(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'h' | b'j' | b'k' | b'm' | b'n' | b'p'..=b't' | b'v'..=b'z')
}

/// How providers begin the ids of messages, calls, runs and answers.
const GIVEN: &[&[u8]] = &[
    b"call_",
    b"toolu_",
    b"srvtoolu_",
    b"msg_",
    b"chatcmpl-",
    b"cmpl-",
    b"resp_",
    b"run_",
    b"req_",
    b"asst_",
    b"thread_",
    b"step_",
    b"batch_",
    b"fc_",
    b"rs_",
    b"fp_",
    b"ftjob-",
    b"modr-",
    b"gen-",
];

/// Whether a value is an id that may be told.
pub(crate) fn is_id(value: &[u8]) -> bool {
    is_type_id(value) || is_given(value)
}

fn is_given(value: &[u8]) -> bool {
    GIVEN.iter().any(|beginning| {
        let rest = value.strip_prefix(*beginning);
        rest.is_some_and(|rest| (8..=64).contains(&rest.len()) && rest.iter().all(u8::is_ascii_alphanumeric))
    })
}

/// Whether a value is an id of ours, like `run_01m7jthkm7f9h9bb9y9jgc6ghs`.
fn is_type_id(value: &[u8]) -> bool {
    let Some(joint) = value.iter().rposition(|byte| *byte == b'_') else { return false };
    let (word, id) = (&value[..joint], &value[joint + 1..]);
    (2..=24).contains(&word.len())
        && word.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'_')
        && id.len() == 26
        && id[0] <= b'7'
        && id.iter().all(|byte| is_base32(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_word_and_a_uuid() {
        assert!(is_type_id(b"run_01m7jthkm7f9h9bb9y9jgc6ghs"));
        assert!(is_type_id(b"api_key_00000000000000000000000000"));
        for other in [
            "run_81m7jthkm7f9h9bb9y9jgc6ghs",
            "run_01m7jthkm7f9h9bb9y9jgc6gh",
            "01m7jthkm7f9h9bb9y9jgc6ghs",
            "Run_01m7jthkm7f9h9bb9y9jgc6ghs",
            "run_01m7jthkm7f9h9bb9y9jgc6ghu",
        ] {
            assert!(!is_type_id(other.as_bytes()), "{other}");
        }
    }
}
