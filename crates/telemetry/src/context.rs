//! The trace that a caller began, as it says in `traceparent`: our span joins it instead of beginning one of its own.

use std::sync::atomic::{AtomicBool, Ordering};

/// The id of the trace in a `traceparent` header, if it is one: `00-<32 hex digits>-<16 hex digits>-<2 hex digits>`.
#[must_use]
pub fn trace_id(traceparent: &str) -> Option<&str> {
    let mut parts = traceparent.trim().split('-');
    let (version, trace, parent, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let hex = |text: &str, length| {
        text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let something = |text: &str| text.bytes().any(|byte| byte != b'0');
    let whole = hex(version, 2) && version != "ff" && hex(trace, 32) && hex(parent, 16) && hex(flags, 2);
    // Later versions may say more; this one may not.
    let ends = version != "00" || parts.next().is_none();
    (whole && ends && something(trace) && something(parent)).then_some(trace)
}

/// Whether anybody exports traces.
static EXPORTED: AtomicBool = AtomicBool::new(false);

/// Notes that traces are exported, from here on.
pub(crate) fn note_exported() {
    EXPORTED.store(true, Ordering::Relaxed);
}

/// Whether traces are exported. A span that nobody sees is not worth making where every request would.
pub fn is_exported() -> bool {
    EXPORTED.load(Ordering::Relaxed)
}

/// Puts `span` into the caller's trace. Without a trace, or without anybody to export to, nothing happens.
pub fn continue_trace(span: &tracing::Span, traceparent: Option<&str>, tracestate: Option<&str>) {
    let Some(traceparent) = traceparent.filter(|text| trace_id(text).is_some()) else { return };
    join(span, traceparent, tracestate);
}

#[cfg(feature = "otlp")]
fn join(span: &tracing::Span, traceparent: &str, tracestate: Option<&str>) {
    use opentelemetry::propagation::TextMapPropagator as _;
    use tracing_opentelemetry::OpenTelemetrySpanExt as _;

    let said = [("traceparent", Some(traceparent)), ("tracestate", tracestate)];
    let said: std::collections::HashMap<String, String> =
        said.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))).collect();
    let context = opentelemetry_sdk::propagation::TraceContextPropagator::new().extract(&said);
    // Refused where nobody listens, which is as good.
    let _ = span.set_parent(context);
}

#[cfg(not(feature = "otlp"))]
fn join(_: &tracing::Span, _: &str, _: Option<&str>) {}

#[cfg(test)]
mod tests {
    use super::trace_id;

    #[test]
    fn only_a_whole_traceparent_names_a_trace() {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
        assert_eq!(trace_id(&format!("00-{trace}-00f067aa0ba902b7-01")), Some(trace));
        assert_eq!(trace_id(&format!("cc-{trace}-00f067aa0ba902b7-01-more")), Some(trace));
        for wrong in [
            String::new(),
            trace.to_owned(),
            format!("00-{trace}-00f067aa0ba902b7"),
            format!("00-{trace}-00f067aa0ba902b7-01-more"),
            format!("ff-{trace}-00f067aa0ba902b7-01"),
            format!("00-{}-00f067aa0ba902b7-01", "0".repeat(32)),
            format!("00-{trace}-{}-01", "0".repeat(16)),
            format!("00-{}-00f067aa0ba902b7-01", trace.to_uppercase()),
        ] {
            assert_eq!(trace_id(&wrong), None, "{wrong}");
        }
    }
}
