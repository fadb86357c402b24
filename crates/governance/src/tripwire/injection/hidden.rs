//! Text that a person does not see: characters without a shape, directions turned around, and what a page does not show.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::{HIDDEN, Signal};

/// How far behind the beginning of something hidden a machine has to be spoken to.
const NEAR: usize = 400;
/// Variation selectors in a row that write no letter any more.
const SELECTORS: usize = 4;

/// How pages hide text. All of it is common on honest pages, so it tells only where the text speaks to a machine.
const UNSHOWN: &[&str] = &[
    "display:none",
    "display: none",
    "visibility:hidden",
    "visibility: hidden",
    "font-size:0",
    "font-size: 0",
    "font-size:1px",
    "opacity:0",
    "opacity: 0",
    "color:white",
    "color: white",
    "color:#fff",
    "color: #fff",
    "text-indent:-",
    "<!--",
    "[//]: #",
    "[comment]: #",
    " hidden>",
];

static FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).ascii_case_insensitive(true).build(UNSHOWN).ok()
});

/// Finds hidden text. `addressed` are the places at which a machine is spoken to, in order.
pub(super) fn find(text: &str, addressed: &[usize], signals: &mut Vec<Signal>) {
    characters(text, signals);
    let Some(finder) = FINDER.as_ref().filter(|_| !addressed.is_empty()) else { return };
    for hit in finder.find_iter(text) {
        let next = addressed.partition_point(|place| *place < hit.start());
        let end = text[hit.start()..].bytes().take(NEAR).len() + hit.start();
        if addressed.get(next).is_some_and(|place| *place < end) {
            let reason = "speaks to a machine where a person sees nothing";
            signals.push(Signal { label: HIDDEN, reason, span: hit.range() });
        }
    }
}

/// Characters that write nothing and mean something.
fn characters(text: &str, signals: &mut Vec<Signal>) {
    // Text in ASCII has none of them.
    if text.is_ascii() {
        return;
    }
    let mut tell = |reason, start: usize, end: usize| match signals.last_mut() {
        Some(Signal { label: HIDDEN, reason: last, span }) if *last == reason && start <= span.end + 8 => {
            span.end = end;
        }
        _ => signals.push(Signal { label: HIDDEN, reason, span: start..end }),
    };
    let mut before = ' ';
    let mut selectors = 0;
    let mut flag = false;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let end = at + letter.len_utf8();
        let next = letters.peek().map_or(' ', |(_, next)| *next);
        selectors = if matches!(letter, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}') {
            selectors + 1
        } else {
            0
        };
        match letter {
            // The flags of regions are written with them.
            '\u{1f3f4}' => flag = true,
            '\u{e0000}'..='\u{e007f}' if !flag => tell("has letters that no screen shows", at, end),
            '\u{e0000}'..='\u{e007f}' => flag = letter != '\u{e007f}',
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                tell("turns the direction of its letters around", at, end);
            }
            '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{ad}'
                if before.is_ascii_alphabetic() && (next.is_ascii_alphabetic() || is_joint(next)) =>
            {
                tell("has characters without a shape inside its words", at, end);
            }
            _ if selectors >= SELECTORS => tell("has letters that no screen shows", at, end),
            _ => {}
        }
        if !is_joint(letter) {
            before = letter;
        }
    }
}

fn is_joint(letter: char) -> bool {
    matches!(letter, '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}
