//! Ours, nginx and the peers in turn, again and again.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::args::Compare;
use crate::bars;
use crate::cell::{BIG, CELLS, Cell};
use crate::commit;
use crate::load::{Figures, Until};
use crate::machine::{Machine, load_average};
use crate::memory::Memory;
use crate::process::{self, Running, free_address};
use crate::proof;
use crate::report::Report;
use crate::sample::{Sample, Samples};
use crate::target::ours::Setup;
use crate::target::peer::Peer;
use crate::target::{BARE, NGINX, OURS, OURS_PLAIN, Target, bare, nginx};

/// Before anything is counted, every target sees every cell this long: some load code when it is first asked.
const ACQUAINTANCE: Duration = Duration::from_millis(700);
/// Before each cell is counted.
const WARM_UP: Duration = Duration::from_millis(300);

/// Does all of it. The report is complete, or there is none.
pub(crate) fn run(wanted: &Compare) -> Result<Report, String> {
    let punk = wanted.punk.clone().map_or_else(|| build("release"), Ok)?;
    let punk = fs::canonicalize(&punk).map_err(|error| format!("{}: {error}", punk.display()))?;
    let version =
        process::run(Command::new(&punk).arg("--version"))?.lines().next().unwrap_or_default().to_owned();
    let folder = tempfile::Builder::new().prefix("gateway-bench").tempdir();
    let folder = folder.map_err(|error| format!("no temporary folder: {error}"))?;
    let folder = folder.path();

    let mut missing = Vec::new();
    let peers = installed(&wanted.peers()?, &wanted.peer_cache, &mut missing);
    let (_upstream, upstream) = start_upstream(folder)?;
    let ours = Setup::new(&punk, folder.join("ours"), upstream).start()?;
    let proof = proof::prove(&ours, &punk, &folder.join("ours"))?;
    let plain =
        Setup { redaction: false, ..Setup::new(&punk, folder.join("ours-plain"), upstream) }.start()?;
    let mut targets = vec![Target::direct(upstream)];
    take(nginx::start(folder, upstream), NGINX, &mut targets, &mut missing);
    take(bare::start(folder, upstream), BARE, &mut targets, &mut missing);
    targets.push(ours);
    targets.push(Target { name: OURS_PLAIN.to_owned(), only: &[BIG.name], ..plain });
    let mut present = Vec::new();
    for (peer, programs) in &peers {
        eprintln!("starting {}", peer.name);
        let before = targets.len();
        take(peer.start(programs, folder, upstream), peer.name, &mut targets, &mut missing);
        if targets.len() > before {
            present.push(peer.release());
        }
    }

    let samples = measure(wanted, &mut targets, &folder.join("ours"), &mut missing)?;
    missing.extend(failures(&samples));
    let memory = if wanted.memory {
        // One that has seen nothing else, and nobody beside it.
        targets.clear();
        let ours = Setup::new(&punk, folder.join("ours-memory"), upstream).start()?;
        Some(Memory::measure(&ours, wanted.requests_for_memory())?)
    } else {
        None
    };
    Ok(Report {
        version,
        machine: Machine::this(),
        seconds_per_cell: wanted.seconds(),
        bars: bars::judge(&samples, memory.as_ref()),
        samples,
        proof,
        peers: present,
        not_measured: missing,
        memory,
    })
}

/// Builds ours, and says where it is: beside this program, by the profile.
pub(crate) fn build(profile: &str) -> Result<PathBuf, String> {
    eprintln!("building punk ({profile})");
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--locked", "--package", "cli", "--profile", profile]);
    process::run(cargo.current_dir(env!("CARGO_MANIFEST_DIR")))?;
    let this = std::env::current_exe().map_err(|error| format!("where this program is: {error}"))?;
    let folder = if profile == "dev" { "debug" } else { profile };
    let target = this.parent().and_then(Path::parent).unwrap_or(Path::new("target"));
    Ok(target.join(folder).join("punk"))
}

