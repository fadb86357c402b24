//! Metrics: a Prometheus registry whose number of series cannot be driven up from outside.
//!
//! A label value is a [`BoundedLabel`], and the only way to one is a [`Vocabulary`], a fixed set: what is
//! not in it becomes `other`. A metric with labels from vocabularies of 3 and 4 words has at
//! most (3 + 1) × (4 + 1) series, whatever callers send.
//!
//! [`Metrics`] is made once by the shell; who counts something asks it for a [`Counter`] or a
//! [`Histogram`] at start and keeps it. [`Metrics::render`] is the text that a scraper reads.

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter as Count;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::histogram::Histogram as Distribution;
use prometheus_client::registry::Registry;
use std::sync::{Mutex, PoisonError};

mod process;

/// What stands for every value outside a vocabulary.
pub const OTHER: &str = "other";

/// The values that a label may have.
#[derive(Debug, Clone, Copy)]
pub struct Vocabulary(&'static [&'static str]);

impl Vocabulary {
    /// The label may have these values, and `other`.
    pub const fn new(words: &'static [&'static str]) -> Self {
        Self(words)
    }

    /// `word` as a label: itself when it is in the vocabulary, else `other`.
    pub fn label(&self, word: &str) -> BoundedLabel {
        BoundedLabel(self.0.iter().copied().find(|known| *known == word).unwrap_or(OTHER))
    }
}

/// A label value from a fixed set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BoundedLabel(&'static str);

impl BoundedLabel {
    /// A value that the program itself names, such as the name of an enum's variant.
    pub const fn fixed(word: &'static str) -> Self {
        Self(word)
    }
}

type Labels<const N: usize> = [(&'static str, &'static str); N];

/// Counts something, by `N` labels.
#[derive(Debug, Clone)]
pub struct Counter<const N: usize> {
    names: [&'static str; N],
    family: Family<Labels<N>, Count>,
}

impl<const N: usize> Counter<N> {
    /// One more.
    pub fn increment(&self, labels: [BoundedLabel; N]) {
        self.add(labels, 1);
    }

    /// `amount` more.
    pub fn add(&self, labels: [BoundedLabel; N], amount: u64) {
        self.family.get_or_create(&named(&self.names, labels)).inc_by(amount);
    }
}

/// Observes sizes or durations, by `N` labels.
#[derive(Debug, Clone)]
pub struct Histogram<const N: usize> {
    names: [&'static str; N],
    family: Family<Labels<N>, Distribution, Buckets>,
}

impl<const N: usize> Histogram<N> {
    /// One observation.
    pub fn observe(&self, labels: [BoundedLabel; N], value: f64) {
        self.family.get_or_create(&named(&self.names, labels)).observe(value);
    }
}

/// The upper ends of a histogram's buckets.
#[derive(Debug, Clone, Copy)]
pub struct Buckets(pub &'static [f64]);

/// Seconds, from what a cache takes to what a slow model takes.
pub const SECONDS: Buckets = Buckets(&[
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0,
]);

impl MetricConstructor<Distribution> for Buckets {
    fn new_metric(&self) -> Distribution {
        Distribution::new(self.0.iter().copied())
    }
}

fn named<const N: usize>(names: &[&'static str; N], labels: [BoundedLabel; N]) -> Labels<N> {
    std::array::from_fn(|index| (names[index], labels[index].0))
}

/// What the program was built from.
#[derive(Debug, Clone, Copy)]
pub struct Build {
    /// The version.
    pub version: &'static str,
    /// The commit, when it is known.
    pub commit: Option<&'static str>,
    /// The platform.
    pub target: &'static str,
}

/// Every metric of the process.
#[derive(Debug)]
pub struct Metrics {
    registry: Mutex<Registry>,
}

impl Metrics {
    /// A registry that knows about the build and the process; `started` is the start of the process in
    /// seconds since 1970.
    pub fn new(build: Build, started: f64) -> Self {
        let mut registry = Registry::default();
        process::register(&mut registry, build, started);
        Self { registry: Mutex::new(registry) }
    }

    /// A new counter. Its name gets the ending `_total` when rendered.
    pub fn counter<const N: usize>(
        &self,
        name: &'static str,
        help: &'static str,
        labels: [&'static str; N],
    ) -> Counter<N> {
        let counter = Counter { names: labels, family: Family::default() };
        self.registry().register(name, help, counter.family.clone());
        counter
    }

    /// A new histogram.
    pub fn histogram<const N: usize>(
        &self,
        name: &'static str,
        help: &'static str,
        labels: [&'static str; N],
        buckets: Buckets,
    ) -> Histogram<N> {
        let histogram = Histogram { names: labels, family: Family::new_with_constructor(buckets) };
        self.registry().register(name, help, histogram.family.clone());
        histogram
    }

    /// Everything, in the OpenMetrics text format.
    pub fn render(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &self.registry());
        text
    }

    /// The content type of [`Metrics::render`].
    pub const CONTENT_TYPE: &'static str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

    fn registry(&self) -> std::sync::MutexGuard<'_, Registry> {
        // A registry is only appended to, so one that a panic left behind is still whole.
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUILD: Build = Build { version: "1.2.3", commit: Some("abc"), target: "test" };
    const ROUTES: Vocabulary = Vocabulary::new(&["live", "cache", "artifact"]);
    const CODES: Vocabulary = Vocabulary::new(&["200", "400", "500", "502"]);

    fn series(text: &str, name: &str) -> usize {
        text.lines().filter(|line| line.starts_with(name)).count()
    }

    #[test]
    fn ten_thousand_values_make_no_more_series_than_the_vocabularies_allow() {
        let metrics = Metrics::new(BUILD, 0.0);
        let requests = metrics.counter("punk_requests", "Requests", ["route", "status"]);
        let seconds = metrics.histogram("punk_request_seconds", "Duration", ["route"], SECONDS);
        for value in 0..10_000 {
            let route = ROUTES.label(&format!("route-{value}"));
            requests.increment([route, CODES.label(&value.to_string())]);
            seconds.observe([ROUTES.label(["live", "cache", "x"][value % 3])], 0.2);
        }
        let text = metrics.render();
        assert!(series(&text, "punk_requests_total{") <= (3 + 1) * (4 + 1), "{text}");
        assert_eq!(series(&text, "punk_request_seconds_count{"), 3, "{text}");
        assert!(text.contains(r#"punk_requests_total{route="other",status="other"} 9996"#), "{text}");
    }

    #[test]
    fn the_build_and_the_process_are_described() {
        let text = Metrics::new(BUILD, 1_800_000_000.0).render();
        assert!(text.contains(r#"punk_build_info{version="1.2.3",commit="abc",target="test"} 1"#), "{text}");
        assert!(text.contains("process_start_time_seconds 1800000000"), "{text}");
        assert!(text.ends_with("# EOF\n"), "{text}");
        #[cfg(target_os = "linux")]
        assert_eq!(
            (series(&text, "process_resident_memory_bytes "), series(&text, "process_open_fds ")),
            (1, 1),
            "{text}"
        );
    }

    #[test]
    fn a_known_word_is_its_own_label() {
        assert_eq!(ROUTES.label("cache"), BoundedLabel::fixed("cache"));
        assert_eq!(ROUTES.label("Cache"), BoundedLabel::fixed(OTHER));
    }
}
