//! The rules.

use serde_json::Value;

use crate::conversation::Call;
use crate::finding::{Argument, Finding, Judgement, Origin, Reason};
use crate::infer::is_query;
use crate::intent::is_asked;
use crate::kind::identities;
use crate::leaf::{Fact, Leaf};
use crate::said::number_of;
use crate::settings::Role;
use crate::tool::Known;
use crate::trace::{Trace, call_leaves};

impl Trace<'_> {
    /// Where the values of `call` came from, and whether untrusted text could have shaped it.
    #[must_use]
    pub fn judge(&self, call: &Call) -> Judgement {
        self.weigh(call).0
    }

    /// The judgement, and what there is to say against the action whether or not anything untrusted was read.
    pub(crate) fn weigh(&self, call: &Call) -> (Judgement, Vec<Reason>) {
        let known = Known::new(self.settings, self.tools, &call.tool);
        let leaves = call_leaves(call);
        let arguments: Vec<Argument> = leaves.iter().map(|leaf| self.argument(&known, leaf)).collect();
        let (level, egress) = (known.level(), known.is_egress());
        let acts = level >= self.settings.threshold;
        let mut reasons = Vec::new();
        // Whether a page is looked at follows from the address; nobody asks for that in so many words.
        if acts && !is_asked(&self.verbs, &call.tool, known.description()) {
            reasons.push(Reason::Unasked);
        }
        if acts || egress {
            let weighed = arguments.iter().zip(&leaves);
            reasons.extend(weighed.filter_map(|(argument, leaf)| self.objection(argument, leaf, &arguments)));
            let copied =
                arguments.iter().any(|argument| matches!(argument.origin, Origin::UntrustedText { .. }));
            if copied && !arguments.iter().any(|argument| argument.origin.is_users()) {
                reasons.push(Reason::NothingOfTheUsers);
            }
        }
        // Where nothing untrusted was read, nothing untrusted can have shaped it.
        let finding =
            if self.strangers.names().is_empty() { Finding::Clean } else { self.finding(reasons.clone()) };
        (Judgement { tool: call.tool.clone(), level, egress, arguments, finding }, reasons)
    }

    fn finding(&self, reasons: Vec<Reason>) -> Finding {
        if reasons.is_empty() {
            return Finding::Clean;
        }
        let mut arguments: Vec<String> =
            reasons.iter().filter_map(Reason::argument).map(str::to_owned).collect();
        arguments.dedup();
        let said_by = |reason: &Reason| match reason {
            Reason::UntrustedTarget { source, .. } | Reason::UntrustedAmount { source, .. } => {
                Some(source.name.clone())
            }
            _ => None,
        };
        // Where no text is caught in the act, any that was read may have done it.
        let mut by: Vec<String> = reasons.iter().filter_map(said_by).collect();
        if by.is_empty() {
            by = self.strangers.names().to_vec();
        }
        by.sort();
        by.dedup();
        Finding::Shaped { by, arguments, reasons }
    }

    /// What speaks against an argument.
    fn objection(&self, argument: &Argument, leaf: &Leaf<'_>, all: &[Argument]) -> Option<Reason> {
        let path = argument.path.clone();
        match (argument.role, &argument.origin) {
            (_, Origin::Constant) => None,
            (Role::Target | Role::Amount, Origin::User | Origin::TrustedField { pointed: true, .. })
                if argument.role == Role::Target || argument.origin == Origin::User =>
            {
                None
            }
            (Role::Target, Origin::UntrustedText { source }) => {
                Some(Reason::UntrustedTarget { argument: path, source: source.clone() })
            }
            (Role::Target, Origin::TrustedField { tool, .. }) => {
                Some(Reason::UnpointedTarget { argument: path, tool: tool.clone() })
            }
            (Role::Target, _) => Some(Reason::ComposedTarget { argument: path }),
            (Role::Amount, Origin::UntrustedText { source }) => {
                Some(Reason::UntrustedAmount { argument: path, source: source.clone() })
            }
            // Money that goes where the user said may be counted by the model; money that goes elsewhere may not.
            (Role::Amount, _) => {
                let mut targets = all.iter().filter(|other| other.role == Role::Target).peekable();
                let is_told = targets.peek().is_some()
                    && targets.all(|target| matches!(target.origin, Origin::User | Origin::Constant));
                (!is_told).then_some(Reason::LooseAmount { argument: path })
            }
            (Role::Content | Role::Detail, _) => self
                .planted(&leaf.text())
                .map(|kind| Reason::PlantedAddress { argument: path, address: kind.to_owned() }),
        }
    }

    /// The kind of an address in `text` that neither the user nor a trusted field gave.
    fn planted(&self, text: &str) -> Option<&'static str> {
        let given = |value: &str| {
            self.said.has_identity(value)
                || self.vouched.iter().any(|(_, said)| said.has_identity(value))
                || self.field(value, &[]).is_some()
        };
        identities(text).into_iter().find(|identity| !given(&identity.value)).map(|identity| identity.kind)
    }

    fn argument(&self, known: &Known<'_>, leaf: &Leaf<'_>) -> Argument {
        let as_text;
        let value = match leaf.fact {
            Fact::Value(value) => value,
            Fact::Key(key) => {
                as_text = Value::String(key.to_owned());
                &as_text
            }
        };
        let role = known.role(&leaf.field, value);
        Argument { path: leaf.path.clone(), role, origin: self.origin(known, leaf, value, role) }
    }

    /// The best account of a value; but a trusted field that nothing points at is no better than a stranger's word for it.
    fn origin(&self, known: &Known<'_>, leaf: &Leaf<'_>, value: &Value, role: Role) -> Origin {
        if known.is_constant(&leaf.field, value) {
            return Origin::Constant;
        }
        let text = leaf.text();
        let nouns = known.nouns(&leaf.field);
        // What is searched for is put in other words as content is.
        let exactness = if is_query(&leaf.field) { Role::Content } else { role };
        if self.said.accounts_for(value, &text, exactness, &nouns) {
            return Origin::User;
        }
        if let Some((source, _)) =
            self.vouched.iter().find(|(_, said)| said.accounts_for(value, &text, exactness, &nouns))
        {
            return Origin::TrustedField { tool: source.clone(), path: String::new(), pointed: true };
        }
        let field = self.field(&text, &nouns);
        let trusted = |pointed| {
            field.map(|(field, _)| Origin::TrustedField {
                tool: field.tool.clone(),
                path: field.path.clone(),
                pointed,
            })
        };
        if field.is_some_and(|(_, pointed)| pointed) {
            return trusted(true).unwrap_or(Origin::Composed);
        }
        let counted = if role == Role::Amount { number_of(value) } else { value.as_f64() };
        let heard = match counted {
            Some(_) if role == Role::Amount && field.is_some() => None,
            Some(number) => self.strangers.said_number(number),
            None => {
                let by_identity = identities(&text)
                    .into_iter()
                    .find_map(|identity| self.strangers.said_identity(&identity.value));
                by_identity.or_else(|| self.strangers.said(&text))
            }
        };
        heard
            .map(|source| Origin::UntrustedText { source: source.clone() })
            .or_else(|| trusted(false))
            .unwrap_or(Origin::Composed)
    }
}
