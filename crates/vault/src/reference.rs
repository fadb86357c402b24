//! References: `cred:crd_…` or `cred:NAME`, wherever a secret could stand.

use std::fmt;
use std::str::FromStr;

use schema::CredentialId;

use crate::credential::{Name, UnfitName};

const PREFIX: &str = "cred:";

/// Which credential is meant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Reference {
    /// The one with this id.
    Id(CredentialId),
    /// The one that is called so now.
    Name(Name),
}

/// A text is no reference. It is not repeated: most such texts are secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// It does not begin with `cred:`.
    #[error("a reference begins with `cred:`")]
    Prefix,
    /// What follows begins like an id, and is none.
    #[error(
        "what follows `cred:` begins like the id of a credential and is none: such an id is `crd_` and 26 letters and digits"
    )]
    Id,
    /// What follows is no name.
    #[error("what follows `cred:` is neither an id nor a name: {0}")]
    Name(UnfitName),
}

impl Reference {
    /// Whether `text` means to be a reference, be it a right one or not.
    #[must_use]
    pub fn is_meant(text: &str) -> bool {
        text.starts_with(PREFIX)
    }
}

impl FromStr for Reference {
    type Err = ReferenceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let rest = text.strip_prefix(PREFIX).ok_or(ReferenceError::Prefix)?;
        if rest.starts_with("crd_") {
            return rest.parse().map(Self::Id).map_err(|_| ReferenceError::Id);
        }
        rest.parse().map(Self::Name).map_err(ReferenceError::Name)
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => write!(f, "{PREFIX}{id}"),
            Self::Name(name) => write!(f, "{PREFIX}{name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_no_reference_is_refused_with_a_reason_and_never_repeated() {
        for (text, wanted) in [
            ("sk-secret", ReferenceError::Prefix),
            ("CRED:openai", ReferenceError::Prefix),
            ("cred:", ReferenceError::Name(UnfitName)),
            ("cred:sk secret", ReferenceError::Name(UnfitName)),
            ("cred:crd_sk-secret", ReferenceError::Id),
            ("cred:crd_", ReferenceError::Id),
        ] {
            let error = text.parse::<Reference>().unwrap_err();
            assert_eq!(error, wanted, "{text}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn an_id_reads_back_as_it_was_written(millis in 0u64..1 << 48, random in any::<[u8; 10]>()) {
            let reference = Reference::Id(CredentialId::new(millis, random));
            prop_assert_eq!(reference.to_string().parse(), Ok(reference));
        }

        #[test]
        fn a_name_reads_back_as_it_was_written(name in "[A-Za-z0-9][A-Za-z0-9._-]{0,63}") {
            prop_assume!(!name.starts_with("crd_"));
            let reference = Reference::Name(name.parse().unwrap());
            prop_assert_eq!(reference.to_string().parse(), Ok(reference));
        }

        #[test]
        fn whatever_is_taken_is_written_the_same_way(text in any::<String>(), ours in any::<bool>()) {
            let text = if ours { format!("cred:{text}") } else { text };
            if let Ok(reference) = text.parse::<Reference>() {
                prop_assert!(Reference::is_meant(&text));
                prop_assert_eq!(reference.to_string(), text);
            }
        }
    }
}
