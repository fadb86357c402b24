//! A conversation, read once, so that the actions that follow from it can be judged.

use std::collections::{HashMap, HashSet};

use schema::Digest;
use serde_json::Value;

use crate::conversation::{Call, Conversation, Tool, Turn};
use crate::finding::{Judgement, Origin, Reason, Source};
use crate::infer::is_query;
use crate::kind::{identities, is_opaque};
use crate::leaf::{Fact, Leaf, leaves};
use crate::notation;
use crate::said::Said;
use crate::settings::{Coverage, Label, Role, Settings};
use crate::strangers::Strangers;
use crate::tool::Known;
use crate::words::{name_words, singular};

/// What a conversation says about where values come from.
#[derive(Debug)]
pub struct Trace<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) tools: &'a [Tool],
    /// The user's words and those of whoever runs the agent.
    pub(crate) said: Said,
    /// The verbs that the user asks with.
    pub(crate) verbs: HashSet<String>,
    /// Texts that somebody vouches for, by source.
    pub(crate) vouched: Vec<(String, Said)>,
    pub(crate) strangers: Strangers,
    fields: HashMap<String, Vec<Field>>,
    /// Values that went from an untrusted text into a call: wherever they come back, they are still untrusted.
    carried: HashSet<String>,
}

/// A value of a trusted field.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) tool: String,
    pub(crate) path: String,
    field: String,
    pointed: Pointed,
}

/// How the user's words point at a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Pointed {
    /// They do not.
    Not,
    /// They were what was searched for. Good for ids of the house, and not for addresses: anybody can be found.
    Searched,
    /// They name its record, or what it was looked up by, or asked for what gave it; or it is the user's own.
    Named,
}

/// A call that was made, for when its result comes.
struct Made {
    call: Option<String>,
    tool: String,
    pointed: Pointed,
}

impl<'a> Trace<'a> {
    /// Reads a conversation.
    #[must_use]
    pub fn read(settings: &'a Settings, conversation: &'a Conversation) -> Self {
        let (mut user, mut said) = (Said::default(), Said::default());
        for turn in &conversation.turns {
            match turn {
                Turn::User { text } => {
                    user.add(text);
                    said.add(text);
                }
                Turn::System { text } => said.add(text),
                Turn::Assistant { .. } | Turn::Result { .. } => {}
            }
        }
        let mut trace = Self {
            settings,
            tools: &conversation.tools,
            verbs: user.verbs(),
            said,
            vouched: Vec::new(),
            strangers: Strangers::default(),
            fields: HashMap::new(),
            carried: HashSet::new(),
        };
        let vouchers = Vouchers::new(settings, conversation);
        for influence in &conversation.influences {
            let text = influence.text.as_deref().unwrap_or_default();
            if influence.lane.is_vouched() || vouchers.cover(&[&influence.source], influence.digest) {
                trace.vouched.push((influence.source.clone(), Said::new(text)));
            } else {
                trace.strangers.hear(Source { name: influence.source.clone(), path: String::new() }, text);
            }
        }
        let mut made = Vec::new();
        for turn in &conversation.turns {
            match turn {
                Turn::User { .. } | Turn::System { .. } => {}
                Turn::Assistant { calls } => made.extend(calls.iter().map(|call| trace.make(call))),
                Turn::Result { call, tool, output, digest } => {
                    let answers = |made: &Made| match (call, &made.call) {
                        (Some(call), Some(id)) => call == id,
                        _ => made.tool == *tool,
                    };
                    let at = made.iter().position(answers);
                    let pointed = at.map_or(Pointed::Not, |at| made.remove(at).pointed);
                    let names = [tool.as_str(), call.as_deref().unwrap_or_default()];
                    trace.take(tool, output, vouchers.cover(&names, *digest), pointed);
                }
            }
        }
        trace
    }

    /// Takes note of a call: how the user's words point at what it will return, and what it carries on.
    fn make(&mut self, call: &Call) -> Made {
        let (judgement, reasons) = self.weigh(call);
        for (argument, leaf) in judgement.arguments.iter().zip(call_leaves(call)) {
            if matches!(argument.origin, Origin::UntrustedText { .. }) {
                let text = leaf.text();
                self.carried.extend(identities(&text).into_iter().map(|identity| identity.value));
                self.carried.insert(text.to_lowercase());
            }
        }
        let pointed = self.pointed_by(call, &judgement, &reasons);
        Made { call: call.id.clone(), tool: call.tool.clone(), pointed }
    }

    fn pointed_by(&self, call: &Call, judgement: &Judgement, reasons: &[Reason]) -> Pointed {
        if judgement.level >= self.settings.threshold {
            // What the user asked to have made is the user's. That nothing speaks against it is not enough: the first call of
            // all has read nothing yet.
            let is_users = judgement.arguments.iter().any(|argument| argument.origin.is_users());
            return if reasons.is_empty() && is_users { Pointed::Named } else { Pointed::Not };
        }
        let mut best = Pointed::Not;
        for argument in &judgement.arguments {
            let searches = is_query(argument.path.split(['.', '[']).next().unwrap_or_default());
            match &argument.origin {
                Origin::Constant => {}
                // Whatever happens on a day that the user named, the user did not name it.
                _ if argument.role == Role::Detail => {}
                origin if origin.is_users() => {
                    best = best.max(if searches { Pointed::Searched } else { Pointed::Named });
                }
                _ => return Pointed::Not,
            }
        }
        // A search that is also narrowed by a name is still a search.
        let searches = call.arguments.keys().any(|name| is_query(name));
        if searches { best.min(Pointed::Searched) } else { best }
    }

