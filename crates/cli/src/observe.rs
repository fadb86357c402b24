//! Telemetry as configured: what a command that stays (a server, a worker) starts first.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::version;
use config::{LogFormat, Settings};
use telemetry::logs::Format;
use telemetry::{Guard, Options};

/// Starts logs and traces. The guard has to live as long as the command: dropped, it sends the last traces.
pub(crate) fn start(settings: &Settings) -> Result<Guard, Failure> {
    let format = match settings.log_format() {
        LogFormat::Auto => Format::Auto,
        LogFormat::Human => Format::Human,
        LogFormat::Json => Format::Json,
    };
    let options = Options {
        filter: settings.log_filter(),
        format,
        service_name: "punk",
        service_version: version::VERSION,
        secrets: settings.secrets().collect(),
    };
    telemetry::init(&options).map_err(|error| Failure::of(Exit::Usage, "punk_telemetry_invalid", &error))
}
