//! OTLP: traces to a collector, configured only by the standard `OTEL_…` variables.
//!
//! Off unless `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` or `OTEL_EXPORTER_OTLP_ENDPOINT` is set, and off when
//! `OTEL_SDK_DISABLED=true` or `OTEL_TRACES_EXPORTER=none`. `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`,
//! `OTEL_TRACES_SAMPLER`, `OTEL_BSP_…`, `OTEL_EXPORTER_OTLP_HEADERS` and `…_TIMEOUT` are followed by the SDK.
//!
//! What was chosen, and why: OTLP over HTTP with protobuf, sent by a client of our own over a plain
//! socket (`otlp/client.rs`). The batch processor of the SDK has a thread for it, where blocking is
//! right. That needs neither tonic nor reqwest, no TLS, no C compiler, and works without a runtime. The
//! price is that `https` endpoints are refused: run a collector beside Punk, which is how collectors are
//! meant to be run, and let it carry the traces on.
//!
//! Spans go through the same [`Mask`] as log lines before they leave.

mod client;
mod masked;

use crate::mask::Mask;
use client::PlainClient;
use masked::Masked;
use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SdkTracerProvider, Tracer};
use std::sync::Arc;
use std::time::Duration;
use tracing::Subscriber;
use tracing_opentelemetry::OpenTelemetryLayer;
use tracing_subscriber::registry::LookupSpan;

const TRACES_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

/// How long the end of the process waits for the last traces.
const LAST_FLUSH: Duration = Duration::from_secs(5);

/// Why traces are not exported although an endpoint is set.
#[derive(Debug, thiserror::Error)]
pub enum OtlpError {
    /// The endpoint wants TLS, or something that is no URL.
    #[error(
        "{variable} must be an http:// URL of a collector on a network you trust; it may forward by https"
    )]
    Endpoint {
        /// The variable.
        variable: &'static str,
    },
    /// Another protocol than ours.
    #[error("{variable} asks for {protocol:?}, and only http/protobuf is spoken; unset it")]
    Protocol {
        /// The variable.
        variable: &'static str,
        /// What it asks for.
        protocol: String,
    },
    /// The SDK refused.
    #[error("cannot set up the export of traces")]
    Sdk(#[source] opentelemetry_otlp::ExporterBuildError),
}

/// The running export of traces; dropped, it sends what is left.
#[derive(Debug)]
pub struct Exporter {
    provider: SdkTracerProvider,
}

impl Exporter {
    /// The export that the environment asks for, or none.
    pub fn from_environment(
        service_name: &'static str,
        service_version: &'static str,
        mask: &Arc<Mask>,
    ) -> Result<Option<Self>, OtlpError> {
        if is("OTEL_SDK_DISABLED", "true") || is("OTEL_TRACES_EXPORTER", "none") {
            return Ok(None);
        }
        let Some((variable, endpoint)) =
            [TRACES_ENDPOINT, ENDPOINT].into_iter().find_map(|name| Some((name, variable(name)?)))
        else {
            return Ok(None);
        };
        if !endpoint.starts_with("http://") {
            return Err(OtlpError::Endpoint { variable });
        }
        refuse_other_protocols()?;
        let exporter = opentelemetry_otlp::SpanExporter::builder()
            .with_http()
            .with_http_client(PlainClient { timeout: timeout() })
            .with_protocol(opentelemetry_otlp::Protocol::HttpBinary)
            .build()
            .map_err(OtlpError::Sdk)?;
        let provider = SdkTracerProvider::builder()
            .with_resource(resource(service_name, service_version))
            .with_batch_exporter(Masked { exporter, mask: Arc::clone(mask) })
            .build();
        Ok(Some(Self { provider }))
    }

    /// The layer that turns `tracing` spans into traces.
    pub fn layer<S>(&self) -> OpenTelemetryLayer<S, Tracer>
    where
        S: Subscriber + for<'s> LookupSpan<'s>,
    {
        // Source lines and threads in every span are noise to whoever reads traces, and cost bytes.
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer("punk"))
            .with_location(false)
            .with_threads(false)
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        if let Err(error) = self.provider.shutdown_with_timeout(LAST_FLUSH) {
            tracing::warn!(%error, "the last traces were not sent");
        }
    }
}

/// What the SDK makes of the `OTEL_…` variables, with our name where they have none.
fn resource(name: &'static str, version: &'static str) -> Resource {
    let builder = Resource::builder().with_attribute(KeyValue::new("service.version", version));
    let named = variable("OTEL_SERVICE_NAME").is_some()
        || variable("OTEL_RESOURCE_ATTRIBUTES")
            .is_some_and(|attributes| attributes.contains("service.name="));
    if named { builder.build() } else { builder.with_service_name(name).build() }
}

fn refuse_other_protocols() -> Result<(), OtlpError> {
    for name in ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"] {
        if let Some(protocol) = variable(name).filter(|protocol| protocol != "http/protobuf") {
            return Err(OtlpError::Protocol { variable: name, protocol });
        }
    }
    Ok(())
}

fn timeout() -> Duration {
    ["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"]
        .into_iter()
        .find_map(|name| variable(name)?.parse().ok().filter(|milliseconds| *milliseconds > 0))
        .map_or(Duration::from_secs(10), Duration::from_millis)
}

/// A variable of the OpenTelemetry specification, which says that an empty one is unset.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

fn is(name: &str, word: &str) -> bool {
    variable(name).is_some_and(|value| value.eq_ignore_ascii_case(word))
}
