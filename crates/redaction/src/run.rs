//! Runs of characters of which tokens are made.

/// A run that is shorter is a word.
pub(crate) const SHORTEST_RUN: usize = 8;

/// A run without a digit that is shorter is a word, too.
pub(crate) const LONG_RUN: usize = 12;

/// A run longer than this is cut here: what is longer is a picture, and no token.
pub(crate) const MAX_RUN: usize = 4096;

/// Whether a run can be anything but a word.
pub(crate) fn is_worth_a_look(run: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| run.iter().any(is);
    match run.len() {
        0..SHORTEST_RUN => false,
        16.. => true,
        length if length >= LONG_RUN && has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) => true,
        _ => has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic),
    }
}

/// How many bytes at `start` belong to an escape such as `\\n` or `\\u00a0`, and not to a token.
pub(crate) fn escape(text: &[u8], start: usize) -> usize {
    if start == 0 || text[start - 1] != b'\\' {
        return 0;
    }
    match text.get(start) {
        Some(b'n' | b'r' | b't' | b'f' | b'b') => 1,
        Some(b'u') => {
            1 + text[start + 1..].iter().take(4).take_while(|byte| byte.is_ascii_hexdigit()).count()
        }
        _ => 0,
    }
}
