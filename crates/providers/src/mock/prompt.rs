//! The prompt: what of a request matters to an answer.

use wire::{ImageSource, Part, Request, Role};

/// What was asked.
pub(super) struct Prompt<'a> {
    /// The rules, as one text.
    pub(super) system: String,
    /// The last thing that the user said in words.
    pub(super) asked: String,
    /// What tools gave since, with the name of the tool when it is known, and whether it failed.
    pub(super) results: Vec<(Option<&'a str>, String, bool)>,
    /// Pictures and documents in the last message, by what they are.
    pub(super) pictures: Vec<String>,
}

impl<'a> Prompt<'a> {
    pub(super) fn of(request: &'a Request) -> Self {
        let texts = |parts: &[Part]| parts.iter().filter_map(Part::as_text).collect::<Vec<_>>().join("\n");
        let of = |role| request.messages.iter().filter(move |message| message.role == role);
        let system = of(Role::System).map(|message| texts(&message.parts)).collect::<Vec<_>>().join("\n");
        let asked =
            of(Role::User).rev().map(|message| texts(&message.parts)).find(|text| !text.trim().is_empty());
        let last = request.messages.last().filter(|message| message.role == Role::User);
        let pictures = last.map_or_else(Vec::new, |last| last.parts.iter().filter_map(picture).collect());
        Self { system, asked: asked.unwrap_or_default(), results: results(request), pictures }
    }

    /// Whether the rules or the user speak of any of these words, which begin a word of theirs.
    pub(super) fn speaks_of(&self, beginnings: &[&str]) -> bool {
        [&self.system, &self.asked].into_iter().any(|text| mentions(text, beginnings))
    }
}

/// Whether a word of `text` begins with one of these.
pub(super) fn mentions(text: &str, beginnings: &[&str]) -> bool {
    super::text::words(text)
        .iter()
        .any(|word| beginnings.iter().any(|beginning| word.text.starts_with(beginning)))
}

/// What tools gave after the model last spoke.
fn results(request: &Request) -> Vec<(Option<&str>, String, bool)> {
    let name = |id: &str| {
        request.messages.iter().rev().flat_map(|message| &message.parts).find_map(|part| match part {
            Part::ToolCall(call) if call.id == id => Some(call.name.as_str()),
            _ => None,
        })
    };
    let since = request
        .messages
        .iter()
        .rposition(|message| message.role == Role::Assistant)
        .map_or(0, |last| last + 1);
    let parts = request.messages[since..].iter().flat_map(|message| &message.parts);
    parts
        .filter_map(|part| match part {
            Part::ToolResult(result) => {
                let text = result.content.iter().filter_map(Part::as_text).collect::<Vec<_>>().join("\n");
                Some((name(&result.call), text, result.failed))
            }
            _ => None,
        })
        .collect()
}

fn picture(part: &Part) -> Option<String> {
    let kind = |source: &ImageSource| match source {
        ImageSource::Url { url } => url.chars().take(80).collect(),
        ImageSource::Base64 { media_type, .. } => media_type.clone(),
        ImageSource::FileId { id } => id.clone(),
    };
    match part {
        Part::Image { source, .. } => Some(format!("a picture ({})", kind(source))),
        Part::File { source, name } => {
            Some(format!("a document ({})", name.clone().unwrap_or_else(|| kind(source))))
        }
        _ => None,
    }
}
