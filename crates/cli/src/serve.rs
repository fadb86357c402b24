//! `punk serve`: the gateway, until it is told to stop.

use crate::answer::Answer;
use crate::args::Common;
use crate::clock;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{observe, settings, version};
use config::Settings;
use crypto::KeyRing;
use crypto::keyring::Purpose;
use gateway::{Access, Door, Installation, ServeError};
use serde_json::json;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use store::Store;
use store::memory::MemoryStore;
use store::postgres::PostgresStore;
use store::sqlite::{Durability, SqliteStore};
use telemetry::mask::Mask;
use telemetry::metrics::{Build, Metrics};

pub(crate) fn run(common: &Common) -> Result<Answer, Failure> {
    let settings = settings::load(common)?;
    let _guard = observe::start(&settings)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::of(Exit::Environment, "punk_no_runtime", &error))?;
    runtime.block_on(serve(&settings))
}

async fn serve(settings: &Settings) -> Result<Answer, Failure> {
    let address = SocketAddr::new(settings.host(), settings.port());
    let build = Build { version: version::VERSION, commit: version::COMMIT, target: version::TARGET };
    let access = if settings.api_key().is_some() { Access::ByKey } else { Access::Open };
    // Refused before anything is written: a second server on the port must not even make keys.
    let door = Door::bind(address, access).await.map_err(|error| not_served(&error))?;
    let data = settings.data_dir();
    private_folder(data).map_err(|error| {
        Failure::of(Exit::Environment, "punk_data_unwritable", &error)
            .hint(format!("make {} writable, or choose another with --data-dir", data.display()))
    })?;
    let installation = Installation {
        keys: keys(settings)?,
        store: open_store(settings).await?,
        log_name: settings.log_name().to_owned(),
        api_key: settings.api_key().map(crypto::Secret::duplicate),
        mask: Mask::new(settings.secrets()),
        metrics: Metrics::new(build, clock::now().as_millisecond() as f64 / 1000.0),
    };
    let server = door.open(installation).map_err(|error| not_served(&error))?;
    tracing::info!(address = %server.address, "serving");
    if settings.api_key().is_none() {
        tracing::warn!("no API key is set: whoever reaches this address may call");
    }
    announce(server.address);
    server.run(stop_signal()).await.map_err(|error| not_served(&error))?;
    Ok(Answer::success("stopped\n", json!({ "stopped": true })))
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
fn announce(address: SocketAddr) {
    let mut out = std::io::stdout().lock();
    // Who closed standard output does not want to know.
    let _ = writeln!(out, "Punk listens on http://{address}").and_then(|()| out.flush());
}

/// The store that is configured.
async fn open_store(settings: &Settings) -> Result<Arc<dyn Store>, Failure> {
    if let Some(url) = settings.secret("store.url") {
        let opened = PostgresStore::connect(url.expose()).await;
        let store =
            opened.map_err(|error| Failure::of(Exit::Environment, "punk_store_unavailable", &error))?;
        return Ok(Arc::new(store));
    }
    let path = settings.db_path();
    if path == Path::new(":memory:") {
        tracing::warn!("the store is in memory: what is recorded ends with this process");
        return Ok(Arc::new(MemoryStore::new()));
    }
    let durability = match settings.text("store.durability") {
        Some("fsync") => Durability::Fsync,
        _ => Durability::Commit,
    };
    let opened = SqliteStore::open(&path, durability);
    let store = opened.map_err(|error| Failure::of(Exit::Environment, "punk_store_unavailable", &error))?;
    Ok(Arc::new(store))
}

/// The key ring, with a key to sign the ledger: made when there is none yet.
fn keys(settings: &Settings) -> Result<KeyRing, Failure> {
    let opened = KeyRing::open(settings.keys_dir());
    let mut ring = opened.map_err(|error| Failure::of(Exit::Environment, "punk_keys_unreadable", &error))?;
    if ring.signing_key().is_none() {
        let made = ring.generate(Purpose::Log, clock::now());
        let id = made.map_err(|error| Failure::of(Exit::Environment, "punk_keys_unwritable", &error))?;
        tracing::info!(%id, folder = %ring.folder().display(), "made a key to sign the ledger with");
    }
    Ok(ring)
}

fn not_served(error: &ServeError) -> Failure {
    match error {
        ServeError::Open(_) => Failure::of(Exit::Usage, "punk_open_to_all", error)
            .hint("set PUNK_API_KEY, or listen on 127.0.0.1"),
        ServeError::Bind { .. } => Failure::of(Exit::Environment, "punk_cannot_listen", error)
            .hint("another program may have the port; choose one with --port"),
        ServeError::Start(_) | ServeError::Listen(_) => {
            Failure::of(Exit::Environment, "punk_cannot_serve", error)
                .hint("`punk doctor` looks for what is in the way")
        }
    }
}

/// Done when somebody presses Ctrl-C or asks the process to end.
async fn stop_signal() {
    #[cfg(unix)]
    {
        let terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate());
        if let Ok(mut terminate) = terminate {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}
