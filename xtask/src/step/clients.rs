//! The official clients, unchanged, through Punk: `tests/clients`, for each kind of upstream that can stand behind it.
//!
//! Each setting has servers of its own: the stand-in for the vendors, and a Punk in front of it. They run two at a time,
//! since a suite mostly waits for its answers.
//!
//! To add a setting: an entry in [`SETTINGS`].

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::listener::Listener;
use super::{Chosen, Ending, Outcome, packages};
use crate::junit::{self, TestCase};
use crate::process::{Running, Trouble};
use crate::world::World;

/// The key that the clients hold. It must never reach an upstream.
pub(super) const CALLERS_KEY: &str = "pk_live_the_callers_own_key_0123456789";
const OPENAI_KEY: &str = "sk-upstream-openai";
const ANTHROPIC_KEY: &str = "sk-ant-upstream";
/// A suite that hangs would otherwise hold the run for ever.
const LIMIT: Duration = Duration::from_secs(240);
const AT_ONCE: usize = 2;
/// Punk's own mock, without the pauses of a model.
pub(super) const MOCK: &str = "[providers]\ndefault = \"mock\"\nmock.pace = \"instant\"";

/// What stands behind the address that the clients are given.
struct Setting {
    /// As the scripts know it.
    behind: &'static str,
    openai_model: &'static str,
    anthropic_model: &'static str,
    upstream: Upstream,
}

enum Upstream {
    /// The clients talk to the stand-in itself, which shows that the two understand each other.
    Direct,
    /// Punk's own mock.
    BuiltIn,
    /// The stand-in at this path, which is one vendor: what Punk is told of it, and the key it wants.
    StandIn { path: &'static str, told: &'static str, key: &'static str },
}

const SETTINGS: &[Setting] = &[
    Setting {
        behind: "openai",
        openai_model: "gpt-4.1-mini",
        anthropic_model: "gpt-4.1-mini",
        upstream: Upstream::StandIn {
            path: "/openai/v1",
            told: "wire = \"openai\"\nresponses = true",
            key: OPENAI_KEY,
        },
    },
    Setting {
        behind: "anthropic",
        openai_model: "claude-haiku-4-5",
        anthropic_model: "claude-haiku-4-5",
        upstream: Upstream::StandIn { path: "/anthropic", told: "wire = \"anthropic\"", key: ANTHROPIC_KEY },
    },
    Setting {
        behind: "compat",
        openai_model: "llama-4-scout",
        anthropic_model: "llama-4-scout",
        upstream: Upstream::StandIn {
            path: "/compat/v1",
            told: "wire = \"openai\"\nresponses = false",
            key: OPENAI_KEY,
        },
    },
    Setting {
        behind: "direct",
        openai_model: "gpt-4.1-mini",
        anthropic_model: "claude-haiku-4-5",
        upstream: Upstream::Direct,
    },
    Setting {
        behind: "mock",
        openai_model: "mock-small",
        anthropic_model: "mock-small",
        upstream: Upstream::BuiltIn,
    },
];

pub(super) fn run(world: &World, _: &Chosen) -> Outcome {
    let prepared = build(world)
        .and_then(|()| Ok(Prepared { node: packages::node(world)?, python: packages::python(world)? }));
    let prepared = match prepared {
        Ok(prepared) => prepared,
        Err(reason) => return Outcome::failed(reason),
    };
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(setting) = SETTINGS.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let result = prepared.run(world, setting);
                    if let Ok(mut results) = results.lock() {
                        results.push(result);
                    }
                }
            });
        }
    });
    sum_up(results.into_inner().unwrap_or_default())
}

fn sum_up(results: Vec<Suites>) -> Outcome {
    let mut outcome = Outcome::default();
    let mut reasons = Vec::new();
    for suites in results {
        reasons.extend(suites.troubles);
        outcome.tests.extend(suites.tests);
    }
    let failed = outcome.tests.iter().filter(|test| test.failed).count();
    if failed > 0 {
        reasons.insert(0, format!("{failed} of {} scripts failed", outcome.tests.len()));
    }
    if !reasons.is_empty() {
        outcome.ending = Ending::Failed(reasons.join("; "));
    }
    outcome
}

