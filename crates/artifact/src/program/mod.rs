//! The language of artifacts: programs are data, and there are only as many as are written here.
//!
//! A program answers from an [`Input`] or abstains; it cannot act, wait, loop or call. `run.rs` interprets it within
//! [`Limits`], `find.rs` knows how pieces of text are found. Start at [`Program`].
//!
//! - Every program ends, on every input, in the same answer every time (`every_program_is_total_and_deterministic`).
//! - What a program does not know, it does not answer: no form has a default that was not proven.
//! - What it leaves open it names, and says what is known of it (`open.rs`); it is whole only with all of that
//!   (`a_part_is_completed_by_its_open_fields_and_by_nothing_else`).
//!
//! To add a form: a variant of [`Program`], its arm in `run.rs`, a strategy in `tests/properties.rs`.

mod find;
mod open;
mod run;

pub use find::Find;
pub use open::{Misfit, Open, complete};
pub use run::{Abstention, Input, Limits, Outcome, run};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::classify::Classifier;
use crate::normal::Read;
use crate::tag::{Layout, Tagger};

/// A program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "form", rename_all = "snake_case")]
pub enum Program {
    /// Always the same.
    Constant {
        /// The answer.
        value: Value,
    },
    /// What belongs to a key; a key that is not in the table has no answer.
    Lookup {
        /// What gives the key.
        key: Box<Self>,
        /// Key (as text) and answer.
        table: BTreeMap<String, Value>,
    },
    /// Text with other answers in it.
    Template {
        /// Pieces, in order.
        parts: Vec<Part>,
    },
    /// A piece of the input, read as what it is.
    Extract {
        /// Where it is.
        find: Find,
        /// What it is.
        read: Read,
    },
    /// All that answer have to agree; the answer is theirs.
    Consensus {
        /// At least one has to answer.
        of: Vec<Self>,
    },
    /// The first rule whose test holds.
    DecisionList {
        /// In order.
        rules: Vec<Rule>,
        /// When no test holds. `None`: no answer.
        otherwise: Option<Box<Self>>,
    },
    /// A classifier with abstention.
    Classify {
        /// The classifier; its labels are JSON texts.
        classifier: Box<Classifier>,
    },
    /// Pieces of the input by field, found by a tagger: an object of texts, a list where a field is found twice.
    Tag {
        /// The tagger. Outermost, fields that it is not sure of are named; elsewhere there is no answer then. One that
        /// knows of whole answers gives none that may lack a field.
        tagger: Box<Tagger>,
        /// What becomes of the pieces.
        #[serde(default, skip_serializing_if = "Layout::is_plain")]
        layout: Layout,
    },
    /// Two numbers into one.
    Arithmetic {
        /// How.
        operation: Operation,
        /// The first number.
        left: Box<Self>,
        /// The second number.
        right: Box<Self>,
        /// Digits after the point.
        digits: u8,
    },
    /// An object, field by field.
    Fields {
        /// In the order in which they are written.
        fields: Vec<(String, Self)>,
        /// Fields that nothing here can tell: with any, the answer is a part, and a small model may give the rest.
        delegated: Vec<Open>,
    },
    /// Calls of tools, as the model would propose them. Whether they are made is not for a program to say.
    Plan {
        /// In order.
        calls: Vec<Call>,
    },
}

impl Program {
    /// The fields that are open in every answer of it.
    #[must_use]
    pub fn open(&self) -> &[Open] {
        if let Self::Fields { delegated, .. } = self { delegated } else { &[] }
    }
}

/// A piece of a template.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Text as it is.
    Text(String),
    /// The answer of a program, as text.
    Slot(Program),
}

/// A rule of a decision list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// The words that all have to be in the text, lower case.
    pub all_of: Vec<String>,
    /// The words none of which may be.
    pub none_of: Vec<String>,
    /// The answer.
    pub value: Value,
}

/// What becomes of two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Their sum.
    Add,
    /// Their difference.
    Subtract,
    /// Their product.
    Multiply,
    /// Their quotient; none when the second is zero.
    Divide,
}

/// A call of a tool in a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The tool.
    pub tool: String,
    /// What it is given.
    pub arguments: Vec<(String, Program)>,
}
