//! Private keys as blocks of text.

use crate::detector::{Class, Detector, LOOK_AHEAD, Sight, Trigger, View};

/// PEM and PGP: from the line that begins the key to the one that ends it.
pub(crate) const DETECTOR: Detector =
    Detector { rule: "private-key", class: Class::PrivateKey, trigger: Trigger::Prefix(&["-----"]), look };

/// What PuTTY writes.
pub(crate) const PUTTY: Detector = Detector {
    rule: "putty-key",
    class: Class::PrivateKey,
    trigger: Trigger::Prefix(&["PuTTY-User-Key-File-"]),
    look: putty,
};

/// How a block begins.
const BEGIN: &[u8] = b"-----BEGIN";

/// The longest line that begins a block.
const LINE: usize = 128;

/// How far a block without an end can go: a little less than can be seen, so that what follows is never needed.
const LONGEST: usize = LOOK_AHEAD - 64;

fn look(view: View<'_>) -> Sight {
    let text = &view.text[view.at..];
    if text.len() < BEGIN.len() && !view.ended {
        return Sight::Wait;
    }
    if !text.get(..BEGIN.len()).is_some_and(|there| there.eq_ignore_ascii_case(BEGIN)) {
        return Sight::Nothing;
    }
    let line = &text[..text.len().min(LINE)];
    // What stands behind the first line says nothing of this block, however much of it is there already.
    let closed = (BEGIN.len()..line.len()).find(|at| line[*at] == b'\n' || line[*at..].starts_with(b"-----"));
    let line = &line[..closed.unwrap_or(line.len())];
    let Some(key) = position(line, b"PRIVATE KEY") else {
        let over = closed.is_some() || line.len() == LINE || view.ended;
        return if over { Sight::Nothing } else { Sight::Wait };
    };
    let body = key + b"PRIVATE KEY".len();
    match text.get(body..).and_then(|rest| end_of_block(rest).map(|end| body + end)) {
        Some(end) if end <= LONGEST => found(view, end, "private-key"),
        _ if text.len() > LONGEST => found(view, LONGEST, "private-key"),
        _ if view.ended => found(view, text.len(), "private-key"),
        _ => Sight::Wait,
    }
}

/// Where a block ends whose first line has been read up to its closing dashes.
fn end_of_block(rest: &[u8]) -> Option<usize> {
    // The first line's own dashes come first, so the end is behind the next `KEY-----` or `KEY BLOCK-----`.
    let first = position(rest, b"-----")? + 5;
    let mut from = first;
    loop {
        let dashes = from + position(&rest[from..], b"-----")?;
        let before = &rest[..dashes];
        let folded = before[before.len().saturating_sub(9)..].to_ascii_uppercase();
        if folded.ends_with(b"KEY") || folded.ends_with(b"KEY BLOCK") {
            return Some(dashes + 5);
        }
        from = dashes + 1;
    }
}

fn putty(view: View<'_>) -> Sight {
    let text = &view.text[view.at..];
    match position(text, b"Private-MAC: ") {
        Some(mac) => {
            let digits = text[mac + 13..].iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
            let end = mac + 13 + digits;
            if end == text.len() && !view.ended && end < LONGEST {
                Sight::Wait
            } else {
                found(view, end.min(LONGEST), "putty-key")
            }
        }
        None if text.len() > LONGEST => found(view, LONGEST, "putty-key"),
        None if view.ended => found(view, text.len(), "putty-key"),
        None => Sight::Wait,
    }
}

fn found(view: View<'_>, length: usize, rule: &'static str) -> Sight {
    Sight::Found { range: view.at..view.at + length, class: Class::PrivateKey, rule }
}

/// Where `part` stands in `text`, in any ASCII case.
fn position(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window.eq_ignore_ascii_case(part))
}
