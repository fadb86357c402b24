//! Metrics of the process itself: what it was built from, when it started, what it holds.

use super::Build;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::registry::Registry;
use std::sync::atomic::AtomicU64;

pub(super) fn register(registry: &mut Registry, build: Build, started: f64) {
    let info = Family::<[(&'static str, &'static str); 3], Gauge>::default();
    let labels =
        [("version", build.version), ("commit", build.commit.unwrap_or("unknown")), ("target", build.target)];
    info.get_or_create(&labels).set(1);
    registry.register("punk_build_info", "What this program was built from", info);

    let start = Gauge::<f64, AtomicU64>::default();
    start.set(started);
    registry.register("process_start_time_seconds", "Start of the process, in seconds since 1970", start);
    registry.register_collector(Box::new(Held));
}

/// What the process holds of the machine, looked up when a scraper asks. Only where `/proc` tells.
#[derive(Debug)]
struct Held;

impl Collector for Held {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let gauges = [
            ("process_resident_memory_bytes", "Memory that is in use", resident_memory()),
            ("process_open_fds", "Open files and sockets", open_files()),
        ];
        for (name, help, value) in gauges {
            if let Some(value) = value {
                ConstGauge::new(value).encode(encoder.encode_descriptor(
                    name,
                    help,
                    None,
                    MetricType::Gauge,
                )?)?;
            }
        }
        Ok(())
    }
}

fn resident_memory() -> Option<i64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: i64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

fn open_files() -> Option<i64> {
    let count = std::fs::read_dir("/proc/self/fd").ok()?.count();
    // One of them is the folder being read.
    i64::try_from(count).ok().map(|count| count - 1)
}
