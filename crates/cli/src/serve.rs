//! `punk serve`: the gateway, until it is told to stop.

use crate::answer::Answer;
use crate::args::Common;
use crate::background::Background;
use crate::clock;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::stop::{Stop, until_stopped};
use crate::{
    federation, given_back, handover, models, observe, open_files, runtime, secrets, settings, storage,
    users, version,
};
use apprentice::Apprentice;
use config::Settings;
use crypto::random::Generator;
use egress::Reach;
use gateway::{
    Access, Bounds, Capacity, Door, Drain, Forwarded, Installation, Login, Proxies, Rates, RemoteGovernor,
    ServeError, Server, SessionRules, Socket, Web,
};
use nodes::{ConnectError, RedisLimits, RedisMeters};
use serde_json::json;
use std::io::Write as _;
use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use telemetry::mask::Mask;
use telemetry::metrics::{Build, Metrics};
use vault::Vault;

pub(crate) fn run(common: &Common) -> Result<Answer, Failure> {
    let settings = Arc::new(settings::load(common)?);
    let guard = observe::start(&settings)?;
    // Before there are threads: what it reads of the environment it takes out of it.
    let handed = handover::socket()?;
    open_files::allow_many();
    runtime::block_on(serve(&settings, handed, guard.mask()))
}

/// How long after the start everything has run that runs once.
const STARTED: Duration = Duration::from_secs(3);

/// A gateway that is ready to answer, and the work beside it.
pub(crate) struct Ready {
    pub(crate) server: Server,
    background: Option<Background>,
    drain: Drain,
}

impl Ready {
    /// Serves and works until `stop`. Returns how many connections had to be cut.
    pub(crate) async fn run(self, stop: Stop) -> usize {
        run_both(self.server, self.background, stop, self.drain).await
    }
}

async fn serve(
    settings: &Arc<Settings>,
    handed: Option<TcpListener>,
    log_mask: &Mask,
) -> Result<Answer, Failure> {
    let ready = prepare(settings, handed, log_mask).await?;
    let cut = until_stopped(|stop| {
        announce(&format!("Punk listens on http://{}", ready.server.address));
        ready.run(stop)
    });
    let cut = cut.await?;
    Ok(Answer::success("stopped\n", json!({ "stopped": true, "connectionsCut": cut })))
}

/// A gateway as it is configured, that takes its address and makes what it needs.
pub(crate) async fn prepare(
    settings: &Arc<Settings>,
    handed: Option<TcpListener>,
    log_mask: &Mask,
) -> Result<Ready, Failure> {
    let address = SocketAddr::new(settings.host(), settings.port());
    let build = Build { version: version::VERSION, commit: version::COMMIT, target: version::TARGET };
    let admin = users::first_administrator(settings)?;
    let login = login(settings, admin.is_some());
    let access = if settings.api_key().is_some() || login.required { Access::ByKey } else { Access::Open };
    // Refused before anything is written: a second server on the port must not even make keys.
    let socket = if handed.is_some() { Socket::Handed } else { Socket::Own };
    let door = match handed {
        Some(listener) => Door::take(listener, access),
        None => Door::bind(address, access).await,
    };
    let door = door.map_err(|error| not_served(&error))?;
    let data = settings.data_dir();
    private_folder(data).map_err(|error| {
        Failure::of(Exit::Environment, "punk_data_unwritable", &error)
            .hint(format!("make {} writable, or choose another with --data-dir", data.display()))
    })?;
    let keys = storage::keys(settings)?;
    let store = storage::open(settings).await?;
    store.seal_with(storage::masters(&keys));
    let vault = secrets::vault(settings, &store, &keys).await?;
    log_mask.consult(Arc::new(vault.known().of_all()));
    secrets::tell_missing(settings, &vault).await?;
    if let Some(admin) = admin {
        users::make_first_administrator(&store, admin).await?;
    }
    let apprentice = storage::apprentice(&store, settings, &keys);
    let background = background(&store, settings, &vault, &apprentice)?;
    let (meters, limits) = (meters(&store, settings)?, limits(settings)?);
    let installation = Installation {
        keys: Arc::new(keys),
        keeper: storage::keeper(&store, &apprentice),
        store,
        log_name: settings.log_name().to_owned(),
        api_key: settings.api_key().map(crypto::Secret::duplicate),
        login,
        federation: federation::federation(settings)?,
        secrets: settings.secrets().map(crypto::Secret::duplicate).collect(),
        vault: vault.clone(),
        redaction: settings.boolean("redaction.enabled").unwrap_or(true),
        metrics: Metrics::new(build, clock::now().as_millisecond() as f64 / 1000.0),
        rates: rates(settings),
        web: Web {
            base_url: settings.text("server.base_url").map(str::to_owned),
            origins: settings.cors_origins().to_vec(),
        },
        max_body_bytes: settings.max_body_bytes(),
        bounds: bounds(settings),
        capacity: Capacity {
            requests: settings.concurrent_requests(),
            body_bytes: settings.body_bytes_in_progress(),
        },
        models: models::models(settings, &vault)?,
        cache: cache_rules(settings),
        policies: Some(settings.policies_dir().to_owned()),
        remote: remote_governor(settings),
        webhook_reach: webhook_reach(settings),
        meters,
        limits,
        proxies: proxies(settings),
        apprentice,
        learn_every: settings.learn_every(),
    };
    let server = door.open(installation).map_err(|error| not_served(&error))?;
    tracing::info!(address = %server.address, "serving");
    if settings.api_key().is_none() && !login.required {
        tracing::warn!("no API key is set: whoever reaches this address may call");
    }
    let drain = Drain { delay: settings.drain_delay(), patience: settings.drain(), socket };
    Ok(Ready { server, background, drain })
}

