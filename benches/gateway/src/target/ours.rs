//! Ours, with everything on: a key, 200 rules of policy, a budget, redaction, the look-up of the exact cache, the ledger.
//!
//! What would refuse a load is off (requests per minute), and what is learned from the ledger is left for later: it has a bench of its
//! own. Nothing else is; `proof.rs` reads back that it is so.

use std::fmt::Write as _;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::json;

use super::{KEY, OURS, Target, UPSTREAM_KEY, caller_headers, endpoint};
use crate::http;
use crate::process::Running;

/// The rules in force.
pub(crate) const RULES: usize = 200;
/// The name of their policy.
pub(crate) const POLICY: &str = "bench";

/// How ours is started.
pub(crate) struct Setup<'a> {
    pub(crate) punk: &'a Path,
    /// Where it keeps everything; made if it is not there.
    pub(crate) folder: PathBuf,
    pub(crate) upstream: SocketAddr,
    pub(crate) redaction: bool,
    /// What runs it, with arguments: a tool that counts. Nothing usually.
    pub(crate) under: &'a [String],
    pub(crate) environment: &'a [(&'a str, &'a str)],
    pub(crate) patience: Duration,
}

impl<'a> Setup<'a> {
    pub(crate) fn new(punk: &'a Path, folder: PathBuf, upstream: SocketAddr) -> Self {
        let patience = Duration::from_secs(30);
        Self { punk, folder, upstream, redaction: true, under: &[], environment: &[], patience }
    }

    /// Starts it, and gives it its budget.
    pub(crate) fn start(&self) -> Result<Target, String> {
        let policies = self.folder.join("policies");
        let write = || {
            fs::create_dir_all(&policies)?;
            fs::write(policies.join("bench.yaml"), rules(RULES))
        };
        write().map_err(|error| format!("{}: {error}", policies.display()))?;
        let mut process = Running::start(self.command(), &self.folder.join("log"))?;
        let address = process.wait_until(self.patience, listens_at)?;
        let budget = json!({ "name": "bench", "limitUsd": 1_000_000, "per": "tenant", "window": "day" });
        let made = http::ask(address, "POST", "/api/v1/budgets", &caller_headers(), &budget.to_string())?;
        if made.status != 200 && made.status != 201 {
            return Err(format!("the budget was answered {}: {}", made.status, made.beginning()));
        }
        let chat = endpoint("/v1/chat/completions", "gpt-4o-mini");
        Ok(Target {
            name: OURS.to_owned(),
            address,
            process: Some(process),
            messages: Some(endpoint("/v1/messages", "claude-sonnet-4-5")),
            cached: Some(chat.clone()),
            translated: Some(endpoint("/v1/chat/completions", "claude-sonnet-4-5")),
            chat,
            only: &[],
        })
    }

    fn command(&self) -> Command {
        let mut words = self.under.iter().map(PathBuf::from).chain([self.punk.to_owned()]);
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).arg("serve").current_dir(&self.folder);
        for set in [
            "server.port=0",
            "limits.requests_per_minute=0",
            "limits.chat_requests_per_minute=0",
            "limits.ip_requests_per_minute=0",
            "learning.interval_ms=86400000",
            if self.redaction { "redaction.enabled=true" } else { "redaction.enabled=false" },
        ] {
            command.args(["--set", set]);
        }
        command
            .env("PUNK_API_KEY", KEY)
            .env("PUNK_POLICIES_DIR", "policies")
            .env("OPENAI_BASE_URL", format!("http://{}/v1", self.upstream))
            .env("OPENAI_API_KEY", UPSTREAM_KEY)
            .env("ANTHROPIC_BASE_URL", format!("http://{}", self.upstream))
            .env("ANTHROPIC_API_KEY", UPSTREAM_KEY)
            .envs(self.environment.iter().copied());
        command
    }
}

/// It says so in its first line.
fn listens_at(log: &str) -> Option<SocketAddr> {
    let line = log.lines().find(|line| line.starts_with("Punk listens on"))?;
    line.rsplit('/').next()?.trim().parse().ok()
}

/// So many rules, of which every tenth is about models and must be looked at; only the last one applies.
fn rules(count: usize) -> String {
    let mut text = format!("name: {POLICY}\nversion: '1'\ndefaultEffect: allow\nrules:\n");
    for number in 1..count {
        let (actions, when) = match number % 10 {
            0 => ("'model:*'".to_owned(), "{costUsd: '> 900', model: ['gpt-4*']}"),
            1 => (format!("'read:thing-{number}', 'write:thing-{number}'"), "{sideEffectLevel: '>= 3'}"),
            _ => (format!("'write:thing-{number}'"), "{hour: '8-18', tags: [batch]}"),
        };
        writeln!(text, "  - {{effect: deny, actions: [{actions}], when: {when}}}").ok();
    }
    text + "  - {effect: allow, actions: ['model:*']}\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_has_its_rules_and_ends_with_an_allow() {
        let text = rules(RULES);
        assert_eq!(text.matches("effect: ").count(), RULES);
        assert_eq!(text.matches("model:*").count(), RULES / 10);
        assert!(text.ends_with("{effect: allow, actions: ['model:*']}\n"));
    }

    #[test]
    fn the_address_is_in_the_first_line() {
        let log = "Punk listens on http://127.0.0.1:4100\n{\"level\":\"INFO\"}\n";
        assert_eq!(listens_at(log), Some(SocketAddr::from(([127, 0, 0, 1], 4100))));
        assert_eq!(listens_at(""), None);
    }
}
