//! What can be asked of the program.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::target::peer::{Peer, USUAL_PEERS};

/// What the gateway costs beside nginx and other gateways; without a command, all of them are compared.
#[derive(Debug, Parser)]
#[command(name = "gateway-bench", args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Wanted>,
    #[command(flatten)]
    pub(crate) compare: Compare,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Wanted {
    /// Serve as an upstream that answers at once
    Upstream(Upstream),
    /// Serve as a proxy that does nothing, on the stack that ours is on
    Bare(Bare),
    /// Put a load on one address, and print its figures as JSON
    Load(Load),
    /// Count the instructions of a few requests, and compare them with those on record
    Instructions(Instructions),
}

/// The comparison.
#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// One short repeat with nginx alone; the page is not written
    #[arg(long)]
    quick: bool,
    /// A binary that is built already, instead of building one
    #[arg(long, value_name = "PATH")]
    pub(crate) punk: Option<PathBuf>,
    /// The peers, by name, with commas in between; `none` for none
    #[arg(long, value_name = "NAMES")]
    peers: Option<String>,
    /// Where peers are installed
    #[arg(long, value_name = "FOLDER", default_value_os_t = peer_cache())]
    pub(crate) peer_cache: PathBuf,
    /// How often everything is measured [default: 5, quick: 1]
    #[arg(long, value_name = "N")]
    repeats: Option<usize>,
    /// How long each cell is measured [default: 3, quick: 1]
    #[arg(long, value_name = "N")]
    seconds: Option<f64>,
    /// Measure memory after many requests, too
    #[arg(long)]
    pub(crate) memory: bool,
    /// How many they are [default: 1000000, quick: 20000]
    #[arg(long, value_name = "N")]
    requests_for_memory: Option<u64>,
    /// Print everything as JSON instead of tables
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the page here [default: docs/performance.md; quick: nowhere]
    #[arg(long, value_name = "PATH")]
    write: Option<PathBuf>,
    /// Exit with 1 when a bar is missed or was not measured
    #[arg(long)]
    pub(crate) strict: bool,
}

impl Compare {
    fn or_usual<T>(&self, given: Option<T>, quick: T, usual: T) -> T {
        given.unwrap_or(if self.quick { quick } else { usual })
    }

    pub(crate) fn peers(&self) -> Result<Vec<&'static Peer>, String> {
        let names = self.or_usual(self.peers.as_deref(), "none", USUAL_PEERS);
        names.split(',').map(str::trim).filter(|name| *name != "none").map(Peer::named).collect()
    }

    pub(crate) fn repeats(&self) -> usize {
        self.or_usual(self.repeats, 1, 5).max(1)
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.or_usual(self.seconds, 1.0, 3.0).max(0.1)
    }

    pub(crate) fn requests_for_memory(&self) -> u64 {
        self.or_usual(self.requests_for_memory, 20_000, 1_000_000)
    }

    /// Where the page goes, if it is written.
    pub(crate) fn page(&self) -> Option<PathBuf> {
        let page = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/performance.md"));
        self.or_usual(self.write.clone().map(Some), None, Some(page))
    }
}

/// The upstream.
#[derive(Debug, Args)]
pub(crate) struct Upstream {
    #[arg(long, default_value = "127.0.0.1:9900")]
    pub(crate) listen: SocketAddr,
    /// Before the first byte of an answer
    #[arg(long, default_value_t = 0)]
    pub(crate) latency_us: u64,
    /// Between the chunks of a stream
    #[arg(long, default_value_t = 0)]
    pub(crate) gap_us: u64,
    /// The chunks of a stream
    #[arg(long, default_value_t = 32)]
    pub(crate) chunks: usize,
}

/// The bare proxy.
#[derive(Debug, Args)]
pub(crate) struct Bare {
    #[arg(long)]
    pub(crate) listen: SocketAddr,
    #[arg(long)]
    pub(crate) upstream: SocketAddr,
}

/// One load.
#[derive(Debug, Args)]
pub(crate) struct Load {
    /// Where the target listens
    pub(crate) address: SocketAddr,
    #[arg(long, default_value = "/v1/chat/completions")]
    pub(crate) path: String,
    #[arg(long, default_value = "gpt-4o-mini")]
    pub(crate) model: String,
    /// `NAME: VALUE`; can be repeated
    #[arg(long)]
    pub(crate) header: Vec<String>,
    #[arg(long, default_value_t = 1)]
    pub(crate) connections: usize,
    #[arg(long, default_value_t = 3.0)]
    pub(crate) seconds: f64,
    #[arg(long, default_value_t = 0.5)]
    pub(crate) warm_seconds: f64,
    #[arg(long, default_value_t = 800)]
    pub(crate) prompt_bytes: usize,
    /// Ask for streams
    #[arg(long)]
    pub(crate) stream: bool,
    /// Ask in the messages wire
    #[arg(long)]
    pub(crate) messages: bool,
    /// Ask the same every time
    #[arg(long)]
    pub(crate) same: bool,
    /// The process whose tree is charged
    #[arg(long)]
    pub(crate) pid: Option<u32>,
}

/// Counting.
#[derive(Debug, Args)]
pub(crate) struct Instructions {
    /// Write what is counted as the new figures
    #[arg(long)]
    pub(crate) accept: bool,
    /// A binary of the same profile that is built already, instead of building one
    #[arg(long, value_name = "PATH")]
    pub(crate) punk: Option<PathBuf>,
    /// Leave what callgrind wrote in this folder, for `callgrind_annotate`
    #[arg(long, value_name = "FOLDER")]
    pub(crate) dumps: Option<PathBuf>,
}

fn peer_cache() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    cache.or_else(home).unwrap_or_else(std::env::temp_dir).join("punk/peers")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(line: &str) -> Compare {
        Arguments::try_parse_from(line.split(' ')).unwrap().compare
    }

    #[test]
    fn a_quick_run_has_no_peers_and_no_page() {
        let quick = compare("gateway-bench --quick");
        assert_eq!((quick.peers().unwrap().len(), quick.repeats(), quick.page()), (0, 1, None));
        let usual = compare("gateway-bench");
        assert_eq!((usual.peers().unwrap().len(), usual.repeats()), (4, 5));
        assert!(usual.page().is_some_and(|page| page.ends_with("docs/performance.md")));
    }

    #[test]
    fn what_is_named_goes_before_what_is_usual() {
        let named = compare("gateway-bench --quick --peers crabllm,smg --write page.md --seconds 2");
        assert_eq!((named.peers().unwrap().len(), named.seconds()), (2, 2.0));
        assert_eq!(named.page(), Some(PathBuf::from("page.md")));
        assert!(compare("gateway-bench --peers nobody").peers().is_err());
    }
}
