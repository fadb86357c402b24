//! What messages are made of.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// Words.
    Text {
        /// The words.
        text: String,
        /// What an Anthropic caller said about caching up to here, as it was sent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cache_control: Option<Value>,
    },
    /// A picture.
    Image {
        /// Where it is.
        source: ImageSource,
        /// How closely to look, as an OpenAI caller said it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
    },
    /// A document, such as a PDF.
    File {
        /// Where it is.
        source: ImageSource,
        /// What it is called.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// What the model thought before it answered.
    Thinking {
        /// The thought, or its summary.
        text: String,
        /// The vendor's seal on it, which it wants back unchanged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    /// A thought that only the vendor can read.
    RedactedThinking {
        /// The sealed thought.
        data: String,
    },
    /// The model's words for a refusal.
    Refusal {
        /// The words.
        text: String,
    },
    /// The model wants a tool called.
    ToolCall(ToolCall),
    /// What a tool gave.
    ToolResult(ToolResult),
    /// Something that only the wire it came by knows: passed on there, refused elsewhere.
    Foreign {
        /// As it was sent.
        value: Value,
    },
    /// The same, which stood beside what was said: an item between messages (Responses), a call or a sound of a message
    /// (Chat). What it calls itself does not tell it from the former: an item may bear the name of a part.
    Beside {
        /// As it was sent.
        value: Value,
    },
}

impl Part {
    /// Plain words.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), cache_control: None }
    }

    /// The words, if that is what it is.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text, .. } => Some(text),
            _ => None,
        }
    }
}

/// Where a picture or a document is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ImageSource {
    /// Somewhere else.
    Url {
        /// The address.
        url: String,
    },
    /// Right here.
    Base64 {
        /// What it is, such as `image/png`.
        media_type: String,
        /// The bytes, in base64.
        data: String,
    },
    /// With the vendor, uploaded before.
    FileId {
        /// The vendor's id.
        id: String,
    },
}

/// A call the model wants made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// What the result will refer to.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments as JSON text, exactly as the model wrote them.
    pub arguments: String,
}

/// What a call gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The call.
    pub call: String,
    /// What it gave: texts and pictures.
    pub content: Vec<Part>,
    /// Whether it failed.
    #[serde(default)]
    pub failed: bool,
}
