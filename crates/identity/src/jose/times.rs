//! When a token is valid.

use super::Refused;
use schema::Timestamp;
use serde_json::{Map, Value};

/// How far two clocks may be apart.
pub(crate) const LEEWAY: u64 = 30;

/// The times of a token, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Times {
    pub(crate) issued: Option<u64>,
    pub(crate) not_before: Option<u64>,
    pub(crate) expires: u64,
}

impl Times {
    /// From the claims of somebody else's token: `exp` must be there.
    pub(crate) fn of(claims: &Map<String, Value>) -> Result<Self, Refused> {
        Ok(Self {
            issued: seconds(claims, "iat")?,
            not_before: seconds(claims, "nbf")?,
            expires: seconds(claims, "exp")?.ok_or(Refused::Claim("exp"))?,
        })
    }

    /// Whether now is within, give or take the leeway, and the whole no longer than `longest` seconds.
    pub(crate) fn check(&self, longest: u64, now: Timestamp) -> Result<(), Refused> {
        let now = now_seconds(now);
        if now >= self.expires.saturating_add(LEEWAY) {
            return Err(Refused::Expired);
        }
        if self.not_before.is_some_and(|start| start > now.saturating_add(LEEWAY)) {
            return Err(Refused::NotYet);
        }
        if self.issued.is_some_and(|issued| issued > now.saturating_add(LEEWAY)) {
            return Err(Refused::FromTheFuture);
        }
        // Without `iat` a token counts as made now: it is valid for at least what is left of it.
        let start = self.issued.unwrap_or(now);
        if self.expires > start.saturating_add(longest) || self.expires <= self.issued.unwrap_or(0) {
            return Err(Refused::Lifetime);
        }
        Ok(())
    }
}

pub(crate) fn now_seconds(now: Timestamp) -> u64 {
    now.as_millis() / 1000
}

/// A `NumericDate`: seconds since 1970. Some issuers write fractions, which are cut off.
fn seconds(claims: &Map<String, Value>, name: &'static str) -> Result<Option<u64>, Refused> {
    /// 2^53: beyond this a JSON number is not exact.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let Some(value) = claims.get(name) else {
        return Ok(None);
    };
    if let Some(whole) = value.as_u64() {
        return Ok(Some(whole));
    }
    let fraction = value.as_f64().filter(|seconds| (0.0..EXACT).contains(seconds));
    fraction.map(|seconds| Some(seconds as u64)).ok_or(Refused::Claim(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    const NOW: u64 = 1_800_000_000;

    fn checked(claims: &Value, now: u64) -> Result<(), Refused> {
        let now = Timestamp::from_millis(now * 1000).unwrap();
        Times::of(claims.as_object().unwrap())?.check(3600, now)
    }

    #[test]
    fn a_token_is_valid_within_its_times_give_or_take_thirty_seconds() {
        let token = json!({ "iat": NOW, "nbf": NOW, "exp": NOW + 600 });
        assert_eq!(checked(&token, NOW - 31), Err(Refused::NotYet));
        assert_eq!(checked(&token, NOW - 30), Ok(()));
        assert_eq!(checked(&token, NOW + 629), Ok(()));
        assert_eq!(checked(&token, NOW + 630), Err(Refused::Expired));
        let later = json!({ "iat": NOW + 31, "exp": NOW + 600 });
        assert_eq!(checked(&later, NOW), Err(Refused::FromTheFuture));
    }

    #[test]
    fn times_that_are_missing_or_nonsense_are_refused_by_name() {
        assert_eq!(checked(&json!({ "iat": NOW }), NOW), Err(Refused::Claim("exp")));
        for bad in [json!("1800000600"), json!(-1), json!(null), json!(1e300), json!([NOW])] {
            assert_eq!(checked(&json!({ "exp": bad }), NOW), Err(Refused::Claim("exp")));
        }
        assert_eq!(checked(&json!({ "exp": NOW + 10, "nbf": "soon" }), NOW), Err(Refused::Claim("nbf")));
        assert_eq!(checked(&json!({ "exp": NOW as f64 + 10.5 }), NOW), Ok(()));
    }

    #[test]
    fn a_token_that_lives_too_long_or_not_at_all_is_refused() {
        assert_eq!(checked(&json!({ "iat": NOW, "exp": NOW + 3601 }), NOW), Err(Refused::Lifetime));
        assert_eq!(checked(&json!({ "iat": NOW, "exp": NOW }), NOW), Err(Refused::Lifetime));
        assert_eq!(checked(&json!({ "exp": NOW + 3601 }), NOW), Err(Refused::Lifetime));
        assert_eq!(checked(&json!({ "exp": u64::MAX }), NOW), Err(Refused::Lifetime));
    }

    proptest! {
        #[test]
        fn no_times_make_the_check_panic(issued: Option<u64>, not_before: Option<u64>, expires: u64, longest: u64) {
            let now = Timestamp::from_millis(NOW * 1000).unwrap();
            if (Times { issued, not_before, expires }).check(longest, now).is_ok() {
                prop_assert!(expires.saturating_add(LEEWAY) > NOW);
            }
        }
    }
}
