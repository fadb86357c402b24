//! The built-in provider: deterministic, free, offline.

use schema::{MicroUsd, Usage};

use crate::chat::{Answer, Chat, FinishReason, Role};

/// What the recorded calls name as their provider.
pub const NAME: &str = "mock";

/// Answers a chat. The same chat always gets the same answer.
#[must_use]
pub fn answer(chat: &Chat) -> Answer {
    let asked = chat.messages.iter().rev().find(|message| message.role == Role::User);
    let content = match asked {
        Some(message) => format!("You said: {}", message.content),
        None => "Nobody has asked anything yet.".to_owned(),
    };
    let input_tokens = chat.messages.iter().map(|message| tokens(&message.content)).sum();
    let usage = Usage { input_tokens, output_tokens: tokens(&content) };
    Answer {
        model: chat.model.clone(),
        content,
        finish_reason: FinishReason::Stop,
        usage,
        cost: Some(MicroUsd(0)),
    }
}

/// A rough count, four characters a token, as good as any for a model that does not exist.
fn tokens(text: &str) -> u64 {
    text.chars().count().div_ceil(4) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::Message;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_same_chat_gets_the_same_answer(content in ".*") {
            let chat = Chat { model: "mock-small".into(), messages: vec![Message { role: Role::User, content }] };
            prop_assert_eq!(answer(&chat), answer(&chat));
        }
    }
}
