//! What stands for a value that was taken out: `⟨email:1⟩`.

use crate::detector::{Class, Detector, Sight, Trigger, View};

/// The characters around a placeholder.
const OPEN: &[u8] = "⟨".as_bytes();
const CLOSE: &[u8] = "⟩".as_bytes();

/// Longer than any class name and any count.
const LONGEST: usize = 64;

pub(crate) const DETECTORS: &[Detector] =
    &[Detector { rule: "placeholder", class: Class::Placeholder, trigger: Trigger::Prefix(&["⟨"]), look }];

fn look(view: View<'_>) -> Sight {
    let body = view.at + OPEN.len();
    let mut index = body;
    let mut colon = None;
    loop {
        let Some(&byte) = view.text.get(index) else {
            return if view.ended { Sight::Nothing } else { Sight::Wait };
        };
        match (byte, colon) {
            (b'a'..=b'z' | b'-', None) => {}
            (b':', None) if index > body => colon = Some(index),
            (b'0'..=b'9', Some(_)) => {}
            (_, Some(colon)) if index > colon + 1 && byte == CLOSE[0] => break,
            _ => return Sight::Nothing,
        }
        index += 1;
        if index - body > LONGEST {
            return Sight::Nothing;
        }
    }
    match view.text.get(index..index + CLOSE.len()) {
        Some(close) if close == CLOSE => Sight::Found {
            range: view.at..index + CLOSE.len(),
            class: Class::Placeholder,
            rule: "placeholder",
        },
        None if !view.ended => Sight::Wait,
        _ => Sight::Nothing,
    }
}