    /// Takes in what a tool gave back.
    fn take(&mut self, tool: &str, output: &Value, vouched: bool, pointed: Pointed) {
        let parsed = output.as_str().and_then(notation::read);
        let facts = leaves("", parsed.as_ref().unwrap_or(output));
        if vouched {
            let text = facts.iter().map(Leaf::text).collect::<Vec<_>>().join("\n");
            self.vouched.push((tool.to_owned(), Said::new(&text)));
            return;
        }
        let known = Known::new(self.settings, self.tools, tool);
        let labelled: Vec<(Leaf<'_>, String, Label)> = facts
            .into_iter()
            .map(|leaf| {
                let text = leaf.text();
                let label = match known.label(&leaf.field, &text) {
                    Label::Untrusted => Label::Untrusted,
                    _ if self.is_carried(&text) => Label::Untrusted,
                    label => label,
                };
                (leaf, text, label)
            })
            .collect();
        let named: HashSet<usize> = labelled
            .iter()
            .filter(|(leaf, text, label)| self.points(leaf, text, *label))
            .map(|(leaf, ..)| leaf.record)
            .collect();
        for (leaf, text, label) in labelled {
            let pointed = match label {
                Label::Own => Pointed::Named,
                Label::Trusted if leaf.record > 0 && named.contains(&leaf.record) => Pointed::Named,
                Label::Trusted => pointed,
                // What a record is called is not untrusted enough to raise suspicion, nor trusted enough to be used.
                Label::Name | Label::Untrusted => {
                    self.strangers.hear(Source { name: tool.to_owned(), path: leaf.path }, &text);
                    continue;
                }
            };
            let field = Field { tool: tool.to_owned(), path: leaf.path, field: leaf.field, pointed };
            self.fields.entry(text.to_lowercase()).or_default().push(field);
        }
    }

    fn is_carried(&self, text: &str) -> bool {
        !self.carried.is_empty()
            && (self.carried.contains(&text.to_lowercase())
                || identities(text).iter().any(|identity| self.carried.contains(&identity.value)))
    }

    /// Whether the user's words point at the record of a leaf by what it says.
    fn points(&self, leaf: &Leaf<'_>, text: &str, label: Label) -> bool {
        let by_sum = || matches!(leaf.fact, Fact::Value(Value::Number(number)) if number.as_f64().is_some_and(|sum| self.said.has_sum(sum)));
        match label {
            Label::Own | Label::Untrusted => false,
            Label::Name => self.said.points_at(text),
            Label::Trusted => {
                by_sum() || (matches!(leaf.fact, Fact::Value(Value::String(_))) && self.said.points_at(text))
            }
        }
    }

    /// The trusted field that has `text`, the one that the user's words point at first, and whether they do.
    pub(crate) fn field(&self, text: &str, nouns: &[String]) -> Option<(&Field, bool)> {
        let fields = self.fields.get(&text.to_lowercase())?;
        let id = is_opaque(text) && identities(text).is_empty();
        let points = |field: &&Field| match field.pointed {
            // A number is an id of many things: the thing has to be the same.
            _ if id && !field.is_about(nouns) => false,
            Pointed::Named => true,
            Pointed::Searched => id,
            Pointed::Not => false,
        };
        fields
            .iter()
            .find(points)
            .map(|field| (field, true))
            .or_else(|| fields.first().map(|field| (field, false)))
    }
}

impl Field {
    /// Whether it is about one of the things that `nouns` name.
    fn is_about(&self, nouns: &[String]) -> bool {
        let own = [name_words(&self.tool), name_words(&self.field)].concat();
        nouns.iter().any(|noun| own.iter().any(|word| singular(word) == singular(noun)))
    }
}

/// The values of a call, in the order of its judgement.
pub(crate) fn call_leaves(call: &Call) -> Vec<Leaf<'_>> {
    call.arguments.iter().flat_map(|(name, value)| leaves(name, value)).collect()
}

/// The influences that somebody vouches for.
struct Vouchers<'a> {
    all: bool,
    sources: HashSet<&'a str>,
    digests: HashSet<Digest>,
}

impl<'a> Vouchers<'a> {
    fn new(settings: &Settings, conversation: &'a Conversation) -> Self {
        let vouched = || conversation.influences.iter().filter(|influence| influence.lane.is_vouched());
        Self {
            all: settings.coverage == Coverage::Run && vouched().next().is_some(),
            sources: vouched().map(|influence| influence.source.as_str()).collect(),
            digests: vouched().filter_map(|influence| influence.digest).collect(),
        }
    }

    fn cover(&self, names: &[&str], digest: Option<Digest>) -> bool {
        self.all
            || names.iter().any(|name| self.sources.contains(name))
            || digest.is_some_and(|digest| self.digests.contains(&digest))
    }
}
