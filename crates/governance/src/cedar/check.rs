//! Whether files fit the schema. Asked when they are loaded, and never of what is recorded: what once decided goes on
//! deciding, whatever a later release finds wrong with it.

use std::sync::LazyLock;

use cedar_policy::{Schema, ValidationMode, ValidationWarning, Validator};

use super::read::{at, parse, refused};
use crate::load::{LoadError, PolicyFile};

/// What policies can speak of.
const SCHEMA: &str = include_str!("punk.cedarschema");

/// Holds files against the schema, strictly.
///
/// # Errors
/// The first thing in them that is not in it, or that can never apply.
pub(crate) fn check(files: &[PolicyFile]) -> Result<(), LoadError> {
    files.iter().try_for_each(|file| match &*VALIDATOR {
        Ok(validator) => fits(validator, file),
        Err(error) => Err(at(file, 0, format!("the schema cannot be read: {error}"))),
    })
}

static VALIDATOR: LazyLock<Result<Validator, String>> = LazyLock::new(|| {
    let (schema, _) = Schema::from_cedarschema_str(SCHEMA).map_err(|error| error.to_string())?;
    Ok(Validator::new(schema))
});

fn fits(validator: &Validator, file: &PolicyFile) -> Result<(), LoadError> {
    let set = parse(file)?;
    if set.is_empty() {
        let message =
            "it permits nothing, and so everything would be denied: say what is permitted, or leave it out";
        return Err(at(file, 0, message.to_owned()));
    }
    let result = validator.validate(&set, ValidationMode::Strict);
    let errors = result.validation_errors().map(|error| refused(file, error));
    // Cedar finds the same for every action, in any order.
    if let Some(error) = errors.min_by(earlier) {
        return Err(error);
    }
    // A statement that is never true, or that reads otherwise than it is written, is a mistake that nobody would see.
    let warnings = result.validation_warnings().filter(|warning| {
        matches!(
            warning,
            ValidationWarning::ImpossiblePolicy(_)
                | ValidationWarning::InvalidActionApplication(_)
                | ValidationWarning::BidiCharsInString(_)
                | ValidationWarning::BidiCharsInIdentifier(_)
        )
    });
    let first = warnings.map(|warning| refused(file, warning)).min_by(earlier);
    first.map_or(Ok(()), Err)
}

fn earlier(one: &LoadError, other: &LoadError) -> std::cmp::Ordering {
    (one.place, &one.message).cmp(&(other.place, &other.message))
}
