//! What was said in a conversation, read from the runs that have it. What is not there any more is nothing.

use ledger::Event;
use schema::TenantId;
use serde_json::Value;
use wire::Answer;

use super::ShownTurn;
use super::kept::{Conversation, DESCRIBED, Turn, Words};
use crate::app::App;
use crate::append::events;
use crate::error::ApiError;

/// How many characters of its first words a conversation goes by.
const SHORT: usize = 60;

/// The title and the instructions of a conversation.
pub(super) async fn of(app: &App, tenant: TenantId, conversation: &Conversation) -> Result<Words, ApiError> {
    let events = events(app, tenant, conversation.described_in).await?;
    let text = |name| field(&events, DESCRIBED, name).and_then(|value| value.as_str().map(str::to_owned));
    Ok(Words { title: text("title"), system: text("system") })
}

/// A turn with its words.
pub(super) async fn turn(app: &App, tenant: TenantId, turn: &Turn) -> Result<ShownTurn, ApiError> {
    let events = events(app, tenant, turn.run).await?;
    Ok(ShownTurn {
        run_id: turn.run,
        at: turn.at,
        content: said(&events),
        reply: answered(&events),
        model: turn.model.clone(),
        route: turn.route,
        cost_usd: turn.cost,
        saved_usd: turn.saved,
        latency_ms: turn.latency_ms,
    })
}

/// The first words of a turn, to go by.
pub(super) async fn first(app: &App, tenant: TenantId, turn: &Turn) -> Result<Option<String>, ApiError> {
    Ok(said(&events(app, tenant, turn.run).await?).map(|text| shortened(&text)))
}

fn shortened(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(SHORT) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text,
    }
}

/// What was said last in what was asked.
fn said(events: &[Event]) -> Option<String> {
    let request = field(events, "run.started", "request")?;
    let last = request.get("messages")?.as_array()?.last()?;
    last.get("content")?.as_str().map(str::to_owned)
}

fn answered(events: &[Event]) -> Option<String> {
    let answer = field(events, "run.finished", "answer")?;
    serde_json::from_value(answer.clone()).ok().map(|answer: Answer| answer.text())
}

fn field<'e>(events: &'e [Event], r#type: &str, name: &str) -> Option<&'e Value> {
    events.iter().find(|event| event.r#type == r#type)?.payload.get(name)?.value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_goes_by_its_first_words() {
        assert_eq!(shortened("Where is\n my  parcel?"), "Where is my parcel?");
        let long = "word ".repeat(30);
        let short = shortened(&long);
        assert!(short.ends_with("word…") && short.chars().count() <= SHORT + 1, "{short}");
        assert_eq!(shortened(&"ü".repeat(61)), format!("{}…", "ü".repeat(60)));
    }
}
