//! What a judgement costs.

use std::hint::black_box;
use std::time::Instant;

use provenance::{Call, Conversation, Settings, Trace, Turn};
use serde_json::{Value, json};

/// Microseconds for a conversation of twenty messages and fifty kilobytes, read and judged.
const BAR: f64 = 1000.0;

/// Prints what reading a conversation and judging a call cost, and whether the bar is met.
pub(crate) fn report(settings: &Settings) -> bool {
    // No two mails alike, as in life: repeated text would be kinder to every cache.
    let prose = |seed: u64| {
        let letter = |at: u64| char::from(b'a' + u8::try_from(at % 26).unwrap());
        let word = |at: u64| {
            let mut dice = (seed * 97 + at).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 24;
            let mut word: String = (0..2 + at % 7)
                .map(|_| {
                    dice /= 26;
                    letter(dice)
                })
                .collect();
            word.push_str(if at.is_multiple_of(11) { ". " } else { " " });
            word
        };
        let words: String = (0..85).map(word).collect();
        format!("As ann@example.org wrote on 2024-05-15: {words}for 12.50 near the old mill.")
    };
    let mut turns =
        vec![Turn::User { text: "Please send a summary of the notes to bob@example.org.".into() }];
    for at in 0..19 {
        let mails: Vec<Value> = (0..5)
            .map(|mail| json!({ "id_": at * 5 + mail, "sender": "ann@example.org", "subject": "Notes", "body": prose(at * 5 + mail) }))
            .collect();
        turns.push(Turn::Result {
            call: None,
            tool: "search_emails".into(),
            output: json!(mails),
            digest: None,
        });
    }
    let conversation = Conversation { tools: Vec::new(), turns, influences: Vec::new() };
    let bytes = serde_json::to_vec(&conversation.turns).unwrap().len();
    let arguments = json!({ "recipients": ["bob@example.org"], "subject": "Summary", "body": prose(1000) });
    let call =
        Call { id: None, tool: "send_email".into(), arguments: arguments.as_object().cloned().unwrap() };
    let trace = Trace::read(settings, &conversation);
    let judging = micros(2_000, || trace.judge(black_box(&call)));
    let reading = micros(500, || Trace::read(settings, black_box(&conversation)));
    let met = reading + judging <= BAR;
    println!(
        "\n20 messages of {} KB: read in {reading:.0} µs, a call judged in {judging:.0} µs (bar {BAR:.0} µs for both): {}",
        bytes / 1024,
        if met { "met" } else { "MISSED" }
    );
    met
}

/// The median of `times` calls.
fn micros<T>(times: usize, mut what: impl FnMut() -> T) -> f64 {
    let mut all: Vec<f64> = (0..times)
        .map(|_| {
            let began = Instant::now();
            black_box(what());
            began.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}
