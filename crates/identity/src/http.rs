//! The port to the network: what fetching keys and logging in by OpenID Connect need of a shell.

use crypto::SecretString;
use url::Url;

/// What a server answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The `cache-control` header, when there is one.
    pub cache_control: Option<String>,
    /// The body, of at most [`LONGEST_BODY`] bytes.
    pub body: Vec<u8>,
}

/// The longest body that is of any use; a shell reads no further.
pub const LONGEST_BODY: usize = 256 * 1024;

/// No answer came: the shell's own words, for the log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no answer: {0}")]
pub struct NoAnswer(pub String);

/// A client for HTTP. The addresses come from configuration and from what a provider publishes, so a shell gives the
/// client that reaches no private address, follows no redirect, and gives up after seconds.
#[async_trait::async_trait]
pub trait Http: Send + Sync {
    /// `GET`, asking for JSON.
    async fn get(&self, url: &Url) -> Result<Answer, NoAnswer>;

    /// `POST` of a form that is already encoded, with the value of the `authorization` header when there is one.
    async fn post_form(
        &self,
        url: &Url,
        form: SecretString,
        authorization: Option<SecretString>,
    ) -> Result<Answer, NoAnswer>;
}

/// Reads an address that is trusted with identities: `https`, or `http` on this very machine, and without user,
/// fragment or, in the end, surprises.
pub(crate) fn trusted_url(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    let is_loopback = match url.host()? {
        url::Host::Domain(name) => name == "localhost",
        url::Host::Ipv4(address) => address.is_loopback(),
        url::Host::Ipv6(address) => address.is_loopback(),
    };
    let is_safe = url.scheme() == "https" || (url.scheme() == "http" && is_loopback);
    let is_plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    (is_safe && is_plain).then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_or_this_machine_is_trusted() {
        for good in
            ["https://id.example/x", "http://localhost:1/", "http://127.0.0.1:80", "http://[::1]:3000/a"]
        {
            assert!(trusted_url(good).is_some(), "{good}");
        }
        for bad in [
            "http://id.example",
            "http://localhost.evil.example",
            "http://10.0.0.1",
            "ftp://localhost",
            "https://user@id.example",
            "https://:secret@id.example",
            "https://id.example/#x",
            "file:///etc/passwd",
            "id.example",
            "",
        ] {
            assert!(trusted_url(bad).is_none(), "{bad}");
        }
    }
}
