//! Whoever is measured: a name, where it listens, what it can be asked, and the process that is charged.

pub(crate) mod bare;
pub(crate) mod nginx;
pub(crate) mod ours;
pub(crate) mod peer;

use std::net::SocketAddr;
use std::time::Duration;

use crate::cell::{Cell, Of};
use crate::http;
use crate::load::{self, Figures, Plan, Request, Until};
use crate::process::Running;

/// The names that bars are about.
pub(crate) const DIRECT: &str = "direct";
pub(crate) const NGINX: &str = "nginx";
pub(crate) const BARE: &str = "bare hyper";
pub(crate) const OURS: &str = "ours";
pub(crate) const OURS_PLAIN: &str = "ours, redaction off";

/// The key that callers show; the upstream has one of its own.
pub(crate) const KEY: &str = "sk-bench-caller-key-that-nobody-else-has";
pub(crate) const UPSTREAM_KEY: &str = "sk-bench-upstream-key-that-nobody-else-has";

/// Somebody who can be asked.
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) address: SocketAddr,
    /// The process that is charged. Nobody is for the upstream itself.
    pub(crate) process: Option<Running>,
    pub(crate) chat: Endpoint,
    pub(crate) messages: Option<Endpoint>,
    pub(crate) cached: Option<Endpoint>,
    pub(crate) translated: Option<Endpoint>,
    /// The cells it is asked in; all that it can answer when there are none.
    pub(crate) only: &'static [&'static str],
}

/// A path, and the name of the model there.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    pub(crate) path: String,
    pub(crate) model: String,
}

pub(crate) fn endpoint(path: &str, model: &str) -> Endpoint {
    Endpoint { path: path.to_owned(), model: model.to_owned() }
}

/// What a caller of any target sends.
pub(crate) fn caller_headers() -> Vec<String> {
    vec![format!("authorization: Bearer {KEY}")]
}

impl Target {
    /// The upstream itself, with nobody in between.
    pub(crate) fn direct(upstream: SocketAddr) -> Self {
        Self {
            name: DIRECT.to_owned(),
            address: upstream,
            process: None,
            chat: endpoint("/v1/chat/completions", "gpt-4o-mini"),
            messages: Some(endpoint("/v1/messages", "claude-sonnet-4-5")),
            cached: None,
            translated: None,
            only: &[],
        }
    }

    /// What `cell` asks of it, if it can.
    fn endpoint_of(&self, cell: &Cell) -> Option<&Endpoint> {
        if !self.only.is_empty() && !self.only.contains(&cell.name) {
            return None;
        }
        match cell.of {
            Of::Chat => Some(&self.chat),
            Of::Messages => self.messages.as_ref(),
            Of::Cached => self.cached.as_ref(),
            Of::Translated => self.translated.as_ref(),
        }
    }

    /// The request of `cell`, if the target can be asked it.
    pub(crate) fn request(&self, cell: &Cell) -> Option<Request> {
        let Endpoint { path, model } = self.endpoint_of(cell)?;
        Some(Request::new(cell.shape, self.address, path, model, &caller_headers()))
    }

    /// Measures one cell, if the target can be asked it.
    pub(crate) fn measure(&self, cell: &Cell, until: Until) -> Option<Result<Figures, String>> {
        let request = self.request(cell)?;
        Some(load::run(&Plan {
            address: self.address,
            request: &request,
            connections: cell.connections,
            until,
            charged: self.process.as_ref().map(Running::id),
        }))
    }

    /// Asks once, until it answers as it should: some open their port before they can.
    pub(crate) fn wait_for_answer(&mut self, patience: Duration) -> Result<(), String> {
        let (address, Endpoint { path, model }) = (self.address, self.chat.clone());
        let body = format!(
            r#"{{"model":"{model}","max_tokens":9,"messages":[{{"role":"user","content":"Are you there?"}}]}}"#
        );
        let answers = || match http::ask(address, "POST", &path, &caller_headers(), &body) {
            Ok(reply) if reply.status == 200 => Ok(()),
            Ok(reply) => Err(format!("answers {}: {}", reply.status, reply.beginning())),
            Err(error) => Err(error),
        };
        let Some(process) = &mut self.process else { return answers() };
        // The last answer says more than that the time was over.
        process.wait_until(patience, |_| answers().ok()).map_err(|error| match answers() {
            Err(answer) => format!("{answer} ({error})"),
            Ok(()) => error,
        })
    }
}
