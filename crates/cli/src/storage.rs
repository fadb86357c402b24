//! The store as it is configured, with the keys that seal what is in it, and all that is derived from it.

use crate::backup::not_opened;
use crate::clock;
use crate::exit::Exit;
use crate::failure::Failure;
use apprentice::{Apprentice, Learned, Small};
use config::Settings;
use crypto::KeyRing;
use crypto::keyring::Purpose;
use retention::Keeper;
use std::path::Path;
use std::sync::Arc;
use store::memory::MemoryStore;
use store::postgres::PostgresStore;
use store::sqlite::{Durability, SqliteStore};
use store::{Masters, Store, View};

/// The store that is configured.
pub(crate) async fn open(settings: &Settings) -> Result<Arc<dyn Store>, Failure> {
    if let Some(url) = settings.secret("store.url") {
        let store = PostgresStore::connect(url.expose()).await;
        let store =
            store.map_err(|error| Failure::of(Exit::Environment, "punk_store_unavailable", &error))?;
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
    let store = SqliteStore::open(&path, durability).map_err(|error| not_opened(&error))?;
    Ok(Arc::new(store))
}

/// Refuses where there is no store yet: looking at one must not make one.
pub(crate) fn must_exist(settings: &Settings, what: &str) -> Result<(), Failure> {
    if settings.secret("store.url").is_some() {
        return Ok(());
    }
    let path = settings.db_path();
    if path == Path::new(":memory:") {
        let message = format!("the store is in memory and cannot be {what}");
        return Err(Failure::new(Exit::Usage, "punk_not_sqlite", message).hint("set store.path to a file"));
    }
    if !path.exists() {
        let message = format!("there is no database at {}", path.display());
        return Err(Failure::new(Exit::No, "punk_no_database", message)
            .hint("name the folder of the data with --data-dir"));
    }
    Ok(())
}

/// The store that is configured, though its derived rows may be wrong: they are to be made again.
pub(crate) async fn open_to_repair(settings: &Settings) -> Result<Arc<dyn Store>, Failure> {
    if settings.secret("store.url").is_some() {
        return open(settings).await;
    }
    let store = SqliteStore::open_to_repair(&settings.db_path()).map_err(|error| not_opened(&error))?;
    Ok(Arc::new(store))
}

/// The store that is configured, to read: also while another process writes to it.
pub(crate) async fn open_to_read(settings: &Settings) -> Result<Arc<dyn Store>, Failure> {
    if settings.secret("store.url").is_some() {
        return open(settings).await;
    }
    let store = SqliteStore::open_to_read(&settings.db_path()).map_err(|error| not_opened(&error))?;
    Ok(Arc::new(store))
}

/// Everything that is derived from events and kept. Erasure and `punk rebuild` go through this list.
pub(crate) fn views(store: &dyn Store, apprentice: &Arc<Apprentice>) -> Vec<Box<dyn View>> {
    let mut views = store.views();
    views.push(Box::new(Learned(Arc::clone(apprentice))));
    views
}

/// Who learns from the logs of this store.
pub(crate) fn apprentice(store: &Arc<dyn Store>, settings: &Settings, keys: &KeyRing) -> Arc<Apprentice> {
    let choice = apprentice::choice_of(keys);
    let small = settings.small_model().map(|(model, percent)| Small { model: model.to_owned(), percent });
    let apprentice = Apprentice::new(Arc::clone(store), clock::wall, choice, settings.auto_promote());
    Arc::new(apprentice.with_small(small))
}

/// Who forgets in this store.
pub(crate) fn keeper(store: &Arc<dyn Store>, apprentice: &Arc<Apprentice>) -> Keeper {
    Keeper::new(store.clone(), views(&**store, apprentice), clock::wall)
}

/// The key ring, with a key to sign the ledger, one to seal what is in it and one to sign tokens: made when there is none yet.
pub(crate) fn keys(settings: &Settings) -> Result<KeyRing, Failure> {
    let mut ring = open_keys(settings)?;
    let uses = [
        (Purpose::Log, "sign the ledger"),
        (Purpose::Seal, "seal what is recorded"),
        (Purpose::Token, "sign tokens"),
    ];
    for (purpose, what) in uses {
        if ring.active(purpose).is_none() {
            let made = ring.generate(purpose, clock::now());
            let id = made.map_err(|error| Failure::of(Exit::Environment, "punk_keys_unwritable", &error))?;
            tracing::info!(%id, folder = %ring.folder().display(), "made a key to {what} with");
        }
    }
    Ok(ring)
}

/// The key ring as it is.
pub(crate) fn open_keys(settings: &Settings) -> Result<KeyRing, Failure> {
    let opened = KeyRing::open(settings.keys_dir());
    opened.map_err(|error| Failure::of(Exit::Environment, "punk_keys_unreadable", &error))
}

/// The ring's keys that seal, the active one first.
pub(crate) fn masters(ring: &KeyRing) -> Masters {
    let active = ring.seal_key();
    let retired = ring.seal_keys().filter(|key| Some(key.id()) != active.map(crypto::SealKey::id));
    Masters::new(active.into_iter().chain(retired).map(crypto::SealKey::duplicate).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where what happened is kept, once: sealed where it is about somebody, and forgotten by its key.
    const SOURCES: &[&str] = &[
        "ahead",
        "api_keys",
        "jobs",
        "leaves",
        "meters",
        "policies",
        "records",
        "schema_migrations",
        "sealed",
        "segments",
        "settings",
        "subjects",
        "tenants",
    ];

    /// Whoever adds a table says here which it is: a source, or a view that can be rebuilt and that forgets.
    #[test]
    fn every_table_is_a_source_or_has_a_view_that_can_forget() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("punk.db"), Durability::Commit).unwrap();
        let learner: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let views = views(&store, &Arc::new(Apprentice::new(learner, clock::wall, 0, false)));
        assert_eq!(
            views.iter().map(|view| view.name()).collect::<Vec<_>>(),
            ["runs", "cache", "usage", "agents", "conduct", "learning"],
            "the views there are"
        );
        let derived = views.iter().flat_map(|view| view.tables().iter().copied());
        let mut known: Vec<&str> = derived.chain(SOURCES.iter().copied()).collect();
        known.sort_unstable();
        assert_eq!(store.tables().unwrap(), known);
    }
}
