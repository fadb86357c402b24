//! Orders in an encoding: base64 or hexadecimal that says what would be told of plain text.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

use super::{ENCODED, Signal, plain};

/// Shorter ones hold no sentence.
const SHORTEST: usize = 32;
/// Longer ones are files; only their beginning is read.
const LONGEST: usize = 4096;

const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Finds runs whose decoded text has signals of its own.
pub(super) fn find(text: &str, signals: &mut Vec<Signal>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let length = bytes[at..].iter().take_while(|byte| is_part(**byte)).count();
        if length >= SHORTEST {
            let run = &text[at..at + length.min(LONGEST)];
            if let Some(decoded) = decoded(run).filter(|decoded| !plain(decoded).is_empty()) {
                let reason = "says in an encoding what would be told of plain text";
                drop(decoded);
                signals.push(Signal { label: ENCODED, reason, span: at..at + length });
            }
        }
        at += length.max(1);
    }
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=')
}

/// The text that the run stands for, if it is one.
fn decoded(run: &str) -> Option<String> {
    let run = run.trim_matches('=');
    let hex = run.len().is_multiple_of(2) && run.bytes().all(|byte| byte.is_ascii_hexdigit());
    let bytes = if hex {
        (0..run.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&run[at..at + 2], 16).ok())
            .collect::<Option<Vec<u8>>>()?
    } else {
        // A cut run, or one with a letter too many, still says what its beginning says.
        let whole = &run[..run.len() - run.len() % 4];
        LENIENT.decode(run.replace('-', "+").replace('_', "/")).or_else(|_| LENIENT.decode(whole)).ok()?
    };
    String::from_utf8(bytes).ok()
}
