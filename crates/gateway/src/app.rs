//! What the handlers share: the store, the rules, the key, the identity of this installation.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use crypto::random::{Generator, RandomError};
use crypto::{KeyRing, SecretString, SigningKey};
use governance::{LiveAuthority, RuleSet, RuleSetError};
use ledger::note::{KeyKind, NoteError, VerifierKey};
use ledger::{Salt, origin};
use retention::Keeper;
use schema::{RunId, TenantId, Timestamp};
use store::{Store, TenantStore};
use telemetry::mask::Mask;
use telemetry::metrics::{BoundedLabel, Counter, Metrics};

/// What the shell hands in to start a gateway.
pub struct Installation {
    /// Where everything is kept.
    pub store: Arc<dyn Store>,
    /// Who forgets, on request.
    pub keeper: Keeper,
    /// What the names of the logs start with.
    pub log_name: String,
    /// The key ring; its log key is what the logs' own keys are derived from.
    pub keys: KeyRing,
    /// The key that callers must present; without one everybody may call.
    pub api_key: Option<SecretString>,
    /// Secrets that must never be recorded.
    pub mask: Mask,
    /// Where requests are counted.
    pub metrics: Metrics,
}

/// Why a gateway does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Nothing to sign the ledger with.
    #[error("there is no log key in {0}")]
    NoKey(PathBuf),
    /// The name of the log is none.
    #[error("`ledger.name` cannot name a log")]
    Name(#[from] NoteError),
    /// The built-in rules cannot be read: our own mistake.
    #[error("the built-in policy cannot be read")]
    Rules(#[from] RuleSetError),
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
    pub(crate) rules: RuleSet,
    /// The tenant that everybody is until there are keys with tenants.
    pub(crate) tenant: TenantId,
    /// The public half of the tenant's log key, named by the log's origin.
    pub(crate) log_key: VerifierKey,
    pub(crate) log_signer: SigningKey,
    pub(crate) api_key: Option<SecretString>,
    pub(crate) mask: Mask,
    pub(crate) metrics: Metrics,
    /// The right to act, which only this, the live path, has.
    pub(crate) authority: LiveAuthority,
    requests: Counter<1>,
    random: Mutex<Generator>,
}

impl App {
    pub(crate) fn start(installation: Installation) -> Result<Self, StartError> {
        let Installation { store, keeper, log_name, keys, api_key, mask, metrics } = installation;
        let tenant = TenantId::NIL;
        let origin = origin(&log_name, tenant)?;
        let signing_key = keys.signing_key().ok_or_else(|| StartError::NoKey(keys.folder().to_owned()))?;
        let log_signer = signing_key.derive(origin.as_str());
        let log_key = VerifierKey::new(origin, KeyKind::Log, log_signer.public());
        let rules = RuleSet::built_in()?;
        let random = Mutex::new(Generator::new()?);
        let requests = metrics.counter("punk_requests", "Requests by the route that answered", ["route"]);
        let authority = LiveAuthority::of_the_live_path();
        let shared = Shared {
            store,
            keeper,
            rules,
            tenant,
            log_key,
            log_signer,
            api_key,
            mask,
            metrics,
            authority,
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

    /// Salts for `count` fields, in one go: the lock is taken once a run.
    pub(crate) fn salts(&self, count: usize) -> Vec<Salt> {
        self.random(|random| (0..count).map(|_| Salt::from_bytes(random.bytes())).collect())
    }

    pub(crate) fn count(&self, route: schema::Route) {
        self.requests.increment([BoundedLabel::fixed(route.as_str())]);
    }

    fn random<T>(&self, draw: impl FnOnce(&mut Generator) -> T) -> T {
        draw(&mut self.random.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
