//! The story: its steps in their order, and what they share.

use std::collections::BTreeMap;
use std::path::PathBuf;

use config::Settings;
use egress::Method;
use serde_json::{Value, json};

use super::client::{Client, Reply};
use super::stage::{Facts, Scene, Stage};
use super::ticket::{INSTRUCTIONS, ticket};
use super::{answering, governing, learning, proving};
use crate::failure::Failure;

/// The model that the agent asks for.
pub(super) const MODEL: &str = "gpt-4o";

/// What the steps share.
pub(super) struct Story {
    pub(super) client: Client,
    pub(super) stage: Stage,
    /// Where packets are written to.
    pub(super) folder: PathBuf,
    /// The folder of the keys, and what the log is called.
    pub(super) keys: PathBuf,
    pub(super) log_name: String,
    /// The key of the agent, and that of the person who is asked.
    agent: String,
    reviewer: String,
    /// What to take back at the end.
    made: Vec<String>,
    /// Where in the queue of tickets the story is.
    pub(super) at: u64,
    /// How the calls of this story were answered.
    routes: BTreeMap<String, u64>,
    /// What was counted before it began.
    pub(super) before: Value,
    /// What serves since an earlier story, if something does.
    pub(super) learned: Option<String>,
    /// A run that a learned program answered.
    pub(super) proven_run: Option<String>,
    /// Where somebody can look around afterwards: an address, or the command that opens it.
    pub(super) afterwards: String,
}

impl Story {
    /// Makes a key for the agent and one for the person who is asked, and looks at what there is from before.
    pub(super) async fn begin(client: Client, stage: Stage, settings: &Settings) -> Result<Self, Failure> {
        let mut story = Self {
            client,
            stage,
            folder: settings.data_dir().join("evidence"),
            keys: settings.keys_dir(),
            log_name: settings.log_name().to_owned(),
            agent: String::new(),
            reviewer: String::new(),
            made: Vec::new(),
            at: 0,
            routes: BTreeMap::new(),
            before: Value::Null,
            learned: None,
            proven_run: None,
            afterwards: format!("punk serve --data-dir {}", settings.data_dir().display()),
        };
        story.agent = story.key("support triage", &["gateway", "read", "write"]).await?;
        story.reviewer = story.key("ada, who is asked", &["read", "approve"]).await?;
        // As it would be for a gateway that nobody has configured, whatever an earlier story left.
        story.operate(Method::Patch, "/api/v1/settings", &json!({ "memory_quarantine": null }), 200).await?;
        story.before = story.get("/api/v1/savings").await?;
        story.at = story.before["totalRuns"].as_u64().unwrap_or(0);
        let serving = story.get("/api/v1/artifacts?state=promoted").await?;
        story.learned = serving["artifacts"][0]["id"].as_str().map(str::to_owned);
        Ok(story)
    }

    /// Tells all of it. `stays`: whether somebody can look around afterwards.
    pub(super) async fn tell(mut self, stays: bool) -> Result<(), Failure> {
        self.stage.say(
            "A support agent sorts tickets. It speaks to Punk as it would to OpenAI; the model is a built-in mock, and nothing \
             leaves this machine.",
        );
        if self.learned.is_some() {
            self.stage.say("This is not the first time: what was learned then still serves.");
        }
        if stays {
            self.afterwards = format!("{}/", self.client.url());
        }
        answering::tell(&mut self).await?;
        learning::tell(&mut self).await?;
        governing::tell(&mut self).await?;
        proving::tell(&mut self).await?;
        for id in std::mem::take(&mut self.made) {
            self.operate(Method::Delete, &format!("/api/v1/keys/{id}"), &Value::Null, 200).await?;
        }
        if stays {
            let line = format!("The dashboard shows all of it: {}/ (until Ctrl-C)", self.client.url());
            self.stage.say(&line);
        }
        Ok(())
    }

    /// One step: what is said before it, what happens, what came of it.
    pub(super) async fn open(&mut self, scene: &Scene) {
        self.stage.open(scene).await;
    }

    pub(super) async fn close(&self, scene: &Scene, facts: Facts) {
        self.stage.close(scene, facts).await;
    }

    /// Something that whoever runs the installation does; nobody needs a key for that where nobody else comes in.
    pub(super) async fn operate(
        &self,
        method: Method,
        path: &str,
        body: &Value,
        status: u16,
    ) -> Result<Reply, Failure> {
        self.client.send(method, path, &[], body).await?.expect(status, path)
    }

    pub(super) async fn get(&self, path: &str) -> Result<Value, Failure> {
        Ok(self.operate(Method::Get, path, &Value::Null, 200).await?.json)
    }

    /// Something that the agent sends, with headers of its own.
    pub(super) async fn as_agent(
        &self,
        path: &str,
        more: &[(&'static str, &str)],
        body: &Value,
    ) -> Result<Reply, Failure> {
        let bearer = format!("Bearer {}", self.agent);
        let mut headers =
            vec![("authorization", bearer.as_str()), ("x-punk-app", "support"), ("x-punk-agent", "triage")];
        headers.extend_from_slice(more);
        self.client.send(Method::Post, path, &headers, body).await
    }

    /// What the person says who is asked.
    pub(super) async fn decide(&self, approval: &str, body: &Value) -> Result<String, Failure> {
        let bearer = format!("Bearer {}", self.reviewer);
        let path = format!("/api/v1/approvals/{approval}/decide");
        let reply = self.client.send(Method::Post, &path, &[("authorization", &bearer)], body).await?;
        let reply = reply.expect(200, &path)?;
        Ok(reply.json["approval"]["status"].as_str().unwrap_or_default().to_owned())
    }

    /// A call of the model, whatever comes of it.
    pub(super) async fn chat(
        &mut self,
        more: &[(&'static str, &str)],
        body: &Value,
    ) -> Result<Reply, Failure> {
        let reply = self.as_agent("/v1/chat/completions", more, body).await?;
        *self.routes.entry(reply.route.clone()).or_default() += 1;
        Ok(reply)
    }

    /// The next ticket in the queue, answered.
    pub(super) async fn next_ticket(&mut self) -> Result<Reply, Failure> {
        self.at += 1;
        let body = triage(self.at);
        self.chat(&[], &body).await?.expect(200, "a ticket")
    }

    /// Of the calls that were answered in this story, the share that no model was asked for, in percent.
    pub(super) fn optimised_share(&self) -> f64 {
        let of = |route: &str| self.routes.get(route).copied().unwrap_or(0);
        let optimised = of("exact_cache") + of("artifact");
        100.0 * optimised as f64 / ((optimised + of("live")).max(1) as f64)
    }

    async fn key(&mut self, name: &str, scopes: &[&str]) -> Result<String, Failure> {
        let new = json!({ "name": name, "scopes": scopes, "requestsPerMinute": 0 });
        let made = self.operate(Method::Post, "/api/v1/keys", &new, 201).await?.json;
        self.made.extend(made["key"]["id"].as_str().map(str::to_owned));
        Ok(made["token"].as_str().unwrap_or_default().to_owned())
    }
}

/// What the agent asks about the ticket at a place in the queue.
pub(super) fn triage(at: u64) -> Value {
    json!({
        "model": MODEL, "temperature": 0,
        "messages": [{ "role": "system", "content": INSTRUCTIONS }, { "role": "user", "content": ticket(at) }],
    })
}

/// Money as people read it.
pub(super) fn dollars(value: &Value) -> String {
    value.as_f64().map_or_else(|| "unknown".to_owned(), |dollars| format!("${dollars:.6}"))
}

/// A text of an answer.
pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
