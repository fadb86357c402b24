//! A request on its way in: what the model is told of it, what is recorded of it, and what it has in it.

use std::collections::BTreeSet;
use std::sync::Arc;

use redaction::{Class, Finding, Lexicon, replaced};
use serde_json::Value;

use super::setting::Measure;
use super::{Discretion, Leaf, Spelling, barred, each_text, taken_out};
use crate::record::{VALUE_DEPTH, bound, is_bounded};

/// What was found, by the places of the texts that it was found in.
type Found = Vec<(usize, Vec<Finding>)>;

/// A request after it was looked at.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// What the model is told, if it is not what was sent.
    pub(crate) told: Option<Value>,
    /// What is recorded: what was sent, unless something in it must not be.
    pub(crate) recorded: Arc<Value>,
    /// What stands for what.
    pub(crate) lexicon: Lexicon,
    /// What the data is known to be.
    pub(crate) labels: BTreeSet<String>,
    /// What must not pass.
    pub(crate) barred: Vec<String>,
    /// What untrusted text in it tries.
    pub(crate) signals: Vec<Value>,
}

impl Seen {
    /// Notes what untrusted text in it tries.
    pub(crate) fn heed(&mut self, signals: Vec<Value>) {
        self.labels.extend(signals.iter().filter_map(|signal| signal["label"].as_str().map(str::to_owned)));
        self.signals = signals;
    }
}

impl Discretion {
    /// Looks at a request. `observes`: whoever only observes is not interfered with. Most have nothing in them, and are then
    /// recorded as they are, without a copy.
    pub(crate) fn look(&self, body: &mut Arc<Value>, observes: bool) -> Seen {
        // What was found in which text.
        let mut found: Found = Vec::new();
        let mut place = 0;
        // To read it only; nobody else has it yet, so it is not copied for that.
        each_text(Arc::make_mut(body), "", &mut |text, leaf| {
            let findings = self.find(text, leaf.name);
            if !findings.is_empty() {
                found.push((place, findings));
            }
            place += 1;
        });
        let mut seen = Seen { recorded: body.clone(), ..Seen::default() };
        if !found.is_empty() {
            seen.recorded = Arc::new(self.stood_for_all(body, &found, observes, &mut seen));
        }
        seen.lexicon.seal();
        let rewrites =
            |(_, findings): &(usize, Vec<Finding>)| findings.iter().any(|finding| self.changes(finding));
        if !observes && found.iter().any(rewrites) {
            seen.told = Some(self.told(body, &found, &mut seen.lexicon));
        }
        if !is_bounded(&seen.recorded, VALUE_DEPTH) {
            bound(Arc::make_mut(&mut seen.recorded), VALUE_DEPTH);
        }
        seen
    }

    /// The request with placeholders for what was found in it, which is noted.
    fn stood_for_all(
        &self,
        body: &Value,
        found: &[(usize, Vec<Finding>)],
        observes: bool,
        seen: &mut Seen,
    ) -> Value {
        let mut recorded = body.clone();
        at_places(&mut recorded, found, |text, leaf, findings| {
            let sealed = leaf.spelling == Spelling::Sealed || observes;
            self.note(text, findings, sealed, seen);
            *text = self.stood_for(text, findings, &mut seen.lexicon, true).into_owned();
        });
        recorded
    }

    /// Notes what is in a text: its classes, and whether it may pass. `sealed`: the model is told it as it is.
    fn note(&self, text: &str, findings: &[Finding], sealed: bool, seen: &mut Seen) {
        for finding in findings {
            let class = finding.class;
            if class == Class::Placeholder || matches!(class, Class::Canary(_)) {
                continue;
            }
            if class.is_personal() {
                seen.labels.insert("pii".to_owned());
                seen.labels.insert(format!("pii.{}", class.name()));
            } else if matches!(class, Class::Custom(_)) {
                seen.labels.insert(format!("custom.{}", finding.rule));
            } else {
                seen.labels.insert("secret".to_owned());
            }
            let found = &text[finding.range.clone()];
            if self.inward(class) == Measure::Block {
                seen.barred.push(barred(class));
            }
            if sealed || self.inward(class) == Measure::Allow {
                seen.lexicon.placeholder_of_told(class, found);
            }
        }
        seen.barred.sort();
        seen.barred.dedup();
    }

    /// Whether the model is told something else in its place.
    fn changes(&self, finding: &Finding) -> bool {
        finding.class == Class::Placeholder
            || matches!(self.inward(finding.class), Measure::Redact | Measure::Tokenize)
    }

    /// What is done with a class on the way to the model.
    fn inward(&self, class: Class) -> Measure {
        match class {
            // It was planted, so that it can be missed when it comes out.
            Class::Canary(_) => Measure::Allow,
            // What is in the vault is never told to anybody.
            Class::Known => match self.measures(class).r#in {
                Measure::Allow => Measure::Tokenize,
                measure => measure,
            },
            Class::Placeholder => Measure::Tokenize,
            class => self.measures(class).r#in,
        }
    }

    /// The request as the model is told it.
    fn told(&self, body: &Value, found: &[(usize, Vec<Finding>)], lexicon: &mut Lexicon) -> Value {
        let mut told = body.clone();
        at_places(&mut told, found, |text, leaf, findings| {
            if leaf.spelling == Spelling::Sealed {
                return;
            }
            let changed = replaced(text, findings, |finding, value| match self.inward(finding.class) {
                Measure::Tokenize => Some(lexicon.placeholder(finding.class, value)),
                Measure::Redact => Some(taken_out(finding.class)),
                Measure::Allow | Measure::Block => None,
            });
            *text = changed.into_owned();
        });
        told
    }
}

/// Visits the texts in which something was found.
fn at_places(
    value: &mut Value,
    found: &[(usize, Vec<Finding>)],
    mut visit: impl FnMut(&mut String, Leaf<'_>, &[Finding]),
) {
    let (mut place, mut found) = (0, found.iter().peekable());
    each_text(value, "", &mut |text, leaf| {
        if let Some((_, findings)) = found.next_if(|(there, _)| *there == place) {
            visit(text, leaf, findings);
        }
        place += 1;
    });
}
