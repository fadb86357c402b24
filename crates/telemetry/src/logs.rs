//! Logs: lines on standard error, for people on a terminal and in JSON elsewhere.
//!
//! Every event is formatted into a buffer, goes through the [`Mask`] and is written at once, so that a
//! credential cannot slip through between two writes.

use crate::mask::Mask;
use std::io::{self, IsTerminal as _, Write};
use std::sync::{Arc, Mutex, PoisonError};
use tracing::Subscriber;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{EnvFilter, Layer};

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// Human on a terminal, JSON elsewhere.
    #[default]
    Auto,
    /// For people, coloured on a terminal.
    Human,
    /// One JSON object a line.
    Json,
}

/// What a filter may be, as the end of a sentence that begins "must be".
pub const FILTER_GRAMMAR: &str =
    "a level (off, error, warn, info, debug, trace) or directives such as info,gateway=debug";

/// Why a filter is refused.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the log filter {directive:?}; it must be {FILTER_GRAMMAR}")]
pub struct FilterError {
    directive: String,
}

impl FilterError {
    /// The part that cannot be read.
    pub fn directive(&self) -> &str {
        &self.directive
    }
}

/// Reads a filter. A bare word that is no level is refused: the library would take it for a module,
/// and a mistyped `inof` would silence everything.
pub fn filter(text: &str) -> Result<EnvFilter, FilterError> {
    const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];
    let refused = |directive: &str| FilterError { directive: directive.to_owned() };
    let bare = |directive: &&str| !directive.contains(['=', '[']);
    let is_level = |directive: &str| LEVELS.iter().any(|level| level.eq_ignore_ascii_case(directive));
    // Filters by span, in brackets, have a grammar of their own, which is the library's to judge.
    if !text.contains('[')
        && let Some(word) = text.split(',').filter(bare).find(|word| !is_level(word))
    {
        return Err(refused(word));
    }
    EnvFilter::builder().parse(text).map_err(|_| refused(text))
}

/// Where lines go.
#[derive(Debug, Clone)]
pub enum Sink {
    /// Standard error.
    StandardError,
    /// A buffer, for tests.
    Buffer(Arc<Mutex<Vec<u8>>>),
}

impl Sink {
    fn is_terminal(&self) -> bool {
        matches!(self, Self::StandardError) && io::stderr().is_terminal()
    }

    fn write(&self, line: &[u8]) {
        // Nobody is left to tell when standard error is closed.
        let _ = match self {
            Self::StandardError => io::stderr().lock().write_all(line),
            Self::Buffer(buffer) => {
                buffer.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(line);
                Ok(())
            }
        };
    }
}

/// The layer that writes lines.
pub fn layer<S>(format: Format, mask: &Arc<Mask>, sink: Sink) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'s> LookupSpan<'s>,
{
    let terminal = sink.is_terminal();
    let colour = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let layer = tracing_subscriber::fmt::layer().with_writer(Lines { mask: Arc::clone(mask), sink });
    let human = match format {
        Format::Auto => terminal,
        Format::Human => true,
        Format::Json => false,
    };
    if human {
        layer.with_ansi(colour).boxed()
    } else {
        layer.with_ansi(false).json().flatten_event(true).boxed()
    }
}

/// Makes a [`Line`] for each event.
struct Lines {
    mask: Arc<Mask>,
    sink: Sink,
}

impl<'w> MakeWriter<'w> for Lines {
    type Writer = Line<'w>;

    fn make_writer(&'w self) -> Line<'w> {
        Line { lines: self, buffer: Vec::new() }
    }
}

/// One event, written when it is complete.
struct Line<'w> {
    lines: &'w Lines,
    buffer: Vec<u8>,
}

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        let text = String::from_utf8_lossy(&self.buffer);
        self.lines.sink.write(self.lines.mask.apply(&text).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crypto::SecretString;
    use tracing_subscriber::layer::SubscriberExt as _;

    /// What `act` logs in one format.
    fn logged(format: Format, act: impl FnOnce()) -> String {
        let buffer = Arc::new(Mutex::new(Vec::new()));
        let secret = SecretString::new("correct horse".to_owned());
        let mask = Arc::new(Mask::new([&secret]));
        let layer = layer(format, &mask, Sink::Buffer(Arc::clone(&buffer)));
        let subscriber = tracing_subscriber::registry().with(filter("info").unwrap()).with(layer);
        tracing::subscriber::with_default(subscriber, act);
        String::from_utf8(buffer.lock().unwrap().clone()).unwrap()
    }

    #[test]
    fn a_key_in_a_message_or_a_field_is_masked_in_both_formats() {
        for format in [Format::Human, Format::Json, Format::Auto] {
            let lines = logged(format, || {
                let span = tracing::info_span!("call", key = "sk-ant-api03-4fT9xQz7LmN2vB8kRw3YcJ6d");
                let _entered = span.enter();
                tracing::info!("using ghp_x7Kq2Lm9Vb4Nc8Zt3Rj6Wd1Hs5Gp0Ef2Yu4I now");
                tracing::info!(key = "sk-proj-Hs1GpE5aUo0iXb7LmN2vB8kRw3Yc", header = %"Bearer mQ7xVz2kR9tLb4Nc8Wj3Td6H", "field");
                tracing::info!(url = ?"http://me:password@host/", known = "correct horse", "debug");
            });
            assert_eq!(lines.lines().count(), 3, "{lines}");
            for secret in ["4fT9xQz7", "x7Kq2Lm9", "Hs1GpE5a", "mQ7xVz2k", "password", "correct horse"] {
                assert!(!lines.contains(secret), "{format:?} shows {secret}: {lines}");
            }
            assert!(lines.contains("using [masked] now"), "{lines}");
        }
    }

    #[test]
    fn json_lines_are_objects_with_time_level_and_fields() {
        let lines = logged(Format::Json, || tracing::warn!(status = 502, "upstream failed"));
        for part in
            [r#""timestamp":"2"#, r#""level":"WARN""#, r#""message":"upstream failed""#, r#""status":502"#]
        {
            assert!(lines.contains(part), "{lines}");
        }
        assert!(lines.starts_with('{') && lines.ends_with("}\n"), "{lines}");
    }

    #[test]
    fn what_the_filter_leaves_out_is_not_written() {
        assert_eq!(logged(Format::Human, || tracing::debug!("quiet")), "");
    }

    #[test]
    fn a_mistyped_level_is_refused_and_real_filters_are_read() {
        for good in ["info", "OFF", "info,gateway=debug", "warn,store=trace", "[run{id=1}]=debug"] {
            assert!(filter(good).is_ok(), "{good}");
        }
        for bad in ["inof", "info,", "gateway", "gateway=loud", "info,gatewaydebug", ""] {
            assert!(filter(bad).is_err(), "{bad}");
        }
    }
}
