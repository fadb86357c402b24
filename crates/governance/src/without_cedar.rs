//! In place of `cedar/` where that feature is off: nothing in Cedar is read, and so nothing of it can be decided without.

use crate::decide::Opinion;
use crate::facts::Facts;
use crate::load::{LoadError, PolicyFile};
use crate::policy::ApprovalTerms;

/// The Cedar policies of a set: none.
#[derive(Debug)]
pub(crate) struct Cedar(());

pub(crate) fn check(files: &[PolicyFile]) -> Result<(), LoadError> {
    Cedar::read(files).map(|_| ())
}

impl Cedar {
    pub(crate) fn none() -> Self {
        Self(())
    }

    /// # Errors
    /// There is a file.
    pub(crate) fn read(files: &[PolicyFile]) -> Result<Self, LoadError> {
        match files.first() {
            None => Ok(Self(())),
            Some(file) => {
                let message =
                    "this build has no Cedar engine: take one with the feature `cedar`, or YAML".to_owned();
                Err(LoadError { file: file.name.clone(), place: None, message })
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        true
    }

    pub(crate) fn terms(&self, _file: &str, _index: u32) -> Option<&ApprovalTerms> {
        None
    }

    pub(crate) fn opinions(&self, _facts: &Facts, _action: &str) -> Vec<Opinion<'_>> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use crate::{PolicyFile, PolicySet, load};

    #[test]
    fn without_the_engine_what_is_in_cedar_is_refused_and_never_passed_over() {
        let file = PolicyFile { name: "house.cedar".to_owned(), text: String::new() };
        assert!(load(&[file]).unwrap_err().to_string().starts_with("house.cedar: this build has no Cedar"));
        assert!(PolicySet::parse(r#"{"policies":[],"cedar":[{"name":"x.cedar","text":""}]}"#).is_err());
    }
}
