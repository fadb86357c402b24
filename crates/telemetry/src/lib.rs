//! Telemetry: the logs, metrics and traces of the process.
//!
//! [`init`] is called once, by the shell; what it returns has to live as long as the process, because
//! dropping it sends the last traces. [`metrics::Metrics`] is a value that the shell makes and hands to
//! whoever counts something.
//!
//! Start at [`init`]; `logs.rs` is how lines look, `mask.rs` what never gets into them, `metrics.rs` how
//! the number of series stays bounded, `otlp.rs` how traces leave.
//!
//! - No secret reaches a log line or a span, even when it was formatted by mistake: [`mask`] is the
//!   last line of defence behind `crypto::Secret`.
//! - A label value comes from a fixed set, so a caller cannot grow the number of series.
//! - Traces leave only when the standard `OTEL_…` variables name where to.

pub mod context;
pub mod logs;
pub mod mask;
pub mod metrics;
#[cfg(feature = "otlp")]
pub mod otlp;

use crypto::SecretString;
use std::sync::Arc;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// What the shell decides about telemetry.
#[derive(Debug)]
pub struct Options<'o> {
    /// What to log: a level or directives such as `info,gateway=debug`.
    pub filter: &'o str,
    /// How log lines look.
    pub format: logs::Format,
    /// What traces call this service unless `OTEL_SERVICE_NAME` says otherwise.
    pub service_name: &'static str,
    /// The version of the service.
    pub service_version: &'static str,
    /// Configured secrets, never to be shown.
    pub secrets: Vec<&'o SecretString>,
}

/// Why telemetry did not start.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    /// The filter cannot be read.
    #[error(transparent)]
    Filter(#[from] logs::FilterError),
    /// The `OTEL_…` variables cannot be followed.
    #[cfg(feature = "otlp")]
    #[error(transparent)]
    Otlp(#[from] otlp::OtlpError),
    /// Somebody else installed a subscriber: our own mistake.
    #[error("telemetry was started twice in one process")]
    Twice,
}

/// Keeps telemetry going; dropped at the end of the process, it sends what is left.
#[derive(Debug)]
#[must_use = "dropping it ends the export of traces"]
pub struct Guard {
    mask: Arc<mask::Mask>,
    #[cfg(feature = "otlp")]
    exporter: Option<otlp::Exporter>,
}

impl Guard {
    /// What is hidden in logs and traces, which can be told to learn more.
    pub fn mask(&self) -> &mask::Mask {
        &self.mask
    }

    /// Whether traces are exported.
    pub fn exports_traces(&self) -> bool {
        #[cfg(feature = "otlp")]
        return self.exporter.is_some();
        #[cfg(not(feature = "otlp"))]
        return false;
    }
}

/// Starts logs and, when the `OTEL_…` variables say so, traces. Once per process.
pub fn init(options: &Options<'_>) -> Result<Guard, InitError> {
    let filter = logs::filter(options.filter)?;
    let mask = Arc::new(mask::Mask::new(options.secrets.iter().copied()));
    let subscriber = tracing_subscriber::registry().with(filter);
    let lines = logs::layer(options.format, &mask, logs::Sink::StandardError);
    #[cfg(feature = "otlp")]
    {
        let exporter =
            otlp::Exporter::from_environment(options.service_name, options.service_version, &mask)?;
        let traces = exporter.as_ref().map(otlp::Exporter::layer);
        subscriber.with(lines).with(traces).try_init().map_err(|_| InitError::Twice)?;
        if exporter.is_some() {
            context::note_exported();
        }
        Ok(Guard { mask, exporter })
    }
    #[cfg(not(feature = "otlp"))]
    {
        subscriber.with(lines).try_init().map_err(|_| InitError::Twice)?;
        Ok(Guard { mask })
    }
}
