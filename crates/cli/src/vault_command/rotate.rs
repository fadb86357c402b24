//! `punk vault rotate`: everything comes under a new master key.
//!
//! Where the master key is the sealing key of the key ring, a new one is made, unless something is still under an older one:
//! then a rotation was cut short, and this one finishes it. Where the key is given from elsewhere, whoever gives it gives a
//! new one first and the old one beside it; this brings everything over.

use std::ops::ControlFlow;
use std::sync::Arc;

use config::Settings;
use crypto::Purpose;
use serde_json::json;
use vault::{Rotated, Vault};

use crate::answer::Answer;
use crate::clock;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::master_key::Origin;
use crate::progress::ProgressLine;
use crate::{secrets, storage};

pub(super) async fn rotate(settings: Settings) -> Result<Answer, Failure> {
    storage::must_exist(&settings, "rotated")?;
    let settings = Arc::new(settings);
    let mut ring = storage::open_keys(&settings)?;
    let store = storage::open(&settings).await?;
    let mut vault = secrets::vault(&settings, &store, &ring).await?;
    if Origin::of(&settings) == Origin::Ring && !is_due(&vault).await? {
        ring.rotate(Purpose::Seal, clock::now())
            .map_err(|error| Failure::of(Exit::Environment, "punk_keys_unwritable", &error))?;
        vault = secrets::vault(&settings, &store, &ring).await?;
    }
    let line = ProgressLine::new();
    let rotated = vault.rotate(|progress| {
        line.write(&format!("{} of {} secrets", progress.done, progress.total));
        ControlFlow::Continue(())
    });
    let rotated = rotated.await.map_err(|error| {
        Failure::of(Exit::Environment, "punk_rotation_unfinished", &error)
            .hint("run it again: it goes on where it was, and both keys open what they sealed until then")
    })?;
    drop(line);
    Ok(answer(&rotated, Origin::of(&settings)))
}

async fn is_due(vault: &Vault) -> Result<bool, Failure> {
    let due = vault.rotation_is_due().await;
    due.map_err(|error| Failure::of(Exit::Environment, "punk_store_unavailable", &error))
}

fn answer(Rotated { to, rewrapped, left }: &Rotated, origin: Origin) -> Answer {
    let mut text = format!("{rewrapped} re-wrapped; everything is under {to}\n");
    if !left.is_empty() {
        text =
            format!("{rewrapped} re-wrapped under {to}; {} do not open and stay as they are:\n", left.len());
        for one in left {
            text += &format!("  {} of {}, under {}\n", one.id, one.tenant, one.key);
        }
    } else if *rewrapped == 0 && origin != Origin::Ring {
        text +=
            "for another one, set a new master key and name the file of this one in vault.old_key_files\n";
    }
    let left: Vec<_> = left
        .iter()
        .map(|one| json!({ "tenant": one.tenant, "id": one.id, "masterKeyId": one.key.to_string() }))
        .collect();
    let exit = if left.is_empty() { Exit::Success } else { Exit::No };
    let json = json!({ "masterKeyId": to.to_string(), "rewrapped": rewrapped, "left": left });
    Answer { exit, ..Answer::success(text, json) }
}
