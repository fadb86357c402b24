//! Cookies: the one that is a session, and the one that a browser is known by when somebody logs in again.
//!
//! Where the connection is, or may be, one that others can listen to, a cookie is `Secure` and its name begins with
//! `__Host-`, and under no other name is one read: no neighbouring site can plant it.

use http::header::{COOKIE, HeaderName, SET_COOKIE};
use http::{HeaderMap, HeaderValue};

/// A cookie of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cookie {
    /// The token of a session.
    Session,
    /// What a browser is known by.
    Device,
    /// A login at another provider that is under way. It must survive the way back, which begins elsewhere.
    Oidc,
}

impl Cookie {
    fn name(self, secure: bool) -> &'static str {
        match (self, secure) {
            (Self::Session, true) => "__Host-punk_session",
            (Self::Session, false) => "punk_session",
            (Self::Device, true) => "__Host-punk_device",
            (Self::Device, false) => "punk_device",
            (Self::Oidc, true) => "__Host-punk_oidc",
            (Self::Oidc, false) => "punk_oidc",
        }
    }

    /// Its value. Two of one name are none: one of them is not ours.
    pub(crate) fn read(self, headers: &HeaderMap, secure: bool) -> Option<&str> {
        let mut found = headers
            .get_all(COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|line| line.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .filter(|(name, _)| *name == self.name(secure))
            .map(|(_, value)| value);
        let first = found.next().filter(|value| !value.is_empty());
        if found.next().is_some() { None } else { first }
    }

    /// The header that sets it, for so many seconds.
    pub(crate) fn set(self, value: &str, seconds: u64, secure: bool) -> (HeaderName, HeaderValue) {
        let name = self.name(secure);
        let site = if self == Self::Oidc { "Lax" } else { "Strict" };
        let secure = if secure { "; Secure" } else { "" };
        let text = format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite={site}{secure}");
        // What we make has only characters that a header can hold.
        let mut value = HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static(""));
        value.set_sensitive(true);
        (SET_COOKIE, value)
    }

    /// The header that takes it back.
    pub(crate) fn clear(self, secure: bool) -> (HeaderName, HeaderValue) {
        self.set("", 0, secure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[&'static str]) -> HeaderMap {
        lines.iter().map(|line| (COOKIE, HeaderValue::from_static(line))).collect()
    }

    #[test]
    fn a_cookie_is_read_by_its_own_name_and_once() {
        let read =
            |lines: &[&'static str], secure| Cookie::Session.read(&headers(lines), secure).map(str::to_owned);
        assert_eq!(read(&["a=b; punk_session=x; c=d"], false).as_deref(), Some("x"));
        assert_eq!(read(&["a=b", "punk_session=x"], false).as_deref(), Some("x"));
        assert_eq!(read(&["punk_session=x"], true), None, "planted by a neighbour");
        assert_eq!(read(&["__Host-punk_session=x"], true).as_deref(), Some("x"));
        assert_eq!(read(&["__Host-punk_session=x"], false), None);
        assert_eq!(read(&["punk_session=x; punk_session=y"], false), None);
        assert_eq!(read(&["punk_session="], false), None);
        assert_eq!(read(&["xpunk_session=x"], false), None);
    }

    #[test]
    fn a_cookie_is_out_of_reach_of_scripts_and_other_sites() {
        let (_, value) = Cookie::Session.set("ps_x", 60, true);
        assert_eq!(
            value.to_str().unwrap(),
            "__Host-punk_session=ps_x; Path=/; Max-Age=60; HttpOnly; SameSite=Strict; Secure"
        );
        let (_, value) = Cookie::Session.clear(false);
        assert_eq!(value.to_str().unwrap(), "punk_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict");
    }
}
