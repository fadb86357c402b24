//! How much to think, in words and in tokens.

use crate::request::{Effort, Reasoning, Request};
use crate::wire::Wire;

impl Effort {
    /// The vendors' word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }

    /// Reads the vendors' word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        let all = [Self::None, Self::Minimal, Self::Low, Self::Medium, Self::High, Self::Xhigh, Self::Max];
        all.into_iter().find(|effort| effort.as_str() == word)
    }
}

impl Reasoning {
    /// In words, also if it was said in tokens: up to 4,096 is low, up to 16,384 is medium, more is high.
    #[must_use]
    pub fn in_words(&self) -> Option<Effort> {
        self.effort.or_else(|| match self.budget_tokens? {
            0 => Some(Effort::None),
            1..=4_096 => Some(Effort::Low),
            4_097..=16_384 => Some(Effort::Medium),
            _ => Some(Effort::High),
        })
    }
}

/// OpenAI's word for how much to think, which knows no more than `xhigh`.
///
/// Its older models refuse to be told. What an Anthropic caller says in tokens is a hint that they can do without, and is
/// named in `left_out`; in OpenAI's own words it is passed on, and theirs to refuse.
pub(crate) fn for_openai(request: &Request, left_out: &mut Vec<String>) -> Option<&'static str> {
    let effort = request.reasoning.as_ref()?.in_words()?;
    let model = request.model.rsplit('/').next().unwrap_or(&request.model);
    let older = ["gpt-4", "gpt-3.5", "chatgpt-"].iter().any(|name| model.starts_with(name));
    if older && request.wire == Wire::Messages {
        left_out.push("thinking".to_owned());
        return None;
    }
    Some(if effort == Effort::Max { Effort::Xhigh } else { effort }.as_str())
}