/// How people log in. Where there is a first administrator, somebody can.
fn login(settings: &Settings, has_admin: bool) -> Login {
    let [idle, lifetime, rotate] = settings.session_times();
    let sessions = SessionRules { idle, lifetime, rotate, ..SessionRules::default() };
    Login { required: settings.require_login() || has_admin, sessions }
}

/// Where budgets and the limits of policies are counted, if not in the store. Redis need not answer yet.
fn meters(store: &Arc<dyn Store>, settings: &Settings) -> Result<Option<RedisMeters>, Failure> {
    let Some(url) = settings.secret("store.redis_url") else { return Ok(None) };
    let random = Generator::new().map(|mut random| random.bytes());
    let node = random.map_err(|error| Failure::of(Exit::Environment, "punk_no_randomness", &error))?;
    let meters = RedisMeters::new(url.expose(), store.clone(), node).map_err(|error| no_redis(&error))?;
    Ok(Some(meters))
}

/// Where requests per minute are counted for all nodes.
fn limits(settings: &Settings) -> Result<Option<RedisLimits>, Failure> {
    let Some(url) = settings.secret("store.redis_url") else { return Ok(None) };
    let limits = RedisLimits::new(url.expose(), settings.limits_patience());
    limits.map(Some).map_err(|error| no_redis(&error))
}

fn no_redis(error: &ConnectError) -> Failure {
    Failure::of(Exit::Usage, "punk_redis_url", error).hint("check PUNK_REDIS_URL")
}

/// Who stands between the gateway and its callers.
fn proxies(settings: &Settings) -> Proxies {
    let header = match settings.text("server.forwarded_header") {
        Some("forwarded") => Forwarded::Standard,
        _ => Forwarded::XForwardedFor,
    };
    Proxies { trusted: settings.trusted_proxies(), header }
}

/// What clients may take of connections and time.
fn bounds(settings: &Settings) -> Bounds {
    let [header, idle, body, stalled] = settings.client_times();
    let (connections, header_bytes) = (settings.connections(), settings.header_bytes());
    Bounds { connections, header_bytes, header, idle, body, stalled }
}

/// How answers are kept for others who ask the same.
fn cache_rules(settings: &Settings) -> cache::Rules {
    let exact = settings.exact_cache();
    cache::Rules {
        enabled: exact.enabled,
        deterministic_only: exact.deterministic_only,
        ttl_seconds: exact.ttl.as_secs(),
        at_most: u32::try_from(exact.max_entries).ok().and_then(NonZeroU32::new),
    }
}

