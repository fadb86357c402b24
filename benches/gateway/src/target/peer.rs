//! The peers: a row each of where it comes from and how it is started. Their configurations are in `peers/`.
//!
//! They run light: no budgets, no rules, no durable log; a key only where one is needed. To add one: a row in [`PEERS`].

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::{KEY, Target, UPSTREAM_KEY, endpoint};
use crate::process::{self, Running, free_address};

/// The slowest needs a minute to load its code.
const PATIENCE: Duration = Duration::from_secs(180);

/// One peer. In files and words, `{folder}`, `{port}`, `{upstream}`, `{key}` and `{upstream_key}` are filled in.
pub(crate) struct Peer {
    pub(crate) name: &'static str,
    source: Source,
    /// Names and contents of what it is configured with.
    files: &'static [(&'static str, &'static str)],
    /// A program of its installation, and its arguments.
    words: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
    port: Port,
    chat: (&'static str, &'static str),
    messages: Option<(&'static str, &'static str)>,
    translated: Option<(&'static str, &'static str)>,
}

/// Where it is installed from.
#[derive(Debug, Clone, Copy)]
enum Source {
    Crate(&'static str),
    Python(&'static str),
}

/// Who chooses its port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Port {
    /// We do.
    Given,
    /// It does, and says `http://127.0.0.1:PORT` in its log.
    Told,
}

const CHAT: (&str, &str) = ("/v1/chat/completions", "gpt-4o-mini");
const MESSAGES: (&str, &str) = ("/v1/messages", "claude-sonnet-4-5");
const TRANSLATED: (&str, &str) = ("/v1/chat/completions", "claude-sonnet-4-5");
/// What most rows have in common.
const USUAL: Peer = Peer {
    name: "",
    source: Source::Python(""),
    files: &[],
    words: &[],
    environment: &[],
    port: Port::Given,
    chat: CHAT,
    messages: None,
    translated: None,
};

/// Who is compared with when nobody says otherwise.
pub(crate) const USUAL_PEERS: &str = "crabllm,tensorzero,vllm-router,litellm";

pub(crate) const PEERS: &[Peer] = &[
    Peer {
        name: "crabllm",
        source: Source::Crate("crabllm@0.0.25"),
        files: &[("crabllm.toml", include_str!("../../peers/crabllm.toml"))],
        words: &["crabllm", "serve", "--config", "{folder}/crabllm.toml", "--bind", "127.0.0.1:{port}"],
        translated: Some(TRANSLATED),
        ..USUAL
    },
    Peer {
        name: "tensorzero",
        source: Source::Python("tensorzero==2026.6.0"),
        files: &[
            ("tensorzero.toml", include_str!("../../peers/tensorzero.toml")),
            ("serve.py", include_str!("../../peers/tensorzero-serve.py")),
        ],
        words: &["python", "{folder}/serve.py", "{folder}/tensorzero.toml"],
        port: Port::Told,
        chat: ("/openai/v1/chat/completions", "tensorzero::model_name::gpt-4o-mini"),
        translated: Some(("/openai/v1/chat/completions", "tensorzero::model_name::claude-sonnet-4-5")),
        ..USUAL
    },
    Peer {
        name: "vllm-router",
        source: Source::Python("vllm-router==0.1.16"),
        words: &[
            "vllm-router",
            "--host",
            "127.0.0.1",
            "--port",
            "{port}",
            "--worker-urls",
            "http://{upstream}",
            "--log-level",
            "error",
            "--prometheus-host",
            "127.0.0.1",
            "--prometheus-port",
            "{second_port}",
        ],
        ..USUAL
    },
    Peer {
        name: "litellm",
        source: Source::Python("litellm[proxy]==1.106.2"),
        files: &[("litellm.yaml", include_str!("../../peers/litellm.yaml"))],
        words: &["litellm", "--config", "{folder}/litellm.yaml", "--host", "127.0.0.1", "--port", "{port}"],
        environment: &[
            ("LITELLM_LOCAL_MODEL_COST_MAP", "True"),
            ("LITELLM_LOG", "ERROR"),
            ("LITELLM_MODE", "PRODUCTION"),
        ],
        messages: Some(MESSAGES),
        translated: Some(TRANSLATED),
        ..USUAL
    },
    Peer {
        name: "smg",
        source: Source::Python("smg==1.13.0"),
        words: &[
            "smg",
            "launch",
            "--host",
            "127.0.0.1",
            "--port",
            "{port}",
            "--backend",
            "openai",
            "--worker-urls",
            "http://{upstream}",
            "--history-backend",
            "none",
            "--log-level",
            "error",
            "--prometheus-host",
            "127.0.0.1",
            "--prometheus-port",
            "{second_port}",
        ],
        ..USUAL
    },
    Peer {
        name: "nemo-switchyard",
        source: Source::Python("nemo-switchyard==0.3.0"),
        files: &[
            ("switchyard.toml", include_str!("../../peers/switchyard.toml")),
            ("serve.py", include_str!("../../peers/switchyard-serve.py")),
        ],
        words: &["python", "{folder}/serve.py", "{folder}/switchyard.toml", "{port}"],
        ..USUAL
    },
];

impl Peer {
    /// The peer of this name.
    pub(crate) fn named(name: &str) -> Result<&'static Self, String> {
        let names = || PEERS.iter().map(|peer| peer.name).collect::<Vec<_>>().join(", ");
        PEERS
            .iter()
            .find(|peer| peer.name == name)
            .ok_or_else(|| format!("no peer `{name}`; there are {}", names()))
    }

