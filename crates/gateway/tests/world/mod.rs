//! A real server over the store in memory, and a client to talk to it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    dead_code,
    reason = "a helper of tests may fail as a test does, and no test uses all of it"
)]

pub(crate) mod browser;
pub(crate) mod raw;
pub(crate) mod upstream;
pub(crate) mod work;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crypto::{KeyRing, Purpose, Secret};
use gateway::{Access, Bounds, Capacity, Door, Drain, Federation, Installation, Login, Models, Rates, Web};
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use providers::mock::Pace;
use providers::model::Catalogue;
use providers::pricing::PriceList;
use retention::Keeper;
use schema::Timestamp;
use serde_json::{Value, json};
use store::Store;
use store::memory::MemoryStore;
use telemetry::metrics::{Build, Metrics};
use tokio::sync::oneshot;

/// The bootstrap key of a gateway with keys.
pub(crate) const OPERATOR: &str = "operator-key-of-the-tests";

/// How the gateway is set up.
pub(crate) struct Setup {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) api_key: Option<&'static str>,
    pub(crate) rates: Rates,
    pub(crate) web: Web,
    pub(crate) models: Models,
    pub(crate) policies: Option<std::path::PathBuf>,
    pub(crate) remote: Option<gateway::RemoteGovernor>,
    pub(crate) limits: Option<nodes::RedisLimits>,
    pub(crate) proxies: gateway::Proxies,
    /// A vault that something else knows too; one of its own otherwise.
    pub(crate) vault: Option<Arc<vault::Vault>>,
    pub(crate) login: Login,
    pub(crate) bounds: Bounds,
    pub(crate) federation: Federation,
    /// The folder of the keys, if it is another node's too.
    pub(crate) keys: Option<std::path::PathBuf>,
    /// How much may be in progress at once.
    pub(crate) capacity: Capacity,
    /// How long it goes on after it was asked to stop.
    pub(crate) drain_delay: Duration,
    /// Whether what is proven serves without being asked for.
    pub(crate) auto_promote: bool,
    /// Who may be asked for what learned programs leave open.
    pub(crate) small: Option<apprentice::Small>,
    pub(crate) max_body_bytes: usize,
}

impl Setup {
    /// With keys, and without limits.
    pub(crate) fn protected() -> Self {
        Self { api_key: Some(OPERATOR), ..Self::open() }
    }

    /// Without keys, and without limits.
    pub(crate) fn open() -> Self {
        Self {
            store: Arc::new(MemoryStore::new()),
            api_key: None,
            rates: Rates::NONE,
            web: Web::default(),
            models: pretended(),
            policies: None,
            remote: None,
            limits: None,
            proxies: gateway::Proxies::default(),
            vault: None,
            login: Login::default(),
            bounds: Bounds::default(),
            federation: Federation::default(),
            keys: None,
            capacity: Capacity::default(),
            drain_delay: Duration::ZERO,
            auto_promote: false,
            small: None,
            max_body_bytes: 1 << 20,
        }
    }

    /// With keys, and over a database on the disk.
    pub(crate) fn on_disk() -> Self {
        // It lies beside the other temporary files, and goes when the system clears those.
        let path = tempfile::tempdir().unwrap().keep().join("punk.db");
        let store = store::sqlite::SqliteStore::open(&path, store::sqlite::Durability::Commit).unwrap();
        Self { store: Arc::new(store), ..Self::protected() }
    }

    /// With these files of policies, by name.
    pub(crate) fn governed(self, files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap().keep();
        for (name, text) in files {
            std::fs::write(folder.join(name), text).unwrap();
        }
        Self { policies: Some(folder), ..self }
    }

    pub(crate) async fn start(self) -> World {
        self.start_with(&Purpose::ALL).await.unwrap()
    }

