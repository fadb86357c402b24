//! Work that goes on: a gateway that learns, and what is asked of it about that.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use apprentice::ExecuteError;
use hyper::body::Bytes;
use ledger::packet::{Broken, Execution, Report};
use ledger::trust::Trust;
use serde_json::{Value, json};

use super::upstream::Act;
use super::{Reply, World};

/// A gateway, and where it is.
pub(crate) struct Work {
    pub(crate) world: World,
    pub(crate) at: u64,
    /// Whether the model has changed its mind.
    pub(crate) changed: Arc<AtomicBool>,
}

impl Work {
    pub(crate) async fn get(&self, path: &str) -> Value {
        let reply = self.world.operate("GET", path, &Value::Null).await;
        assert_eq!(reply.status, 200, "{path}: {reply:?}");
        reply.json()
    }

    pub(crate) async fn post(&self, path: &str) -> Reply {
        self.world.operate("POST", path, &Value::Null).await
    }

    pub(crate) async fn tick(&self) -> Value {
        let reply = self.post("/api/v1/learning/tick").await;
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.json()
    }

    pub(crate) async fn pattern(&self) -> Value {
        self.get("/api/v1/patterns").await["patterns"][0].clone()
    }

    pub(crate) async fn artifact(&self) -> Value {
        self.get("/api/v1/artifacts").await["artifacts"][0].clone()
    }

    /// The run of a reply, with its events.
    pub(crate) async fn run(&self, reply: &Reply) -> Value {
        self.get(&format!("/api/v1/runs/{}", reply.header("x-punk-run-id").unwrap())).await
    }

    /// What a verifier says of the run of a reply.
    pub(crate) async fn verified(
        &self,
        reply: &Reply,
        execute: impl Fn(&Execution<'_>) -> Result<Option<Value>, ExecuteError>,
    ) -> Result<Report, Broken> {
        let trusted = trust(&self.world, schema::TenantId::NIL);
        ledger::packet::verify_with(&self.packet(reply).await, &trusted, governance::replay, execute)
    }

    /// The evidence of the run of a reply.
    pub(crate) async fn packet(&self, reply: &Reply) -> Bytes {
        let path = format!("/api/v1/runs/{}/evidence-packet", reply.header("x-punk-run-id").unwrap());
        self.world.operate("GET", &path, &Value::Null).await.body
    }
}

/// Has a learned program answer a recorded request again.
pub(crate) fn executed(execution: &Execution<'_>) -> Result<Option<Value>, ExecuteError> {
    let Execution { engine, artifact, asked, answer, told } = *execution;
    let again = |asked| apprentice::reexecute(engine, artifact, asked, (answer, told));
    asked.map(again).transpose()
}

/// Who is trusted: the log of a tenant.
pub(crate) fn trust(world: &World, tenant: schema::TenantId) -> Trust {
    let keys = Arc::new(crypto::KeyRing::open(&world.folder).unwrap());
    let key = outbox::Logs::new("test".to_owned(), keys).key(tenant).unwrap();
    Trust::parse(&format!("log {}\nquorum none\n", key.verifier())).unwrap()
}

/// The number that decides what is audited.
pub(crate) fn choice(world: &World) -> u64 {
    apprentice::choice_of(&crypto::KeyRing::open(&world.folder).unwrap())
}

/// What a model says, in the shape of chat completions.
pub(crate) fn says(model: &str, text: &str) -> Act {
    let choice =
        json!({ "index": 0, "message": { "role": "assistant", "content": text }, "finish_reason": "stop" });
    let usage = json!({ "prompt_tokens": 40, "completion_tokens": 12, "total_tokens": 52 });
    let answer = json!({
        "id": "c", "object": "chat.completion", "created": 1, "model": model, "choices": [choice], "usage": usage,
    });
    Act::Say(200, Vec::new(), answer)
}
