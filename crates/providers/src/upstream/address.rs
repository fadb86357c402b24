//! Where an upstream is, and the address of one of its endpoints.
//!
//! People write base addresses in every way that some client accepts: with a trailing slash or without, with `/v1` or
//! without. An [`Address`] takes them all. A path that already has a version in it (`/v1`, `/api/paas/v4`,
//! `/v1beta/openai`) is complete; any other gets `/v1`, which is where all the vendors put their endpoints.

use http::Uri;
use http::uri::{Authority, PathAndQuery, Scheme};

/// A base address: scheme, host, the path up to the endpoints, and what every query begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    scheme: Scheme,
    authority: Authority,
    root: String,
    query: Option<String>,
}

/// Why a text is no base address. The text is not repeated: it may hold a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It is no address at all.
    #[error("a base address looks like https://host/v1")]
    Malformed,
    /// Neither `http` nor `https`.
    #[error("a base address begins with https:// or http://")]
    Scheme,
    /// There is a user or a password in it.
    #[error("a base address holds no user and no password; keys are configured apart")]
    Credentials,
}

impl Address {
    /// Reads a base address. `/v1` is added to a path that names no version.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let mut address = Self::exact(text)?;
        if !address.root.split('/').any(is_version) {
            address.root.push_str("/v1");
        }
        Ok(address)
    }

    /// Reads a base address whose endpoints follow directly, version or not.
    pub fn exact(text: &str) -> Result<Self, AddressError> {
        let uri: Uri = text.trim().parse().map_err(|_| AddressError::Malformed)?;
        let parts = uri.into_parts();
        let (Some(scheme), Some(authority)) = (parts.scheme, parts.authority) else {
            return Err(AddressError::Malformed);
        };
        if scheme != Scheme::HTTP && scheme != Scheme::HTTPS {
            return Err(AddressError::Scheme);
        }
        if authority.as_str().contains('@') {
            return Err(AddressError::Credentials);
        }
        if authority.host().is_empty() {
            return Err(AddressError::Malformed);
        }
        let path = parts.path_and_query;
        let root = path.as_ref().map_or("", |path| path.path()).trim_end_matches('/').to_owned();
        let query =
            path.as_ref().and_then(|path| path.query()).filter(|query| !query.is_empty()).map(str::to_owned);
        Ok(Self { scheme, authority, root, query })
    }

    /// The address of an endpoint such as `/chat/completions` or `/v1/messages?beta=true`. Nothing, when `path` is no path.
    ///
    /// The version is the upstream's own: a leading `/v1` of `path` is where the caller found us, not where we go.
    #[must_use]
    pub fn join(&self, path: &str) -> Option<Uri> {
        let path = path.trim_start_matches('/');
        let path = path.strip_prefix("v1/").unwrap_or(path);
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        let mut whole = String::with_capacity(self.root.len() + path.len() + 32);
        whole.push_str(&self.root);
        whole.push('/');
        whole.push_str(path);
        for (query, mark) in [self.query.as_deref(), query].into_iter().flatten().zip(['?', '&']) {
            whole.push(mark);
            whole.push_str(query);
        }
        // A path that climbs would leave the part of the host that was configured.
        if path.split('/').any(|segment| matches!(segment, "." | "..")) {
            return None;
        }
        let whole = PathAndQuery::from_maybe_shared(bytes::Bytes::from(whole)).ok()?;
        let uri = Uri::builder().scheme(self.scheme.clone()).authority(self.authority.clone());
        uri.path_and_query(whole).build().ok()
    }

    /// Whether connections are encrypted.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.scheme == Scheme::HTTPS
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}://{}{}", self.scheme, self.authority, self.root)
    }
}