/// Where webhooks may lead.
pub(crate) fn webhook_reach(settings: &Settings) -> Reach {
    if settings.private_webhooks() { Reach::private() } else { Reach::public() }
}

/// The other decision maker, if one is named.
fn remote_governor(settings: &Settings) -> Option<RemoteGovernor> {
    Some(RemoteGovernor {
        url: settings.text("governance.meshguard_url")?.to_owned(),
        key: settings.secret("governance.meshguard_api_key").map(crypto::Secret::duplicate),
        patience: settings.remote_governor_patience(),
    })
}

/// How often somebody may ask; 0 is no limit.
fn rates(settings: &Settings) -> Rates {
    let number = |limit: Option<NonZeroU32>| limit.map_or(0, NonZeroU32::get);
    Rates {
        requests_per_minute: number(settings.requests_per_minute()),
        chat_requests_per_minute: number(settings.chat_requests_per_minute()),
        user_requests_per_minute: number(settings.user_requests_per_minute()),
        ip_requests_per_minute: number(settings.ip_requests_per_minute()),
    }
}

/// The work in the background, unless it is left to others.
fn background(
    store: &Arc<dyn Store>,
    settings: &Settings,
    vault: &Arc<Vault>,
    apprentice: &Arc<Apprentice>,
) -> Result<Option<Background>, Failure> {
    if settings.worker_embedded() {
        return Background::new(store, settings, Some(vault), apprentice).map(Some);
    }
    if settings.secret("store.url").is_none() {
        tracing::warn!(
            "jobs.embedded is off, and no other process can work on this database: jobs wait for ever"
        );
    }
    Ok(None)
}

/// Serves and works until `stop`, then lets both finish side by side. Returns how many connections had to be cut.
async fn run_both(server: Server, background: Option<Background>, stop: Stop, drain: Drain) -> usize {
    tokio::spawn(async {
        tokio::time::sleep(STARTED).await;
        // To look at all that is mapped takes milliseconds, in which this thread would serve nobody.
        let kilobytes = tokio::task::spawn_blocking(given_back::give_back).await.unwrap_or_default();
        tracing::debug!(kilobytes, "gave back what only starting needed");
    });
    let working = background.map(|background| tokio::spawn(work(background, stop.clone())));
    let cut = server.run(stop.requested(), drain).await;
    if cut > 0 {
        let seconds = drain.patience.as_secs();
        tracing::warn!(connections = cut, "cut connections that did not finish within {seconds} s");
    }
    if let Some(working) = working {
        // How it ended was logged when it did.
        let _ = working.await;
    }
    cut
}

/// Works as a task of its own: a mistake in there must not end the gateway, nor go unnoticed until it stops.
async fn work(background: Background, stop: Stop) {
    tracing::info!(kinds = background.kinds(), "working on jobs");
    if let Err(error) = tokio::spawn(background.run(stop)).await {
        let error = &error as &dyn std::error::Error;
        tracing::error!(error, "the worker panicked: jobs wait until the next start");
    }
}

/// Makes the data folder, for its owner only, unless it is there.
pub(crate) fn private_folder(path: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// One line on standard output that people read and scripts wait for.
pub(crate) fn announce(line: &str) {
    let mut out = std::io::stdout().lock();
    // Who closed standard output does not want to know.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

fn not_served(error: &ServeError) -> Failure {
    match error {
        ServeError::Open(_) => Failure::of(Exit::Usage, "punk_open_to_all", error)
            .hint("set PUNK_API_KEY or PUNK_REQUIRE_LOGIN, or listen on 127.0.0.1"),
        ServeError::Bind { .. } => Failure::of(Exit::Environment, "punk_cannot_listen", error)
            .hint("another program may have the port; choose one with --port"),
        ServeError::Handed(_) => Failure::of(Exit::Environment, "punk_cannot_listen", error)
            .hint("hand over one TCP socket that listens, as a systemd .socket unit with ListenStream= does"),
        ServeError::Start(_) => Failure::of(Exit::Environment, "punk_cannot_serve", error)
            .hint("`punk doctor` looks for what is in the way"),
    }
}
