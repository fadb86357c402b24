//! `punk vault`: secrets of providers and tools.
//!
//! All but `rotate` ask a gateway, which puts on record who did what. A value is never an argument, where others on the
//! machine could see it.

mod rotate;
mod typed;

use egress::Method;
use serde_json::{Value, json};

use crate::answer::{Answer, columns};
use crate::args::{Common, VaultCommand};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::gateway_client::{Gateway, text};
use crate::{runtime, settings};

const PATH: &str = "/api/v1/credentials";

pub(crate) fn run(common: &Common, command: &VaultCommand) -> Result<Answer, Failure> {
    let settings = settings::load(common)?;
    runtime::block_on(async {
        match command {
            VaultCommand::List { gateway } => {
                let gateway = Gateway::new(&settings, gateway)?;
                Ok(listed(gateway.all(PATH, "credentials", "before").await?))
            }
            VaultCommand::Add { name, kind, gateway } => {
                let gateway = Gateway::new(&settings, gateway)?;
                let value = typed::value(name)?;
                let body = json!({ "name": name, "kind": kind, "value": value.expose() });
                let made = gateway.ask(Method::Post, PATH, Some(&body)).await?;
                Ok(Answer::success(format!("added; settings say cred:{} in its place\n", named(&made)), made))
            }
            VaultCommand::Replace { name, gateway } => {
                let gateway = Gateway::new(&settings, gateway)?;
                let id = id_of(&gateway, name).await?;
                let value = typed::value(name)?;
                let body = json!({ "value": value.expose() });
                let made = gateway.ask(Method::Post, &format!("{PATH}/{id}/rotate"), Some(&body)).await?;
                Ok(Answer::success(format!("{} has another value\n", named(&made)), made))
            }
            VaultCommand::Remove { name, gateway } => {
                let gateway = Gateway::new(&settings, gateway)?;
                let id = id_of(&gateway, name).await?;
                let gone = gateway.ask(Method::Delete, &format!("{PATH}/{id}"), None).await?;
                Ok(Answer::success(format!("{} is removed\n", named(&gone)), gone))
            }
            VaultCommand::Rotate => rotate::rotate(settings).await,
        }
    })
}

fn named(shown: &Value) -> String {
    text(&shown["credential"]["name"])
}

/// The id of the secret with this name.
async fn id_of(gateway: &Gateway, name: &str) -> Result<String, Failure> {
    let all = gateway.all(PATH, "credentials", "before").await?;
    let found = all["credentials"].as_array().into_iter().flatten().find(|one| one["name"] == name);
    found.map(|one| text(&one["id"])).ok_or_else(|| {
        Failure::new(Exit::No, "punk_not_found", "there is no credential with this name in the vault")
            .hint("`punk vault list` shows those there are")
    })
}

fn listed(page: Value) -> Answer {
    let credentials: Vec<Value> = page["credentials"].as_array().cloned().unwrap_or_default();
    if credentials.is_empty() {
        return Answer::success("nothing\n", page);
    }
    let head = ["NAME", "KIND", "VERSION", "ADDED", "CHANGED", "MASTER KEY", "ID"].map(str::to_owned);
    let members = ["name", "kind", "version", "createdAt", "rotatedAt", "masterKeyId", "id"];
    let rows = credentials.iter().map(|one| members.map(|member| text(&one[member])));
    let rows: Vec<_> = std::iter::once(head).chain(rows).collect();
    Answer::success(columns(&rows), page)
}
