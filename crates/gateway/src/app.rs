//! What the handlers share: the store, the rules, the key, the identity of this installation.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use apprentice::{Apprentice, Shelf, choice_of};
use crypto::random::{Generator, RandomError};
use crypto::{KeyRing, Purpose, SecretString};
use egress::Reach;
use governance::{LiveAuthority, LoadError};
use ledger::Salt;
use nodes::{RedisLimits, RedisMeters};
use outbox::{Logs, LogsError};
use providers::upstream::{Dispatcher, Policy};
use retention::Keeper;
use router::Route;
use schema::{RunId, TenantId, Timestamp};
use store::{Store, TenantStore};
use telemetry::metrics::{BoundedLabel, Counter, Metrics};
use tokio::sync::{Semaphore, watch};
use tokio_util::task::TaskTracker;
use vault::Vault;
use wire::Wire;

use crate::clock::now;
use crate::connection::Bounds;
use crate::discretion::{House, NotUnderstood};
use crate::feed;
use crate::governor::{Book, Bridge, Decided, Policies, RemoteGovernor, Standing};
use crate::limits::{Limits, Rates};
use crate::machines::{Federation, FederationError, Machines};
use crate::models::Models;
use crate::origin::{Origins, Web};
use crate::people::{Directory, Login, Oidc, People};
use crate::proxies::Proxies;
use crate::remembered::Remembered;
use crate::room::{Capacity, Room};
use crate::store_watch::StoreWatch;

/// What the shell hands in to start a gateway.
pub struct Installation {
    /// Where everything is kept.
    pub store: Arc<dyn Store>,
    /// Who forgets, on request.
    pub keeper: Keeper,
    /// What the names of the logs start with.
    pub log_name: String,
    /// The key ring; its log key is what the logs' own keys are derived from.
    pub keys: Arc<KeyRing>,
    /// The key that callers must present; without one everybody may call.
    pub api_key: Option<SecretString>,
    /// How people log in.
    pub login: Login,
    /// Whose word is taken about who somebody is, besides our own.
    pub federation: Federation,
    /// Secrets that must never be recorded.
    pub secrets: Vec<SecretString>,
    /// The secrets of the installation and its tenants.
    pub vault: Arc<Vault>,
    /// Whether secrets and personal data are looked for, and not only what is known by value.
    pub redaction: bool,
    /// Where requests are counted.
    pub metrics: Metrics,
    /// How often somebody may ask.
    pub rates: Rates,
    /// Which web pages may call, and by which name the gateway is known to them.
    pub web: Web,
    /// How long the body of a request may be.
    pub max_body_bytes: usize,
    /// What clients may take of connections and time.
    pub bounds: Bounds,
    /// How much may be in progress at once.
    pub capacity: Capacity,
    /// Who can be asked for which model.
    pub models: Models,
    /// How answers are kept for others who ask the same, where a tenant says nothing else.
    pub cache: cache::Rules,
    /// The folder of the policies; without one, or with one that is not there, nothing is held back.
    pub policies: Option<PathBuf>,
    /// Another decision maker to ask as well.
    pub remote: Option<RemoteGovernor>,
    /// Where webhooks may lead.
    pub webhook_reach: Reach,
    /// Where limits are counted, if not in the store.
    pub meters: Option<RedisMeters>,
    /// Where requests per minute are counted for all nodes; without it each counts for itself.
    pub limits: Option<RedisLimits>,
    /// Who stands between the gateway and its callers.
    pub proxies: Proxies,
    /// Who learns from the logs.
    pub apprentice: Arc<Apprentice>,
    /// How often to look for what serves because of that.
    pub learn_every: Duration,
}

