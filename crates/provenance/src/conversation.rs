//! What was said and done before an action was proposed, in the order it happened.

use schema::Digest;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Everything that could have shaped an action.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Conversation {
    /// The tools that may be called, as the model was told about them.
    pub tools: Vec<Tool>,
    /// What was said, called and returned, oldest first.
    pub turns: Vec<Turn>,
    /// What else reached the model: memories, documents, web pages.
    pub influences: Vec<Influence>,
}

/// Something the model may call, as it was told about it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it does, in its author's words.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub parameters: Value,
}

/// One step of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "role")]
pub enum Turn {
    /// Rules of whoever runs the agent. Values in it are trusted; it asks for no action, because such texts list everything
    /// an agent can do. Where it is the only mandate there is, hand it in as the user's words.
    System {
        /// The words.
        text: String,
    },
    /// What the user wants, in the user's own words.
    User {
        /// The words.
        text: String,
    },
    /// What the model said and called. Its words vouch for nothing: anybody may have put them into its mouth.
    Assistant {
        /// The calls, in order.
        calls: Vec<Call>,
    },
    /// What a tool gave back.
    Result {
        /// The call that it answers; absent when the wire has no ids, and then it answers the last call of that tool.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<String>,
        /// The tool.
        tool: String,
        /// JSON, or a text; a text that is a printed record is read as one.
        output: Value,
        /// The digest of the output, for influences that vouch for content.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        digest: Option<Digest>,
    },
}

/// A tool call, done or proposed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Call {
    /// Its id, where the wire has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The tool.
    pub tool: String,
    /// The arguments.
    #[serde(default)]
    pub arguments: Map<String, Value>,
}

/// Something that reached the model on another way than a tool's result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Influence {
    /// Where it came from. A `verified` one covers what has the same source: a tool's name, the id of a call, or the
    /// source of another influence.
    pub source: String,
    /// How far it is trusted.
    pub lane: Lane,
    /// The digest of its content. A `verified` one covers whatever has the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// What it says, where that is known. What is not known may say anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// How far an influence is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lane {
    /// Written by strangers.
    Untrusted,
    /// Seen before, vouched for by nobody.
    Observed,
    /// Checked against its source.
    Verified,
    /// Read and approved by a person.
    HumanApproved,
}

impl Lane {
    /// Whether somebody vouches for it.
    #[must_use]
    pub const fn is_vouched(self) -> bool {
        matches!(self, Self::Verified | Self::HumanApproved)
    }
}