/// This program as an upstream, a process of its own.
pub(crate) fn start_upstream(folder: &Path) -> Result<(Running, SocketAddr), String> {
    let address = free_address()?;
    let this = std::env::current_exe().map_err(|error| format!("where this program is: {error}"))?;
    let mut command = Command::new(this);
    command.args(["upstream", "--listen", &address.to_string()]);
    let mut running = Running::start(command, &folder.join("upstream.log"))?;
    running.wait_for_port(Duration::from_secs(10), address)?;
    Ok((running, address))
}

/// Those of the peers that could be installed, with their programs.
fn installed(
    peers: &[&'static Peer],
    cache: &Path,
    missing: &mut Vec<(String, String)>,
) -> Vec<(&'static Peer, PathBuf)> {
    let mut there = Vec::new();
    for peer in peers {
        match peer.install(cache) {
            Ok(programs) => there.push((*peer, programs)),
            Err(error) => missing.push((peer.name.to_owned(), format!("cannot be installed: {error}"))),
        }
    }
    there
}

/// A target that did not start is named, with the reason.
fn take(
    started: Result<Target, String>,
    name: &str,
    targets: &mut Vec<Target>,
    missing: &mut Vec<(String, String)>,
) {
    match started {
        Ok(target) => targets.push(target),
        Err(error) => missing.push((name.to_owned(), format!("did not start: {error}"))),
    }
}

/// Every target in turn in each cell, again and again. Whoever ends meanwhile is left out from then on, and named.
fn measure(
    wanted: &Compare,
    targets: &mut Vec<Target>,
    ledger: &Path,
    missing: &mut Vec<(String, String)>,
) -> Result<Samples, String> {
    for cell in CELLS {
        eprintln!("getting acquainted: {}", cell.name);
        in_turn(targets, cell, Until::Time { warm: Duration::ZERO, counted: ACQUAINTANCE }, missing)?;
    }
    let mut all = Samples::default();
    let until = Until::Time { warm: WARM_UP, counted: Duration::from_secs_f64(wanted.seconds()) };
    for repeat in 0..wanted.repeats() {
        all.commits.push(commit::measure(ledger)?);
        for cell in CELLS {
            eprintln!("repeat {} of {}: {}", repeat + 1, wanted.repeats(), cell.name);
            for (target, load_average, figures) in in_turn(targets, cell, until, missing)? {
                all.samples.push(Sample { target, cell: cell.name, repeat, load_average, figures });
            }
        }
    }
    Ok(all)
}

/// One cell of all targets that can be asked it, with the load average of the machine.
fn in_turn(
    targets: &mut Vec<Target>,
    cell: &Cell,
    until: Until,
    missing: &mut Vec<(String, String)>,
) -> Result<Vec<(String, f64, Figures)>, String> {
    let mut seen = Vec::new();
    let mut ended = Vec::new();
    for target in targets.iter() {
        match target.measure(cell, until) {
            None => {}
            Some(Ok(figures)) => seen.push((target.name.clone(), load_average(), figures)),
            Some(Err(error)) => ended.push((target.name.clone(), format!("ended in {}: {error}", cell.name))),
        }
    }
    // Without ours there is nothing to tell.
    if let Some((name, error)) = ended.iter().find(|(name, _)| [OURS, OURS_PLAIN].contains(&name.as_str())) {
        return Err(format!("{name} {error}"));
    }
    targets.retain(|target| ended.iter().all(|(name, _)| *name != target.name));
    missing.extend(ended);
    Ok(seen)
}

/// The cells in which a target failed too often for its figures to count, once each.
fn failures(samples: &Samples) -> Vec<(String, String)> {
    let mut told: Vec<(String, String)> = Vec::new();
    for sample in samples.samples.iter().filter(|sample| !sample.figures.is_sound()) {
        let name = format!("{} in {}", sample.target, sample.cell);
        let reason = match &sample.figures.first_error {
            Some(error) => error.clone(),
            None => "no answer in the time of the cell".to_owned(),
        };
        if told.iter().all(|(earlier, _)| *earlier != name) {
            told.push((name, reason));
        }
    }
    told
}