/// Why a gateway does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Nothing to sign the ledger with.
    #[error("there is no log key in {0}")]
    NoKey(PathBuf),
    /// Nothing to sign tokens with.
    #[error("there is no key for tokens in {0}")]
    NoTokenKey(PathBuf),
    /// The name of the log is none.
    #[error("`ledger.name` cannot name a log")]
    Name(#[from] LogsError),
    /// A file of policies cannot be read.
    #[error("the policies cannot be read")]
    Policies(#[from] LoadError),
    /// The certificates that others are known by cannot be read.
    #[error(transparent)]
    Trust(#[from] egress::TrustError),
    /// What must not be recorded cannot be looked for.
    #[error("the secrets of this installation cannot be looked for")]
    Redaction(#[from] NotUnderstood),
    /// Tokens of others cannot be taken as configured.
    #[error(transparent)]
    Federation(#[from] FederationError),
    /// People cannot log in elsewhere as configured.
    #[error("people cannot log in elsewhere: {0}")]
    Oidc(#[from] identity::oidc::ClientError),
    /// A provider sends people back to an address that nobody has said.
    #[error("people cannot log in elsewhere without `server.base_url`, where they are sent back to")]
    NoBaseUrl,
    /// No randomness.
    #[error(transparent)]
    Random(#[from] RandomError),
}

/// What every handler holds.
#[derive(Clone)]
pub(crate) struct App(Arc<Shared>);

impl std::ops::Deref for App {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

pub(crate) struct Shared {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) keeper: Keeper,
    pub(crate) policies: Policies,
    pub(crate) remote: Option<Bridge>,
    pub(crate) webhook_reach: Reach,
    /// Where limits are counted.
    pub(crate) book: Box<dyn Book>,
    pub(crate) logs: Logs,
    pub(crate) limits: Limits,
    pub(crate) proxies: Proxies,
    pub(crate) origins: Origins,
    pub(crate) max_body_bytes: usize,
    pub(crate) bounds: Bounds,
    /// What may be in progress at once.
    pub(crate) room: Room,
    /// Whether anything can be recorded.
    pub(crate) store_watch: StoreWatch,
    /// Whether the process has been asked to end: nobody should send it anything new.
    pub(crate) leaving: AtomicBool,
    /// Becomes true when the process is about to end: what would go on for ever ends then.
    pub(crate) draining: watch::Sender<bool>,
    /// Room for whoever reads along.
    pub(crate) readers: Arc<Semaphore>,
    /// Whose turn it is to change settings.
    pub(crate) settings_turn: tokio::sync::Mutex<()>,
    pub(crate) api_key: Option<SecretString>,
    /// What may be told to whom, by tenant.
    pub(crate) house: House,
    pub(crate) vault: Arc<Vault>,
    pub(crate) people: People,
    pub(crate) machines: Machines,
    pub(crate) oidc: Option<Oidc>,
    pub(crate) metrics: Metrics,
    /// The right to act, which only this, the live path, has.
    pub(crate) authority: LiveAuthority,
    pub(crate) models: Models,
    /// Carries calls to the upstreams.
    pub(crate) dispatcher: Dispatcher,
    /// The ways to answer, in the order they are asked.
    pub(crate) routes: Vec<Box<dyn Route>>,
    /// Who learns from the logs, and what serves because of that.
    pub(crate) apprentice: Arc<Apprentice>,
    pub(crate) shelf: Arc<Shelf>,
    pub(crate) learn_every: Duration,
    pub(crate) cache: cache::Rules,
    pub(crate) tenant_rules: Remembered<TenantId, cache::Rules>,
    /// What tenants have decided for themselves.
    pub(crate) decided_by: Remembered<TenantId, Arc<Decided>>,
    /// How far agents are trusted.
    pub(crate) standings: Remembered<(TenantId, String), Standing>,
    /// What goes on though nobody waits for it: runs that are being recorded.
    pub(crate) tasks: TaskTracker,
    requests: Counter<1>,
    random: Mutex<Generator>,
}

impl App {
    pub(crate) fn start(installation: Installation) -> Result<Self, StartError> {
        let Installation {
            store,
            keeper,
            log_name,
            keys,
            api_key,
            secrets,
            vault,
            redaction,
            login,
            federation,
            metrics,
            rates,
            web,
            max_body_bytes,
            bounds,
            capacity,
            models,
            cache,
            policies,
            remote,
            webhook_reach,
            meters,
            limits,
            proxies,
            apprentice,
            learn_every,
        } = installation;
        if keys.signing_key().is_none() {
            return Err(StartError::NoKey(keys.folder().to_owned()));
        }
        if keys.active(Purpose::Token).is_none() {
            return Err(StartError::NoTokenKey(keys.folder().to_owned()));
        }
        let people = People::new(Directory::new(Arc::clone(&store)), login, &keys, &metrics)?;
        let Federation { issuers, oidc, allow_private } = federation;
        let name = web.base_url.as_deref().unwrap_or(&log_name);
        let machines = Machines::new(name, &keys, &people.directory, issuers, allow_private)?;
        let oidc = match (oidc, &web.base_url) {
            (None, _) => None,
            (Some(_), None) => return Err(StartError::NoBaseUrl),
            (Some(provider), Some(base)) => Some(Oidc::new(provider, base, Arc::clone(&keys))?),
        };
        let shelf = Arc::new(Shelf::new(choice_of(&keys)).with_small(apprentice.small().cloned()));
        let logs = Logs::new(log_name, keys);
        logs.key(TenantId::NIL)?;
        let origins = Origins::new(web, api_key.is_none() && !login.required);
        let policies = Policies::open(policies, now())?;
        let remote = remote.map(Bridge::new).transpose()?;
        let random = Mutex::new(Generator::new()?);
        let requests = metrics.counter("punk_requests", "Requests by the route that answered", ["route"]);
        let authority = LiveAuthority::of_the_live_path();
        let book: Box<dyn Book> = match meters {
            Some(meters) => Box::new(meters),
            None => Box::new(Arc::clone(&store)),
        };
        let shared = Shared {
            store,
            book,
            keeper,
            policies,
            remote,
            webhook_reach,
            logs,
            limits: Limits::new(rates, limits, &metrics),
            proxies,
            origins,
            max_body_bytes,
            bounds,
            room: Room::new(capacity, max_body_bytes, &metrics),
            store_watch: StoreWatch::default(),
            leaving: AtomicBool::new(false),
            draining: watch::Sender::new(false),
            readers: Arc::new(Semaphore::new(feed::READERS)),
            settings_turn: tokio::sync::Mutex::new(()),
            api_key,
            house: House::new(secrets, vault.known().clone(), redaction)?,
            vault,
            people,
            machines,
            oidc,
            metrics,
            authority,
            models,
            dispatcher: Dispatcher::new(Policy::default(), jitter()?),
            routes: router::routes(Arc::clone(&shelf)),
            apprentice,
            shelf,
            learn_every,
            cache,
            tenant_rules: Remembered::default(),
            decided_by: Remembered::default(),
            standings: Remembered::default(),
            tasks: TaskTracker::new(),
            requests,
            random,
        };
        Ok(Self(Arc::new(shared)))
    }
}

impl Shared {
    /// What `tenant` has, and nothing else.
    pub(crate) fn of(&self, tenant: TenantId) -> Box<dyn TenantStore> {
        self.store.tenant(tenant)
    }

    pub(crate) fn new_run(&self, now: Timestamp) -> RunId {
        RunId::new(now.as_millis(), self.random(Generator::bytes))
    }

    /// Bytes for an id.
    pub(crate) fn random_bytes(&self) -> [u8; 10] {
        self.random(Generator::bytes)
    }

    /// Bytes for what must be told from everything else and is kept by nobody.
    pub(crate) fn random_sixteen(&self) -> [u8; 16] {
        self.random(Generator::bytes)
    }

    /// Salts for `count` fields, in one go: the lock is taken once a run.
    pub(crate) fn salts(&self, count: usize) -> Vec<Salt> {
        let mut salts = vec![[0; 16]; count];
        self.random(|random| random.fill(salts.as_flattened_mut()));
        salts.into_iter().map(Salt::from_bytes).collect()
    }

    /// An id for a tool call, in the style of the wire.
    pub(crate) fn new_call_id(&self, wire: Wire) -> String {
        let prefix = if wire == Wire::Messages { "toolu_" } else { "call_" };
        let bytes: [u8; 16] = self.random(Generator::bytes);
        format!("{prefix}{:032x}", u128::from_be_bytes(bytes))
    }

    pub(crate) fn count(&self, route: schema::Route) {
        self.requests.increment([BoundedLabel::fixed(route.as_str())]);
    }

    fn random<T>(&self, draw: impl FnOnce(&mut Generator) -> T) -> T {
        draw(&mut self.random.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Chance for waits and shares, apart from the secrets' own.
fn jitter() -> Result<impl Fn() -> u64 + Send + Sync + 'static, RandomError> {
    let random = Mutex::new(Generator::new()?);
    Ok(move || {
        let mut random = random.lock().unwrap_or_else(PoisonError::into_inner);
        u64::from_be_bytes(random.bytes())
    })
}
