//! What passes between a caller and an upstream besides the bodies. These lists are all of it.
//!
//! Out go the beta flags and the version of the wire in question, for without them new fields are refused. Not on the
//! list, on purpose:
//! - `authorization`, `x-api-key`, `cookie` and `x-punk-…`: they are between the caller and us.
//! - `openai-organization` and `openai-project`: they choose who pays. The key is ours, and so is the choice; an operator
//!   sets them as fixed headers of the upstream.
//! - `idempotency-key`: callers share our account, and two that chose the same key would get one answer.
//! - `x-stainless-…`, `user-agent`, `traceparent`: they tell the vendor about the caller's machines.
//!
//! Back come the type of the body, the vendor's name for the request, which its support asks for, and when to come
//! again. Not the `…-ratelimit-…` headers: they tell how much of the account all callers together have used, and a client
//! that paces itself by them paces itself by strangers.

use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue};
use wire::Wire;

/// The flags of Anthropic's wire.
pub(super) static ANTHROPIC_BETA: HeaderName = HeaderName::from_static("anthropic-beta");
/// The version of Anthropic's wire.
pub(super) static ANTHROPIC_VERSION: HeaderName = HeaderName::from_static("anthropic-version");
static OPENAI_BETA: HeaderName = HeaderName::from_static("openai-beta");

/// What comes back.
static BACK: [HeaderName; 8] = [
    CONTENT_TYPE,
    RETRY_AFTER,
    HeaderName::from_static("retry-after-ms"),
    HeaderName::from_static("request-id"),
    HeaderName::from_static("x-request-id"),
    HeaderName::from_static("openai-processing-ms"),
    HeaderName::from_static("openai-version"),
    HeaderName::from_static("x-should-retry"),
];

/// Which of the caller's headers an upstream gets that speaks `wires`.
pub(super) fn passed_on(wires: &[Wire]) -> Vec<HeaderName> {
    let mut names = Vec::new();
    if wires.contains(&Wire::Messages) {
        names.extend([ANTHROPIC_BETA.clone(), ANTHROPIC_VERSION.clone()]);
    }
    if wires.contains(&Wire::Chat) || wires.contains(&Wire::Responses) {
        names.push(OPENAI_BETA.clone());
    }
    names
}

/// Puts the headers `names` of the caller into the request, all values of each in place of ours.
pub(super) fn pass_on(names: &[HeaderName], caller: &HeaderMap, request: &mut HeaderMap) {
    for name in names {
        let mut values = caller.get_all(name).iter();
        if let Some(first) = values.next() {
            request.insert(name.clone(), first.clone());
            values.for_each(|value: &HeaderValue| {
                request.append(name.clone(), value.clone());
            });
        }
    }
}

/// What a caller may see of the upstream's headers.
pub(super) fn pass_back(answer: &HeaderMap) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(BACK.len());
    for name in &BACK {
        if let Some(value) = answer.get(name) {
            headers.insert(name.clone(), value.clone());
        }
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for &(name, value) in pairs {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        headers
    }

    fn names(headers: &HeaderMap) -> Vec<&str> {
        headers.keys().map(HeaderName::as_str).collect()
    }

    #[test]
    fn beta_flags_reach_only_the_wire_they_belong_to() {
        let caller = headers(&[("anthropic-beta", "a"), ("anthropic-beta", "b"), ("openai-beta", "c")]);
        let sent_to = |wires: &[Wire]| {
            let mut request = headers(&[("anthropic-beta", "ours")]);
            pass_on(&passed_on(wires), &caller, &mut request);
            request
        };
        let messages = sent_to(&[Wire::Messages]);
        assert_eq!(messages.get_all("anthropic-beta").iter().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(messages.get("openai-beta"), None);
        let chat = sent_to(&[Wire::Chat]);
        assert_eq!(chat.get("anthropic-beta").unwrap(), "ours");
        assert_eq!(chat.get("openai-beta").unwrap(), "c");
    }

    #[test]
    fn neither_account_nor_idempotency_nor_credentials_are_passed_on() {
        let caller = headers(&[
            ("authorization", "Bearer pk_caller"),
            ("x-api-key", "pk_caller"),
            ("cookie", "session"),
            ("x-punk-agent", "agent"),
            ("openai-organization", "org"),
            ("openai-project", "project"),
            ("idempotency-key", "1"),
            ("x-stainless-os", "Linux"),
            ("user-agent", "caller"),
            ("x-forwarded-for", "10.0.0.1"),
        ]);
        let mut request = HeaderMap::new();
        pass_on(&passed_on(&[Wire::Chat, Wire::Messages, Wire::Responses]), &caller, &mut request);
        assert!(request.is_empty(), "{request:?}");
    }

    #[test]
    fn neither_cookies_nor_the_limits_of_our_account_come_back() {
        let answer = headers(&[
            ("content-type", "application/json"),
            ("x-request-id", "req_1"),
            ("set-cookie", "__cf_bm=1"),
            ("x-ratelimit-remaining-tokens", "7"),
            ("anthropic-ratelimit-requests-remaining", "7"),
            ("openai-organization", "our-company"),
            ("anthropic-organization-id", "our-company"),
            ("server", "cloudflare"),
            ("content-length", "12"),
            ("retry-after", "3"),
        ]);
        assert_eq!(names(&pass_back(&answer)), ["content-type", "retry-after", "x-request-id"]);
    }

    proptest! {
        #[test]
        fn no_other_header_ever_passes(names in prop::collection::vec("[a-z][a-z-]{0,20}", 0..20)) {
            let mut caller = HeaderMap::new();
            for name in &names {
                caller.append(HeaderName::try_from(name.as_str()).unwrap(), HeaderValue::from_static("x"));
            }
            let mut request = HeaderMap::new();
            pass_on(&passed_on(&Wire::ALL), &caller, &mut request);
            let known = [&ANTHROPIC_BETA, &ANTHROPIC_VERSION, &OPENAI_BETA];
            prop_assert!(request.keys().all(|name| known.contains(&name)));
            prop_assert!(pass_back(&caller).keys().all(|name| BACK.contains(name)));
        }
    }
}
