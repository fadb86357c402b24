//! What the gateway costs beside nginx and its peers: `cargo run --release -p gateway-bench`.
//!
//! One program with five uses: it compares (`compare.rs`, start there), it is the upstream (`upstream/`), a proxy that does
//! nothing (`bare.rs`), the load (`load/`), and it counts instructions (`instructions.rs`). `cell.rs` has what is asked, `target/` who is asked, `bars.rs` what ours
//! must hold, `report.rs` what is told of it.
//!
//! - A run is reported only if ours has proven that everything it is measured with is on (`proof.rs`).
//! - Whoever could not be measured is named, with the reason.
//! - Ratios are made inside a repeat (`sample.rs`).
//!
//! To add a peer: a row in `target/peer.rs`. To add a cell: a constant in `cell.rs`, and its columns in `report.rs`.
#![allow(clippy::disallowed_methods, reason = "a bench reads the clock; nothing here is replayed")]

mod args;
mod bare;
mod bars;
mod cell;
mod commit;
mod compare;
mod http;
mod instructions;
mod load;
mod machine;
mod memory;
mod process;
mod proof;
mod report;
mod sample;
mod target;
mod upstream;

use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use clap::Parser as _;

use args::{Arguments, Compare, Load, Wanted};
use load::{Prompt, Request, Shape, Until, Wire};
use upstream::Pace;

fn main() -> ExitCode {
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    load::begin_at(now.as_micros() as u64);
    let arguments = Arguments::parse();
    let done = match arguments.command {
        None => compare(&arguments.compare),
        Some(Wanted::Upstream(wanted)) => {
            let pace = Pace {
                latency: Duration::from_micros(wanted.latency_us),
                gap: Duration::from_micros(wanted.gap_us),
                chunks: wanted.chunks,
            };
            upstream::serve(wanted.listen, pace)
                .map(|()| ExitCode::SUCCESS)
                .map_err(|error| format!("{}: {error}", wanted.listen))
        }
        Some(Wanted::Bare(wanted)) => bare::serve(wanted.listen, wanted.upstream)
            .map(|()| ExitCode::SUCCESS)
            .map_err(|error| format!("{}: {error}", wanted.listen)),
        Some(Wanted::Load(wanted)) => load(&wanted),
        Some(Wanted::Instructions(wanted)) => instructions::run(&wanted),
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::from(2)
    })
}

fn compare(wanted: &Compare) -> Result<ExitCode, String> {
    let report = compare::run(wanted)?;
    if wanted.json {
        println!("{}", serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?);
    } else {
        println!("{}", report.text());
    }
    if let Some(path) = wanted.page() {
        std::fs::write(&path, report.page()).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(if wanted.strict && !report.holds() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn load(wanted: &Load) -> Result<ExitCode, String> {
    let shape = Shape {
        wire: if wanted.messages { Wire::Messages } else { Wire::Chat },
        stream: wanted.stream,
        prompt: if wanted.same { Prompt::Same } else { Prompt::Distinct },
        prompt_bytes: wanted.prompt_bytes,
    };
    let figures = load::run(&load::Plan {
        address: wanted.address,
        request: &Request::new(shape, wanted.address, &wanted.path, &wanted.model, &wanted.header),
        connections: wanted.connections,
        until: Until::Time {
            warm: Duration::from_secs_f64(wanted.warm_seconds.max(0.0)),
            counted: Duration::from_secs_f64(wanted.seconds.max(0.1)),
        },
        charged: wanted.pid,
    })?;
    println!("{}", serde_json::to_string(&figures).map_err(|error| error.to_string())?);
    Ok(ExitCode::SUCCESS)
}