/// `v1`, `v4`, `v1beta`.
fn is_version(segment: &str) -> bool {
    segment.strip_prefix('v').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(base: &str, path: &str, expected: &str) {
        let joined = Address::parse(base).unwrap().join(path).map(|uri| uri.to_string());
        assert_eq!(joined.as_deref(), Some(expected), "{base} + {path}");
    }

    #[test]
    fn every_common_way_to_write_a_base_leads_to_the_endpoint() {
        check("https://api.openai.com/v1", "/chat/completions", "https://api.openai.com/v1/chat/completions");
        check("https://api.openai.com/v1/", "chat/completions", "https://api.openai.com/v1/chat/completions");
        check("https://api.openai.com", "/v1/chat/completions", "https://api.openai.com/v1/chat/completions");
        check("https://api.anthropic.com", "/messages", "https://api.anthropic.com/v1/messages");
        check("https://api.anthropic.com/", "/v1/messages", "https://api.anthropic.com/v1/messages");
        check(
            "https://openrouter.ai/api",
            "/chat/completions",
            "https://openrouter.ai/api/v1/chat/completions",
        );
        check(
            "https://openrouter.ai/api/v1",
            "/chat/completions",
            "https://openrouter.ai/api/v1/chat/completions",
        );
        check("http://localhost:11434/v1", "/chat/completions", "http://localhost:11434/v1/chat/completions");
        check("http://localhost:11434", "/embeddings", "http://localhost:11434/v1/embeddings");
        check("http://[::1]:8080", "/models", "http://[::1]:8080/v1/models");
        check(
            "https://api.z.ai/api/paas/v4",
            "/chat/completions",
            "https://api.z.ai/api/paas/v4/chat/completions",
        );
        check(
            "https://host/v1beta/openai/",
            "/chat/completions",
            "https://host/v1beta/openai/chat/completions",
        );
    }

    #[test]
    fn queries_of_the_base_and_of_the_endpoint_are_both_kept() {
        check(
            "https://host/openai/v1?api-version=preview",
            "/chat/completions",
            "https://host/openai/v1/chat/completions?api-version=preview",
        );
        check("https://host?a=1", "/v1/messages?beta=true", "https://host/v1/messages?a=1&beta=true");
        check("https://host", "/v1/messages?beta=true", "https://host/v1/messages?beta=true");
    }

    #[test]
    fn an_exact_base_gets_no_version() {
        let address = Address::exact("https://models.example/inference/").unwrap();
        assert_eq!(
            address.join("/chat/completions").unwrap(),
            "https://models.example/inference/chat/completions"
        );
    }

    #[test]
    fn what_is_no_base_address_is_refused_without_repeating_it() {
        let refused = |text: &str| Address::parse(text).unwrap_err();
        assert_eq!(refused("api.openai.com"), AddressError::Malformed);
        assert_eq!(refused("/v1"), AddressError::Malformed);
        assert_eq!(refused("ftp://host/v1"), AddressError::Scheme);
        assert_eq!(refused("https://me:sk-secret@host/v1"), AddressError::Credentials);
        assert!(!refused("https://me:sk-secret@host/v1").to_string().contains("sk-secret"));
    }

    #[test]
    fn an_endpoint_cannot_climb_out_of_the_base() {
        let address = Address::parse("https://host/tenant/v1").unwrap();
        assert_eq!(address.join("/../../admin"), None);
        assert_eq!(address.join("/models/../../x"), None);
        assert_eq!(address.join("/a b"), None);
    }

    proptest! {
        #[test]
        fn slashes_at_the_seam_change_nothing(base in "[a-z]{0,6}(/[a-z]{1,6}){0,2}", path in "[a-z]{1,6}(/[a-z0-9]{1,6}){0,2}", before in 0usize..3, after in 0usize..3) {
            let plain = Address::parse(&format!("https://host/{base}")).unwrap().join(&path);
            let slashed = Address::parse(&format!("https://host/{base}{}", "/".repeat(before)));
            let slashed = slashed.unwrap().join(&format!("{}{path}", "/".repeat(after)));
            prop_assert!(plain.is_some());
            prop_assert_eq!(plain, slashed);
        }

        #[test]
        fn whatever_the_path_the_host_stays(path in ".{0,40}") {
            if let Some(uri) = Address::parse("https://host:8443/v1").unwrap().join(&path) {
                prop_assert_eq!(uri.authority().map(|authority| authority.as_str()), Some("host:8443"));
                prop_assert!(uri.path().starts_with("/v1/"));
            }
        }
    }
}
