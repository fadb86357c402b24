//! Secrets that are kept elsewhere: fetched when they are used, so that whoever uses one never has an old one.
//!
//! A [`SecretSource`] is what a configuration gives: the secret itself, or somebody who has it. [`KnownSecrets`] is what
//! whoever must keep secrets out of texts asks for those that came up since the start. Who has them, this crate does not
//! know.

use crate::secret::SecretString;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// A secret on its way.
pub type Fetching<'k> = Pin<Box<dyn Future<Output = Result<Arc<SecretString>, NotKept>> + Send + 'k>>;

/// Somebody who has a secret.
pub trait SecretKeeper: fmt::Debug + Send + Sync {
    /// The secret as it is now.
    fn fetch(&self) -> Fetching<'_>;
}

/// The secrets that a process knows, which change while it runs.
pub trait KnownSecrets: fmt::Debug + Send + Sync {
    /// Changes whenever the values do. Cheap: it is asked for every text.
    fn generation(&self) -> u64;

    /// All of them.
    fn values(&self) -> Vec<Arc<SecretString>>;
}

/// A secret is not to be had. The text says which one and why, and nothing of the secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotKept(pub String);

/// Where a secret comes from.
#[derive(Debug, Clone)]
pub enum SecretSource {
    /// It was given once and stays the same.
    Given(Arc<SecretString>),
    /// Somebody has it.
    Kept(Arc<dyn SecretKeeper>),
}

impl SecretSource {
    /// The secret as it is now.
    ///
    /// # Errors
    /// Whoever should have it has not.
    pub async fn fetch(&self) -> Result<Arc<SecretString>, NotKept> {
        match self {
            Self::Given(secret) => Ok(Arc::clone(secret)),
            Self::Kept(keeper) => keeper.fetch().await,
        }
    }
}

impl From<SecretString> for SecretSource {
    fn from(secret: SecretString) -> Self {
        Self::Given(Arc::new(secret))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_prints_nothing_of_the_secret() {
        let source = SecretSource::from(SecretString::new("hunter2".to_owned()));
        assert!(!format!("{source:?}").contains("hunter"));
    }
}