/// The binary that the tests of other steps leave behind as well.
pub(super) fn build(world: &World) -> Result<(), String> {
    let built = world.run(&mut world.cargo(["build", "--locked", "--package", "cli", "--bin", "punk"]));
    built.map_err(|trouble| format!("punk does not build: {trouble}"))
}

/// `punk serve` in a folder of its own, knowing nothing of the machine but `configuration`.
pub(super) fn serve(world: &World, name: &str, configuration: &str) -> Result<Listener, String> {
    let folder = world.folder().join(name);
    let written = fs::create_dir_all(&folder)
        .and_then(|()| fs::write(folder.join("punk.toml"), configuration))
        .map_err(|error| format!("cannot prepare {}: {error}", folder.display()));
    written?;
    let mut command = Command::new(world.target.join("debug/punk"));
    command.arg("serve").current_dir(&folder).env_clear().env("HOME", &folder);
    Listener::start(world, name, &mut command)
}

/// The programs that run the scripts.
struct Prepared {
    node: PathBuf,
    python: PathBuf,
}

/// What the suites of one setting gave.
#[derive(Default)]
struct Suites {
    tests: Vec<TestCase>,
    troubles: Vec<String>,
}

impl Prepared {
    fn run(&self, world: &World, setting: &Setting) -> Suites {
        match self.servers(world, setting) {
            Err(reason) => {
                Suites { troubles: vec![format!("{}: {reason}", setting.behind)], ..Suites::default() }
            }
            Ok(servers) => self.suites(world, setting, &servers),
        }
    }

    fn servers(&self, world: &World, setting: &Setting) -> Result<Servers, String> {
        let name = format!("{}-upstream", setting.behind);
        let mut server = Command::new(&self.node);
        server.arg(world.root.join("tests/clients/upstream/server.mjs"));
        let stand_in = match setting.upstream {
            Upstream::BuiltIn => None,
            Upstream::Direct | Upstream::StandIn { .. } => Some(Listener::start(world, &name, &mut server)?),
        };
        let address = stand_in.as_ref().map(|server| server.url.as_str()).unwrap_or_default();
        let name = format!("{}-punk", setting.behind);
        let punk = match setting.upstream {
            Upstream::Direct => None,
            Upstream::BuiltIn => Some(serve(world, &name, &configuration(MOCK))?),
            Upstream::StandIn { path, told, key } => {
                let model = setting.openai_model;
                let place = format!(
                    "base_url = \"{address}{path}\"\napi_key = \"{key}\"\nmodels = [\"{model}\", \"*\"]"
                );
                Some(serve(world, &name, &configuration(&format!("[upstreams.stand-in]\n{place}\n{told}")))?)
            }
        };
        Ok(Servers { stand_in, punk })
    }

    fn suites(&self, world: &World, setting: &Setting, servers: &Servers) -> Suites {
        let mut suites = Suites::default();
        let scripts = world.root.join("tests/clients");
        let report = |suite: &str| world.folder().join(format!("{}-{suite}.xml", setting.behind));

        let mut pytest = Command::new(self.python.join("pytest"));
        pytest.args([
            "--quiet",
            "--tb=short",
            "-p",
            "no:cacheprovider",
            "--override-ini=junit_family=xunit2",
        ]);
        pytest.arg(format!("--junitxml={}", report("python").display())).current_dir(scripts.join("python"));
        self.suite(world, setting, servers, ("python", &mut pytest, &report("python")), &mut suites);

        let mut node = Command::new(&self.node);
        node.args([
            "--test",
            "--test-isolation=none",
            "--test-reporter=spec",
            "--test-reporter-destination=stdout",
        ]);
        node.arg("--test-reporter=junit");
        node.arg(format!("--test-reporter-destination={}", report("node").display()));
        node.args(node_scripts(&scripts.join("node"))).current_dir(scripts.join("node"));
        self.suite(world, setting, servers, ("node", &mut node, &report("node")), &mut suites);
        suites
    }

