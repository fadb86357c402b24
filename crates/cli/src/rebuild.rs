//! `punk rebuild`: whatever is derived from events, made again from them.

use crate::answer::Answer;
use crate::args::Common;
use crate::backup::not_stored;
use crate::failure::Failure;
use crate::progress::ProgressLine;
use crate::{runtime, settings, storage};
use config::Settings;
use serde_json::{Value, json};
use std::num::NonZeroU32;
use store::Rebuilt;

const PAGE: NonZeroU32 = NonZeroU32::new(100).unwrap();

pub(crate) fn run(common: &Common) -> Result<Answer, Failure> {
    let settings = settings::load(common)?;
    runtime::block_on(rebuild(&settings))
}

async fn rebuild(settings: &Settings) -> Result<Answer, Failure> {
    storage::must_exist(settings, "rebuilt")?;
    let store = storage::open_to_repair(settings).await?;
    let keys = storage::open_keys(settings)?;
    store.seal_with(storage::masters(&keys));
    let views = storage::views(&*store, &storage::apprentice(&store, settings, &keys));
    let mut done: Vec<(&str, Rebuilt)> = views.iter().map(|view| (view.name(), Rebuilt::default())).collect();
    let line = ProgressLine::new();
    let (mut tenants, mut after) = (0u64, None);
    loop {
        let page = store.tenants(after, PAGE).await.map_err(|error| not_stored(&error))?;
        let Some(last) = page.last() else { break };
        after = Some(*last);
        for tenant in page {
            tenants += 1;
            for (view, (name, sum)) in views.iter().zip(&mut done) {
                line.write(&format!("tenant {tenants}: {name}"));
                *sum += view.rebuild(tenant).await.map_err(|error| not_stored(&error))?;
            }
        }
    }
    drop(line);
    Ok(answer(&done))
}

fn answer(done: &[(&str, Rebuilt)]) -> Answer {
    let told = |(name, Rebuilt { entries, repaired }): &(&str, Rebuilt)| match repaired {
        0 => format!("{name}: {entries}, all as their events say\n"),
        _ => format!("{name}: {entries}, of which {repaired} were repaired\n"),
    };
    let views: Vec<Value> = done
        .iter()
        .map(|(name, Rebuilt { entries, repaired })| {
            json!({ "name": name, "entries": entries, "repaired": repaired })
        })
        .collect();
    Answer::success(done.iter().map(told).collect::<String>(), json!({ "views": views }))
}
