//! A request on its way in: what the model is told of it, what is recorded of it, and what it has in it.

use std::collections::BTreeSet;

use redaction::{Class, Finding, Lexicon, replaced};
use serde_json::Value;

use super::setting::Measure;
use super::{Discretion, Spelling, barred, each_text, taken_out};
use crate::record::{VALUE_DEPTH, bound};

/// A request after it was looked at.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// What the model is told, if it is not what was sent.
    pub(crate) told: Option<Value>,
    /// What is recorded.
    pub(crate) recorded: Value,
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
    /// Looks at a request. `observes`: whoever only observes is not interfered with.
    pub(crate) fn look(&self, body: &Value, observes: bool) -> Seen {
        let mut seen = Seen { recorded: body.clone(), ..Seen::default() };
        let mut recorded = std::mem::take(&mut seen.recorded);
        // What was found in which text, for the second time.
        let mut found: Vec<(usize, Vec<Finding>)> = Vec::new();
        let mut place = 0;
        each_text(&mut recorded, "", &mut |text, leaf| {
            let findings = self.find(text, leaf.name);
            if !findings.is_empty() {
                let sealed = leaf.spelling == Spelling::Sealed || observes;
                self.note(text, &findings, sealed, &mut seen);
                *text = self.stood_for(text, &findings, &mut seen.lexicon, true).into_owned();
                found.push((place, findings));
            }
            place += 1;
        });
        seen.lexicon.seal();
        let rewrites =
            |(_, findings): &(usize, Vec<Finding>)| findings.iter().any(|finding| self.changes(finding));
        if !observes && found.iter().any(rewrites) {
            seen.told = Some(self.told(body, &found, &mut seen.lexicon));
        }
        bound(&mut recorded, VALUE_DEPTH);
        seen.recorded = recorded;
        seen
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
        let (mut told, mut place, mut found) = (body.clone(), 0, found.iter().peekable());
        each_text(&mut told, "", &mut |text, leaf| {
            if let Some((_, findings)) = found.next_if(|(there, _)| *there == place)
                && leaf.spelling != Spelling::Sealed
            {
                let changed = replaced(text, findings, |finding, value| match self.inward(finding.class) {
                    Measure::Tokenize => Some(lexicon.placeholder(finding.class, value)),
                    Measure::Redact => Some(taken_out(finding.class)),
                    Measure::Allow | Measure::Block => None,
                });
                *text = changed.into_owned();
            }
            place += 1;
        });
        told
    }
}