    /// What is installed of it, with its version.
    pub(crate) fn release(&self) -> &'static str {
        match self.source {
            Source::Crate(release) | Source::Python(release) => release,
        }
    }

    /// Installs it below `cache` unless this release is there already, and gives the folder of its programs.
    pub(crate) fn install(&self, cache: &Path) -> Result<PathBuf, String> {
        let home = cache.join(self.name);
        let (stamp, programs) = (home.join("installed"), home.join("bin"));
        if fs::read_to_string(&stamp).is_ok_and(|installed| installed == self.release()) {
            return Ok(programs);
        }
        eprintln!("installing {}", self.release());
        match self.source {
            Source::Crate(release) => {
                let mut cargo = Command::new("cargo");
                // Its build folder is of no use afterwards: let cargo take a temporary one.
                cargo
                    .args(["install", "--locked", "--root"])
                    .arg(&home)
                    .arg(release)
                    .env_remove("CARGO_TARGET_DIR");
                process::run(&mut cargo)?;
            }
            Source::Python(release) => {
                process::run(Command::new("python3").args(["-m", "venv"]).arg(&home))?;
                process::run(Command::new(programs.join("pip")).args(["install", "--quiet", release]))?;
            }
        }
        fs::write(&stamp, self.release()).map_err(|error| format!("{}: {error}", stamp.display()))?;
        Ok(programs)
    }

    /// Starts it, and waits until it answers.
    pub(crate) fn start(
        &self,
        programs: &Path,
        folder: &Path,
        upstream: SocketAddr,
    ) -> Result<Target, String> {
        let folder = folder.join(self.name);
        let (address, second) = (free_address()?, free_address()?);
        let fill = |text: &str| {
            text.replace("{folder}", &folder.display().to_string())
                .replace("{port}", &address.port().to_string())
                .replace("{second_port}", &second.port().to_string())
                .replace("{upstream}", &upstream.to_string())
                .replace("{key}", KEY)
                .replace("{upstream_key}", UPSTREAM_KEY)
        };
        let write = || {
            fs::create_dir_all(&folder)?;
            self.files.iter().try_for_each(|(name, text)| fs::write(folder.join(name), fill(text)))
        };
        write().map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut words = self.words.iter().map(|word| fill(word));
        let mut command = Command::new(programs.join(words.next().unwrap_or_default()));
        command.args(words).current_dir(&folder).env("UPSTREAM_KEY", UPSTREAM_KEY);
        command.envs(self.environment.iter().copied());
        let mut process = Running::start(command, &folder.join("log"))?;
        let address = match self.port {
            Port::Given => process.wait_for_port(PATIENCE, address).map(|()| address)?,
            Port::Told => process.wait_until(PATIENCE, told_address)?,
        };
        let at = |(path, model): (&str, &str)| endpoint(path, model);
        let mut target = Target {
            name: self.name.to_owned(),
            address,
            process: Some(process),
            chat: at(self.chat),
            messages: self.messages.map(at),
            cached: None,
            translated: self.translated.map(at),
            only: &[],
        };
        target.wait_for_answer(PATIENCE)?;
        Ok(target)
    }
}

fn told_address(log: &str) -> Option<SocketAddr> {
    let rest = log.split("http://").nth(1)?;
    let end = rest.find(|letter: char| letter != '.' && letter != ':' && !letter.is_ascii_digit());
    rest[..end?].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_have_versions_and_distinct_names() {
        for (index, peer) in PEERS.iter().enumerate() {
            assert!(peer.release().contains('@') || peer.release().contains("=="), "{}", peer.name);
            assert!(PEERS[..index].iter().all(|earlier| earlier.name != peer.name), "{}", peer.name);
        }
        for name in USUAL_PEERS.split(',') {
            assert!(Peer::named(name).is_ok(), "{name}");
        }
        assert!(Peer::named("nobody").err().unwrap().contains("there are crabllm"));
    }

    #[test]
    fn an_address_is_found_in_a_log() {
        let address = Some(SocketAddr::from(([127, 0, 0, 1], 81)));
        assert_eq!(told_address("at http://127.0.0.1:81/openai/v1\n"), address);
        assert_eq!(told_address("not yet http://127.0.0.1:8"), None, "a line that is still being written");
    }
}