    /// Runs one suite with its output kept, and shows the output if something failed: two settings run side by side.
    fn suite(
        &self,
        world: &World,
        setting: &Setting,
        servers: &Servers,
        (name, command, report): (&str, &mut Command, &Path),
        suites: &mut Suites,
    ) {
        let name = format!("{} {name}", setting.behind);
        let output = report.with_extension("txt");
        let ended = environment(command, setting, servers)
            .and_then(|command| quietly(command, &output))
            .and_then(|mut running| running.wait(&world.stop, Some(LIMIT)));
        let mut tests = fs::read_to_string(report).map(|xml| junit::tests(&xml)).unwrap_or_default();
        let failed = tests.iter().filter(|test| test.failed).count();
        println!("clients, {name}: {} passed, {failed} failed", tests.len() - failed);
        for test in &mut tests {
            test.name = format!("clients {name}: {}", test.name.trim_start_matches("test "));
        }
        match ended {
            Ok(()) if tests.is_empty() => suites.troubles.push(format!("{name} ran no script")),
            Ok(()) => {}
            Err(Trouble::Interrupted) => suites.troubles.push(format!("{name}: interrupted")),
            Err(trouble) => {
                let said = fs::read_to_string(&output).unwrap_or_default();
                let log = servers.punk.as_ref().map(|punk| tail(&punk.log)).unwrap_or_default();
                println!("--- {name}\n{said}\n--- {name}: the end of Punk's log\n{log}");
                if failed == 0 {
                    suites.troubles.push(format!("{name}: {trouble}"));
                }
            }
        }
        suites.tests.extend(tests);
    }
}

/// The servers of one setting. The clients talk to Punk, or without it to the stand-in.
struct Servers {
    stand_in: Option<Listener>,
    punk: Option<Listener>,
}

/// Any port, one key, no limits, and `upstream`.
pub(super) fn configuration(upstream: &str) -> String {
    format!(
        "[server]\nport = 0\n[auth]\napi_key = \"{CALLERS_KEY}\"\n\
         [limits]\nrequests_per_minute = 0\nchat_requests_per_minute = 0\nip_requests_per_minute = 0\n{upstream}\n"
    )
}

fn environment<'a>(
    command: &'a mut Command,
    setting: &Setting,
    servers: &Servers,
) -> Result<&'a mut Command, Trouble> {
    let tested = servers.punk.as_ref().or(servers.stand_in.as_ref());
    let tested = tested.ok_or_else(|| Trouble::Failed("nothing to talk to".into()))?;
    let keys = match setting.upstream {
        Upstream::Direct => (OPENAI_KEY, ANTHROPIC_KEY),
        Upstream::BuiltIn | Upstream::StandIn { .. } => (CALLERS_KEY, CALLERS_KEY),
    };
    // A proxy or a key of the machine must not find its way into the clients.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy().to_ascii_lowercase();
        let foreign =
            ["openai_", "anthropic_", "langchain_", "langsmith_", "http_proxy", "https_proxy", "all_proxy"];
        if foreign.iter().any(|start| text.starts_with(start)) {
            command.env_remove(&name);
        }
    }
    command.env("CLIENTS_URL", &tested.url).env("CLIENTS_BEHIND", setting.behind);
    command.env(
        "CLIENTS_UPSTREAM",
        servers.stand_in.as_ref().map(|server| server.url.as_str()).unwrap_or_default(),
    );
    command.env("CLIENTS_OPENAI_KEY", keys.0).env("CLIENTS_ANTHROPIC_KEY", keys.1);
    command.env("CLIENTS_OPENAI_MODEL", setting.openai_model);
    Ok(command.env("CLIENTS_ANTHROPIC_MODEL", setting.anthropic_model))
}

fn quietly(command: &mut Command, output: &Path) -> Result<Running, Trouble> {
    let file = fs::File::create(output).and_then(|file| Ok((file.try_clone()?, file)));
    let (out, err) =
        file.map_err(|error| Trouble::CannotStart(format!("cannot keep the output: {error}")))?;
    Running::start(command.stdout(out).stderr(err)).map_err(Trouble::CannotStart)
}

/// The scripts themselves; what they share has no `.test` in its name.
fn node_scripts(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut scripts: Vec<PathBuf> =
        entries.filter(|path| path.to_string_lossy().ends_with(".test.mjs")).collect();
    scripts.sort();
    scripts
}

fn tail(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}