    /// With keys for these purposes alone.
    pub(crate) async fn start_with(self, purposes: &[Purpose]) -> Result<World, gateway::ServeError> {
        let policies = self.policies.clone();
        // It lies beside the other temporary files, and goes when the system clears those.
        let folder = self.keys.unwrap_or_else(|| tempfile::tempdir().unwrap().keep());
        let mut keys = KeyRing::open(&folder).unwrap();
        let made = jiff::Timestamp::from_millisecond(1).unwrap();
        for purpose in purposes.iter().copied() {
            if keys.active(purpose).is_none() {
                keys.generate(purpose, made).unwrap();
            }
        }
        self.store.seal_with(store::Masters::new(keys.seal_keys().map(crypto::SealKey::duplicate).collect()));
        let masters = keys.seal_keys().map(crypto::SealKey::duplicate).next().unwrap();
        let masters = vault::MasterKeys::new(masters, Vec::new());
        let vault = match self.vault {
            Some(vault) => vault,
            None => Arc::new(vault::Vault::start(Arc::clone(&self.store), masters, None).await.unwrap()),
        };
        let clock = || Timestamp::from_millis(1_800_000_000_000).unwrap();
        let choice = apprentice::choice_of(&keys);
        let apprentice = apprentice::Apprentice::new(Arc::clone(&self.store), now, choice, self.auto_promote)
            .with_small(self.small);
        let build = Build { version: "0", commit: None, target: "test" };
        let installation = Installation {
            keeper: Keeper::new(Arc::clone(&self.store), self.store.views(), clock),
            store: Arc::clone(&self.store),
            log_name: "test".to_owned(),
            keys: Arc::new(keys),
            api_key: self.api_key.map(|key| Secret::new(key.to_owned())),
            secrets: Vec::new(),
            vault: Arc::clone(&vault),
            redaction: true,
            login: self.login,
            federation: self.federation,
            metrics: Metrics::new(build, 0.0),
            rates: self.rates,
            web: self.web,
            max_body_bytes: self.max_body_bytes,
            bounds: self.bounds,
            capacity: self.capacity,
            models: self.models,
            cache: cache::Rules::default(),
            policies: self.policies,
            remote: self.remote,
            webhook_reach: egress::Reach::public(),
            meters: None,
            limits: self.limits,
            proxies: self.proxies,
            apprentice: Arc::new(apprentice),
            learn_every: Duration::from_secs(3_600),
        };
        let access = if self.api_key.is_some() { Access::ByKey } else { Access::Open };
        let door = Door::bind("127.0.0.1:0".parse().unwrap(), access).await?;
        let server = door.open(installation)?;
        let address = server.address.to_string();
        let drain =
            Drain { delay: self.drain_delay, patience: Duration::from_secs(5), socket: gateway::Socket::Own };
        let (stop, stopped) = oneshot::channel::<()>();
        let ended = tokio::spawn(server.run(async { drop(stopped.await) }, drain));
        let client = Client::builder(TokioExecutor::new()).build_http();
        Ok(World {
            address,
            client,
            store: self.store,
            policies,
            stop: Some(stop),
            ended: Some(ended),
            folder,
        })
    }
}

/// What time it is: tokens hold by the real clock.
#[expect(clippy::disallowed_methods, reason = "the gateway under test asks the same clock")]
pub(crate) fn now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    Timestamp::from_millis(u64::try_from(since.as_millis()).unwrap()).unwrap()
}

/// The built-in provider for everything, without pauses.
fn pretended() -> Models {
    Models {
        catalogue: Catalogue::default(),
        upstreams: HashMap::new(),
        prices: PriceList::default(),
        pace: Pace::Instant,
    }
}

/// A running gateway.
pub(crate) struct World {
    pub(crate) address: String,
    client: Client<HttpConnector, Full<Bytes>>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) policies: Option<std::path::PathBuf>,
    stop: Option<oneshot::Sender<()>>,
    ended: Option<tokio::task::JoinHandle<usize>>,
    /// Where the keys are.
    pub(crate) folder: std::path::PathBuf,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Reply {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The code of an error.
    #[track_caller]
    pub(crate) fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or("none").to_owned()
    }
}

impl World {
    /// One request: `headers` as pairs, `body` as JSON unless it is null.
    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Reply {
        let bytes = if body.is_null() { Bytes::new() } else { Bytes::from(body.to_string()) };
        let response = self.response(method, path, headers, bytes).await;
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Reply { status: parts.status.as_u16(), headers: parts.headers, body }
    }

    /// An answer whose body is still to come.
    pub(crate) async fn response(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> http::Response<hyper::body::Incoming> {
        let method: Method = method.parse().unwrap();
        let mut request = Request::builder().method(method).uri(format!("http://{}{path}", self.address));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.client.request(request.body(Full::new(body)).unwrap()).await.unwrap()
    }

    /// With a key.
    pub(crate) async fn with(&self, key: &str, method: &str, path: &str, body: &Value) -> Reply {
        self.send(method, path, &[("authorization", &format!("Bearer {key}"))], body).await
    }

    /// As the operator.
    pub(crate) async fn operate(&self, method: &str, path: &str, body: &Value) -> Reply {
        self.with(OPERATOR, method, path, body).await
    }

    /// A key, with what a key is made with; returns its token.
    pub(crate) async fn key(&self, new: &Value) -> String {
        let reply = self.operate("POST", "/api/v1/keys", new).await;
        assert_eq!(reply.status, 201, "{reply:?}");
        reply.json()["token"].as_str().unwrap().to_owned()
    }

    /// A chat of somebody; returns its run.
    pub(crate) async fn chat(&self, key: &str, content: &str) -> String {
        let body = json!({ "model": "gpt-4o", "messages": [{ "role": "user", "content": content }] });
        let reply = self.with(key, "POST", "/v1/chat/completions", &body).await;
        assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
        reply.header("x-punk-run-id").unwrap().to_owned()
    }

    /// Another node over the same store, with the same keys.
    pub(crate) async fn second_node(&self) -> World {
        let store = Arc::clone(&self.store);
        Setup { store, keys: Some(self.folder.clone()), ..Setup::protected() }.start().await
    }

    /// Asks it to stop.
    pub(crate) fn ask_to_stop(&mut self) {
        drop(self.stop.take());
    }

    /// Asks it to stop, and waits. Returns how many connections had to be cut.
    pub(crate) async fn stop(&mut self) -> usize {
        drop(self.stop.take());
        self.ended.take().unwrap().await.unwrap()
    }
}
