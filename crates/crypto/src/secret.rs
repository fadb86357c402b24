//! Secrets: values that print as `[secret]`, compare in constant time and are wiped when dropped.
//!
//! A [`Secret`] has no `Serialize`, no `Deref` and no `Clone` by accident: the one way to the value is
//! [`Secret::expose`], a word that is easy to search for in a review.

use subtle::ConstantTimeEq as _;
use zeroize::Zeroize;

/// A value that must not reach a log, an export or an error message.
pub struct Secret<T: Zeroize>(T);

/// A secret text, such as a provider's API key.
pub type SecretString = Secret<String>;

impl<T: Zeroize> Secret<T> {
    /// Takes `value` into keeping. Copies made of it before are the caller's to wipe.
    pub fn new(value: T) -> Self {
        Self(value)
    }

    /// The value itself, for the one call that needs it.
    pub fn expose(&self) -> &T {
        &self.0
    }
}

impl<T: Zeroize + Clone> Secret<T> {
    /// A second copy of the secret, as easy to search for as [`Secret::expose`].
    pub fn duplicate(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Zeroize> Drop for Secret<T> {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl<T: Zeroize> zeroize::ZeroizeOnDrop for Secret<T> {}

impl<T: Zeroize> From<T> for Secret<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Zeroize> std::fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[secret]")
    }
}

impl<T: Zeroize> std::fmt::Display for Secret<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[secret]")
    }
}

/// Takes the same time whatever the values are; only a difference in length is told early.
impl<T: Zeroize + AsRef<[u8]>> PartialEq for Secret<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_ref().ct_eq(other.0.as_ref()).into()
    }
}

impl<T: Zeroize + AsRef<[u8]>> Eq for Secret<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_secrets_are_equal_and_others_are_not() {
        let secret = |text: &str| SecretString::new(text.to_owned());
        assert_eq!(secret("hunter2"), secret("hunter2"));
        assert_ne!(secret("hunter2"), secret("hunter3"));
        assert_ne!(secret("hunter2"), secret("hunter"));
    }

    #[test]
    fn neither_debug_nor_display_shows_the_value() {
        let secret = SecretString::new("hunter2".to_owned());
        assert_eq!(format!("{secret} {secret:?} {secret:#?}"), "[secret] [secret] [secret]");
    }

    #[test]
    fn a_duplicate_is_equal() {
        let secret = Secret::new(vec![1u8, 2, 3]);
        assert_eq!(secret, secret.duplicate());
    }
}
