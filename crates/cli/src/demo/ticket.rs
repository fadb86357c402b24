//! What the customers write: the same kinds of tickets again and again, never the same words twice.

/// What the agent is told to do with every ticket.
pub(super) const INSTRUCTIONS: &str = "Triage this support ticket. Choose one of these labels: billing, delivery, technical, account. \
                                       Answer with the label alone.";

/// The kinds of tickets, each with what people write then; `#` is a number.
const KINDS: [[&str; 4]; 4] = [
    [
        "I was charged twice on invoice #.",
        "The payment for invoice # shows an extra fee.",
        "Why is there a charge of # euros on my bill?",
        "My subscription # was billed at the wrong price.",
    ],
    [
        "Where is my parcel #? The courier never came.",
        "The package with order # has not arrived.",
        "Track shipment # please, the delivery is late.",
        "My delivery # is at the wrong address.",
    ],
    [
        "The app shows error # and a crash on start.",
        "Export # is failing with an exception.",
        "There is a bug: page # is slow and broken.",
        "Sync # has a technical issue and will fail.",
    ],
    [
        "I cannot login, my password # is rejected.",
        "Please change the username of my profile #.",
        "My account # is locked after a signin.",
        "How do I reset the password of account #?",
    ],
];

/// The ticket at a place in the queue. The same place is always the same ticket.
pub(super) fn ticket(at: u64) -> String {
    let draw = (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) as usize;
    let text = KINDS[draw % KINDS.len()][draw / KINDS.len() % KINDS[0].len()];
    text.replace('#', &(4_000 + at).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_tickets_are_alike_and_all_kinds_come() {
        let tickets: HashSet<String> = (0..2_000).map(ticket).collect();
        assert_eq!(tickets.len(), 2_000);
        for template in KINDS.as_flattened() {
            let begins = template.split('#').next().unwrap();
            assert!(tickets.iter().any(|ticket| ticket.starts_with(begins)), "{template}");
        }
    }
}
