//! `punk config`: what is configured, and where each setting comes from.

use crate::answer::{Answer, columns};
use crate::args::{Common, ConfigArgs, ConfigCommand};
use crate::failure::Failure;
use crate::settings;
use config::{DefaultValue, Setting, Settings, Status, Value};
use serde_json::json;

pub(crate) fn run(common: &Common, args: &ConfigArgs) -> Result<Answer, Failure> {
    let settings = settings::load(common)?;
    Ok(match args.command {
        None => show(&settings),
        Some(ConfigCommand::Check) => Answer::success("the configuration is right\n", json!({ "ok": true })),
    })
}

fn show(settings: &Settings) -> Answer {
    let title = ["KEY", "VALUE", "ORIGIN", "VARIABLE", "STATUS"].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(title).chain(settings.iter().map(row)).collect();
    let reserved =
        "\nReserved settings are accepted and checked, and take effect when what they wait for is built.\n";
    let json = json!({ "settings": settings.iter().map(entry).collect::<Vec<_>>() });
    Answer::success(columns(&rows) + reserved, json)
}

fn row(setting: &Setting) -> [String; 5] {
    let value = match (&setting.value, setting.key.default) {
        (Some(value), _) => value.to_string(),
        (None, DefaultValue::Inferred(_)) => "(inferred)".to_owned(),
        (None, _) => "(unset)".to_owned(),
    };
    let status = match setting.key.status {
        Status::Active => String::new(),
        Status::Reserved(until) => format!("reserved: {until}"),
    };
    [setting.path.to_string(), value, setting.origin.to_string(), setting.variable(), status]
}

fn entry(setting: &Setting) -> serde_json::Value {
    let value = match &setting.value {
        None => serde_json::Value::Null,
        Some(Value::Integer(number)) => json!(number),
        Some(Value::Boolean(boolean)) => json!(boolean),
        Some(Value::Texts(texts)) => json!(texts),
        Some(shown) => json!(shown.to_string()),
    };
    let waits_for = match setting.key.status {
        Status::Active => None,
        Status::Reserved(until) => Some(until),
    };
    json!({
        "key": setting.path,
        "value": value,
        "origin": setting.origin.to_string(),
        "variable": setting.variable(),
        "secret": setting.key.secret,
        "status": if waits_for.is_some() { "reserved" } else { "active" },
        "waitsFor": waits_for,
    })
}
