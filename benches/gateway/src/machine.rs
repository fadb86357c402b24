//! The machine that figures are of.

use std::fs;

use serde::Serialize;

/// What a reader must know to compare figures.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Machine {
    pub(crate) processor: String,
    pub(crate) cores: usize,
    pub(crate) memory_gb: u64,
    pub(crate) kernel: String,
}

impl Machine {
    pub(crate) fn this() -> Self {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        let field = |text: &str, name: &str| {
            let line = text.lines().find(|line| line.starts_with(name))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        };
        let kilobytes = field(&read("/proc/meminfo"), "MemTotal")
            .and_then(|text| text.split(' ').next()?.parse::<u64>().ok())
            .unwrap_or_default();
        Self {
            processor: field(&read("/proc/cpuinfo"), "model name").unwrap_or_else(|| "unknown".to_owned()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_gb: kilobytes.div_ceil(1 << 20),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
        }
    }
}

/// How many processes wanted to run in the last minute.
pub(crate) fn load_average() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or_default()
}
