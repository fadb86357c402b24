//! `punk demo`: a support agent from its first call to its proof, told step by step.
//!
//! It starts a real gateway in this process, over a folder of its own, and talks to it over HTTP with the public REST API
//! alone: whatever it shows, anybody can do. The built-in mock answers, so nothing leaves the machine.
//!
//! `story.rs` has the steps in their order and what they share; `answering.rs`, `learning.rs`, `governing.rs` and `proving.rs`
//! are the steps; `stage.rs` tells them, to people or to machines; `ticket.rs` is what the customers write.
//!
//! - Neither the configuration nor the environment is read: a key that lies around is never used.
//! - Nothing is made up: every figure comes from an answer of the gateway.

mod answering;
mod client;
mod governing;
mod learning;
mod proving;
mod stage;
mod story;
mod ticket;

use std::path::Path;
use std::sync::Arc;

use config::{Flag, Settings};
use serde_json::Value;

use self::client::Client;
use self::stage::Stage;
use self::story::Story;
use crate::answer::Answer;
use crate::args::{Common, DemoArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::stop::{Stop, until_stopped};
use crate::{observe, runtime, serve, settings};

/// What differs from a gateway that nobody has configured.
const SETTINGS: &[(&str, &str)] = &[
    ("store.data_dir", "data/demo"),
    // Any free one: a gateway that runs already is not in the way.
    ("server.port", "0"),
    // A story is told faster than anybody types.
    ("limits.requests_per_minute", "0"),
    ("limits.chat_requests_per_minute", "0"),
    // The story says when the learner looks; it must not look in between.
    ("learning.interval_ms", "300000"),
    ("providers.default", "mock"),
    ("log.filter", "error"),
];

/// What the agents of the story may do.
const POLICY: &str = include_str!("support.yaml");

pub(crate) fn run(common: &Common, args: &DemoArgs) -> Result<Answer, Failure> {
    let settings = Arc::new(configured(common)?);
    write_policy(&settings)?;
    let guard = observe::start(&settings)?;
    let stage = Stage::new(common.json, args.fast);
    let stays = stage.is_watched() && !args.exit;
    runtime::block_on(async {
        let ready = serve::prepare(&settings, None, guard.mask()).await?;
        let url = format!("http://{}", ready.server.address);
        let told = until_stopped(|signal| async {
            let (end, stop) = Stop::channel();
            let serving = tokio::spawn(ready.run(stop));
            let told = tokio::select! {
                told = tell(&settings, &url, stage, stays) => told,
                () = signal.requested() => Ok(()),
            };
            // What was told of is on the disk before the process ends.
            end.send_replace(true);
            let _ = serving.await;
            told
        });
        told.await??;
        // All of it was told already, line by line.
        Ok(Answer::success("", Value::Null))
    })
}

/// Tells the story. Afterwards, if it stays, the gateway goes on for whoever looks around.
async fn tell(settings: &Settings, url: &str, stage: Stage, stays: bool) -> Result<(), Failure> {
    let client = Client::new(url)?;
    Story::begin(client, stage, settings).await?.tell(stays).await?;
    if stays {
        std::future::pending::<()>().await;
    }
    Ok(())
}

/// The settings of the demo, but for what the command line says.
fn configured(common: &Common) -> Result<Settings, Failure> {
    let mut flags = common.flags();
    let flag =
        |(path, value): (&str, &str)| Flag { name: "demo".into(), path: path.into(), value: value.into() };
    let missing: Vec<Flag> = SETTINGS
        .iter()
        .filter(|(path, _)| !flags.iter().any(|flag| flag.path == *path))
        .map(|pair| flag(*pair))
        .collect();
    flags.extend(missing);
    if !flags.iter().any(|flag| flag.path == "governance.policies_dir") {
        let data = flags.iter().find(|flag| flag.path == "store.data_dir").map_or("", |flag| &flag.value);
        let folder = Path::new(data).join("policies").display().to_string();
        flags.push(flag(("governance.policies_dir", &folder)));
    }
    settings::of_flags(flags)
}

/// Puts the policy of the story where the gateway looks for policies.
fn write_policy(settings: &Settings) -> Result<(), Failure> {
    let folder = settings.policies_dir();
    let written =
        serve::private_folder(folder).and_then(|()| std::fs::write(folder.join("support.yaml"), POLICY));
    written.map_err(|error| unwritten(folder, &error))
}

/// Something of the demo's could not be written.
fn unwritten(path: &Path, error: &std::io::Error) -> Failure {
    let message = format!("{} cannot be written: {error}", path.display());
    Failure::new(Exit::Environment, "punk_data_unwritable", message)
        .hint("choose a folder that can be written with --data-dir")
}
