//! `punk worker`: the work in the background and nothing else, beside any number of others on one Postgres database.

use crate::answer::Answer;
use crate::args::Common;
use crate::background::Background;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::serve::announce;
use crate::stop::until_stopped;
use crate::{observe, runtime, secrets, settings, storage};
use config::Settings;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use telemetry::mask::Mask;

pub(crate) fn run(common: &Common) -> Result<Answer, Failure> {
    let settings = Arc::new(settings::load(common)?);
    shared_database(&settings)?;
    let guard = observe::start(&settings)?;
    runtime::block_on(work(&settings, guard.mask()))
}

async fn work(settings: &Arc<Settings>, log_mask: &Mask) -> Result<Answer, Failure> {
    let store = storage::open(settings).await?;
    let keys = storage::open_keys(settings)?;
    store.seal_with(storage::masters(&keys));
    let vault = secrets::vault_if_needed(settings, &store, &keys).await?;
    if let Some(vault) = &vault {
        log_mask.consult(Arc::new(vault.known().of_all()));
        secrets::tell_missing(settings, vault).await?;
    }
    let apprentice = storage::apprentice(&store, settings, &keys);
    let background = Background::new(&store, settings, vault.as_ref(), &apprentice)?;
    let worked = until_stopped(|stop| {
        announce(&format!("Punk works on {}", background.kinds()));
        background.run(stop)
    });
    worked.await?;
    Ok(Answer::success("stopped\n", json!({ "stopped": true })))
}

/// An embedded database belongs to one process; a second one that works on its jobs would have to be that process.
fn shared_database(settings: &Settings) -> Result<(), Failure> {
    if settings.secret("store.url").is_some() {
        return Ok(());
    }
    let path = settings.db_path();
    let whose = if path == Path::new(":memory:") {
        "a store in memory (store.path is `:memory:`) belongs to the process that made it".to_owned()
    } else {
        format!("the SQLite database {} (store.path) belongs to the process that serves", path.display())
    };
    let hint = "`punk serve` does this work itself; to run workers of their own, set PUNK_DATABASE_URL (store.url) \
                to a Postgres database";
    Err(Failure::new(Exit::Usage, "punk_worker_needs_postgres", whose).hint(hint))
}
