//! Policies that change while the gateway runs: noticed, read, and on record when they take effect.

use std::sync::Arc;

use schema::TenantId;
use serde_json::json;
use store::Commit;

use super::policies::{InForce, LOOK_EVERY};
use crate::app::App;
use crate::audit::Change;
use crate::clock::now;
use crate::error::{ApiError, unrecorded};
use crate::identity::Caller;

/// Looks at the folder for as long as the gateway runs.
pub(crate) async fn watch(app: App) {
    let mut ticks = tokio::time::interval(LOOK_EVERY);
    loop {
        ticks.tick().await;
        let looking = app.clone();
        // Files are read where nobody else waits for them.
        let new = tokio::task::spawn_blocking(move || looking.policies.watch(now())).await;
        if let Ok(Some(new)) = new {
            // Why it could not be recorded was told where it failed; the policies hold all the same.
            let _ = record(&app, &new, &Caller::installation()).await;
        }
    }
}

/// Puts on record which policies hold from now on: what they say, and from which files they were read.
pub(crate) async fn record(app: &App, new: &Arc<InForce>, caller: &Caller) -> Result<(), ApiError> {
    let files: Vec<&str> = new.files.iter().map(|file| file.name.as_str()).collect();
    let change = Change {
        tenant: TenantId::NIL,
        at: now(),
        action: "audit.policies_loaded",
        target: &new.digest.to_string(),
        details: json!({ "files": files, "policies": new.set.policies().len() }),
    };
    let commit = Commit {
        appends: vec![change.record(app, caller)?],
        policies: vec![new.set.text().to_owned()],
        ..Commit::default()
    };
    app.of(TenantId::NIL).commit(commit).await.map_err(unrecorded)
}
