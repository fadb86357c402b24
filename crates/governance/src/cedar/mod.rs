//! Policies in the Cedar language: files `*.cedar` beside those in YAML.
//!
//! Where there is at least one, Cedar is asked about everything, by its own semantics: what nothing permits is denied, and
//! what something forbids is denied whatever permits it. `punk.cedarschema` is what a policy can speak of.
//!
//! Start at [`Cedar::opinions`]; `read.rs` is a file as statements, `depth.rs` how deep they may nest, `check.rs` what only loading asks,
//! `slices.rs` which statements can apply, `question.rs` what Cedar is asked.
//!
//! - A statement that cannot be evaluated denies, in its own name.
//! - Leaving out statements whose scope names somebody else changes nothing (`slicing_changes_no_answer`).
//! - An annotation that is not known is refused: one that is misspelt must not turn a question into an allow.

mod check;
mod depth;
mod question;
mod read;
mod slices;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeSet;

use cedar_policy_core::ast::{Literal, Policy, SlotEnv, ValueKind};
use cedar_policy_core::evaluator::Evaluator;
use cedar_policy_core::extensions::Extensions;
use schema::Effect;

use self::question::{Names, Question};
use self::read::Statement;
use self::slices::Slices;
use crate::decide::{Opinion, Voice};
use crate::facts::Facts;
use crate::load::{LoadError, PolicyFile};
use crate::policy::ApprovalTerms;

/// What only loading asks of files: that they fit the schema.
pub(crate) use self::check::check;

/// The Cedar policies of a set.
#[derive(Debug)]
pub(crate) struct Cedar {
    names: Vec<String>,
    statements: Vec<Statement>,
    engine: Option<Engine>,
}

/// There is none where there are no files.
#[derive(Debug)]
struct Engine {
    types: Names,
    slices: Slices,
}

impl Cedar {
    /// No files.
    pub(crate) fn none() -> Self {
        Self { names: Vec::new(), statements: Vec::new(), engine: None }
    }

    /// Reads files as what they mean; whether they fit the schema is for [`check`] to say.
    ///
    /// # Errors
    /// The first thing that is no Cedar, or no annotation of ours.
    pub(crate) fn read(files: &[PolicyFile]) -> Result<Self, LoadError> {
        let Some(first) = files.first() else {
            return Ok(Self::none());
        };
        let types =
            Names::new().ok_or_else(|| read::at(first, 0, "the schema cannot be named".to_owned()))?;
        let mut statements = Vec::new();
        for (place, file) in files.iter().enumerate() {
            statements.extend(read::statements(place, file)?);
        }
        let slices = Slices::new(&types, &statements);
        let engine = Some(Engine { types, slices });
        Ok(Self { names: files.iter().map(|file| file.name.clone()).collect(), statements, engine })
    }

    /// Whether nobody is asked.
    pub(crate) fn is_empty(&self) -> bool {
        self.engine.is_none()
    }

    /// Who must agree where this statement asks.
    pub(crate) fn terms(&self, file: &str, index: u32) -> Option<&ApprovalTerms> {
        let file = self.names.iter().position(|name| name == file)?;
        let said = self.statements.iter().find(|known| (known.file, known.index) == (file, index))?;
        said.terms.as_ref()
    }

    /// What Cedar says of an action: a denial for every statement that forbids it or cannot be evaluated, or else one answer.
    pub(crate) fn opinions(&self, facts: &Facts, action: &str) -> Vec<Opinion<'_>> {
        let Some(engine) = &self.engine else { return Vec::new() };
        let Some(answer) = engine.ask(&self.statements, facts, action) else {
            return vec![self.opinion(Effect::Deny, None)];
        };
        if !answer.denying.is_empty() {
            return answer.denying.iter().map(|place| self.opinion(Effect::Deny, Some(*place))).collect();
        }
        // Of several that ask, the one that wants most people: it must not matter what else permits.
        let terms = |place: &usize| Some((*place, self.statements.get(*place)?.terms.as_ref()?));
        let strictest = answer
            .permitting
            .iter()
            .filter_map(terms)
            .reduce(|most, next| if next.1.needed > most.1.needed { next } else { most });
        vec![match (strictest, answer.permitting.first()) {
            (Some((asking, _)), _) => self.opinion(Effect::Ask, Some(asking)),
            (None, Some(permitting)) => self.opinion(Effect::Allow, Some(*permitting)),
            (None, None) => self.opinion(Effect::Deny, None),
        }]
    }

    /// In the name of a statement, or of the first file where there is none.
    fn opinion(&self, effect: Effect, place: Option<usize>) -> Opinion<'_> {
        let statement = place.and_then(|place| self.statements.get(place));
        let name = self.names.get(statement.map_or(0, |statement| statement.file)).map_or("", String::as_str);
        let rule = statement.map(|statement| statement.index);
        Opinion { voice: Voice::Cedar, effect, policy: Cow::Borrowed(name), rule }
    }
}

/// The statements that have a say, by their places.
#[derive(Debug, Default, PartialEq, Eq)]
struct Answer {
    /// Those that forbid, and those that cannot be evaluated.
    denying: BTreeSet<usize>,
    /// Those that permit.
    permitting: BTreeSet<usize>,
}

impl Engine {
    /// Asks the statements that can apply. Nothing, if the question cannot be put.
    fn ask(&self, statements: &[Statement], facts: &Facts, action: &str) -> Option<Answer> {
        let question = Question::new(&self.types, facts, action)?;
        let evaluator =
            Evaluator::new(question.request.clone(), &question.entities, Extensions::all_available());
        let mut answer = Answer::default();
        self.slices.each_that_can_apply(facts, &question, |place| {
            let Some(statement) = statements.get(place) else { return };
            match (holds(&evaluator, statement), statement.forbids) {
                (Some(true), false) => answer.permitting.insert(place),
                (Some(true), true) | (None, _) => answer.denying.insert(place),
                (Some(false), _) => false,
            };
        });
        Some(answer)
    }
}

/// Whether the conditions of a statement hold, its scope being known to. Nothing, if they cannot be evaluated.
fn holds(evaluator: &Evaluator<'_>, statement: &Statement) -> Option<bool> {
    let policy: &Policy = statement.policy.as_ref();
    let Some(conditions) = policy.non_scope_constraints() else { return Some(true) };
    match evaluator.interpret(conditions, &SlotEnv::new()).ok()?.value {
        ValueKind::Lit(Literal::Bool(holds)) => Some(holds),
        _ => None,
    }
}
