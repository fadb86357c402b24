//! When an upstream wants to be asked again: `retry-after-ms`, or `Retry-After` in seconds or as a date.
//!
//! A date is measured against the `Date` of the same answer. Both were read from the upstream's own clock, so neither a
//! clock of ours is needed nor does a wrong one matter.

use http::HeaderMap;
use http::header::{DATE, RETRY_AFTER};
use std::time::Duration;

/// No vendor means more than this; a larger number is a mistake or an attack.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// How long the upstream asks us to wait, if it says so in a way that can be read.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let millis =
        text("retry-after-ms").and_then(|text| text.parse::<f64>().ok()).map(|millis| millis / 1000.0);
    let told = text(RETRY_AFTER.as_str());
    let seconds = millis.or_else(|| told.and_then(|text| text.parse::<f64>().ok()));
    if let Some(seconds) = seconds {
        // Not a number and negative numbers are no answer; the rest is cut to what can be meant.
        return (seconds >= 0.0).then(|| Duration::from_secs_f64(seconds.min(LONGEST.as_secs_f64())));
    }
    let then = httpdate::parse_http_date(told?).ok()?;
    let now = httpdate::parse_http_date(text(DATE.as_str())?).ok()?;
    // A date that has passed means now.
    Some(then.duration_since(now).unwrap_or(Duration::ZERO).min(LONGEST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderName, HeaderValue};
    use proptest::prelude::*;

    const NOON: &str = "Sun, 06 Nov 1994 12:00:00 GMT";

    fn read(headers: &[(&'static str, &str)]) -> Option<u128> {
        let pair = |&(name, value): &(&'static str, &str)| {
            (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
        };
        retry_after(&headers.iter().map(pair).collect()).map(|wait| wait.as_millis())
    }

    #[test]
    fn seconds_milliseconds_and_dates_are_read() {
        assert_eq!(read(&[("retry-after", "7")]), Some(7_000));
        assert_eq!(read(&[("retry-after", " 0.25 ")]), Some(250));
        assert_eq!(read(&[("retry-after-ms", "120"), ("retry-after", "9")]), Some(120));
        assert_eq!(read(&[("retry-after", "Sun, 06 Nov 1994 12:00:30 GMT"), ("date", NOON)]), Some(30_000));
    }

    #[test]
    fn a_date_that_has_passed_means_now() {
        assert_eq!(read(&[("retry-after", "Sun, 06 Nov 1994 11:00:00 GMT"), ("date", NOON)]), Some(0));
    }

    #[test]
    fn what_cannot_be_read_says_nothing() {
        for text in ["", "soon", "-1", "NaN", "Sun, 99 Nov 1994 12:00:00 GMT"] {
            assert_eq!(read(&[("retry-after", text), ("date", NOON)]), None, "{text}");
        }
        assert_eq!(read(&[("retry-after", NOON)]), None, "a date without a date to measure it by");
        assert_eq!(read(&[]), None);
    }

    #[test]
    fn an_absurd_wait_is_cut_to_a_day() {
        for text in ["1e300", "inf", "99999999999999999999"] {
            assert_eq!(read(&[("retry-after", text)]), Some(86_400_000), "{text}");
        }
    }

    proptest! {
        #[test]
        fn whole_seconds_are_read_exactly(seconds in 0u64..86_400) {
            prop_assert_eq!(read(&[("retry-after", &seconds.to_string())]), Some(u128::from(seconds) * 1000));
        }

        #[test]
        fn no_text_is_too_odd(text in "[ -~]{0,40}", millis in "[ -~]{0,20}") {
            let wait = read(&[("retry-after", &text), ("retry-after-ms", &millis), ("date", NOON)]);
            prop_assert!(wait.is_none_or(|wait| wait <= LONGEST.as_millis()));
        }
    }
}
