//! What the request allows: where to stop, how much room there is, what goes along.

use serde_json::{Value, json};
use wire::{Choice, Effort, Part, Request, Stop, ToolCall};

use super::hash;
use super::prompt::Prompt;
use crate::tokens::{rough, split};

/// A thought before the answer, when thinking is asked for.
pub(super) fn thought(request: &Request, prompt: &Prompt<'_>) -> Option<Part> {
    let reasoning = request.reasoning.as_ref()?;
    if reasoning.effort == Some(Effort::None) || reasoning.budget_tokens == Some(0) {
        return None;
    }
    let asked: String = prompt.asked.chars().take(120).collect();
    let mut text = format!("The user says: {asked}. ");
    match (prompt.results.len(), request.tools.len()) {
        (0, 0) => text.push_str("I answer from what I was told."),
        (0, tools) => text.push_str(&format!("There are {tools} tools; one of them may help.")),
        (results, _) => text.push_str(&format!("The tools gave {results} results, which I repeat.")),
    }
    let signature = format!("mock-{:016x}", hash(text.as_bytes()));
    Some(Part::Thinking { text, signature: Some(signature) })
}

/// The answer as far as the request lets it go.
pub(super) fn within(request: &Request, parts: Vec<Part>, stop: Stop) -> Choice {
    let mut stop = stop;
    let mut room = request.sampling.max_tokens.unwrap_or(u64::MAX);
    let mut kept = Vec::new();
    for part in parts {
        let (part, cut) = match part {
            Part::Text { text, .. } => {
                let (text, met) = until_stop(text, &request.sampling.stop);
                if let Some(met) = met {
                    stop = Stop::Sequence(Some(met));
                }
                let (text, cut) = fit(text, room);
                room -= rough(&text).min(room);
                (Part::text(text), cut)
            }
            Part::Thinking { text, signature } => {
                let (text, cut) = fit(text, room);
                room -= rough(&text).min(room);
                (Part::Thinking { text, signature: signature.filter(|_| !cut) }, cut)
            }
            Part::ToolCall(call) => {
                let (arguments, cut) = fit(call.arguments, room);
                room -= rough(&arguments).min(room);
                (Part::ToolCall(ToolCall { arguments, ..call }), cut)
            }
            other => (other, false),
        };
        // A text of no words was not said.
        if part.as_text() != Some("") {
            kept.push(part);
        }
        if cut {
            stop = Stop::Length;
            break;
        }
    }
    let spoken = kept.iter().any(|part| part.as_text().is_some());
    let logprobs = (request.sampling.logprobs && spoken)
        .then(|| logprobs(&kept, request.sampling.top_logprobs.unwrap_or(0)));
    Choice { parts: kept, stop: Some(stop), logprobs }
}

/// The text up to the first of the texts at which to stop, and which that was.
fn until_stop(mut text: String, stops: &[String]) -> (String, Option<String>) {
    let places = stops
        .iter()
        .filter(|stop| !stop.is_empty())
        .filter_map(|stop| Some((text.find(stop.as_str())?, stop)));
    let Some((place, stop)) = places.min_by_key(|(place, stop)| (*place, std::cmp::Reverse(stop.len())))
    else {
        return (text, None);
    };
    let stop = stop.clone();
    text.truncate(place);
    (text, Some(stop))
}

/// As much of the text as there is room for, and whether that is not all.
fn fit(mut text: String, room: u64) -> (String, bool) {
    let room = usize::try_from(room).unwrap_or(usize::MAX);
    let length: usize = split(&text).take(room).map(str::len).sum();
    let cut = length < text.len();
    text.truncate(length);
    (text, cut)
}

/// Probabilities in the shape that OpenAI's clients read; made up, and always the same for the same word.
fn logprobs(parts: &[Part], alternatives: u64) -> Value {
    let text: String = parts.iter().filter_map(Part::as_text).collect();
    let entry = |token: &str, rank: u64| {
        let chance = hash(format!("{token}{rank}").as_bytes()) % 1000;
        let logprob = -(chance as f64 / 10_000.0) - rank as f64 * 1.5;
        json!({ "token": token, "logprob": logprob, "bytes": token.as_bytes() })
    };
    let content: Vec<Value> = split(&text)
        .map(|token| {
            let mut said = entry(token, 0);
            let others = (1..alternatives.min(20)).map(|rank| entry(&format!("{token}{rank}"), rank));
            let first = (alternatives > 0).then(|| said.clone());
            said["top_logprobs"] = first.into_iter().chain(others).collect();
            said
        })
        .collect();
    json!({ "content": content, "refusal": null })
}
