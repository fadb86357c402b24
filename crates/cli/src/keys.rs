//! `punk keys`: the key ring in `keys.dir`.
//!
//! No command prints a secret: who needs one copies its file.

use crate::answer::{Answer, columns};
use crate::args::{Common, KeysCommand};
use crate::clock;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::settings;
use crypto::KeyRing;
use crypto::keyring::{Key, KeyId, Material, OpenError, Purpose, WriteError};
use ledger::note::{KeyKind, VerifierKey};
use schema::TenantId;
use serde_json::{Value, json};

pub(crate) fn run(common: &Common, command: &KeysCommand) -> Result<Answer, Failure> {
    let settings = settings::load(common)?;
    let mut ring = KeyRing::open(settings.keys_dir()).map_err(|error| not_opened(&error))?;
    match command {
        KeysCommand::List => Ok(list(&ring)),
        KeysCommand::Generate { purpose } => generate(&mut ring, purpose.map(Purpose::from)),
        KeysCommand::Rotate { purpose } => rotate(&mut ring, (*purpose).into()),
        KeysCommand::Show { id } => show(&ring, *id),
        KeysCommand::Trust { tenant } => trust(&ring, settings.log_name(), tenant.unwrap_or(TenantId::NIL)),
    }
}

/// The trust file of a tenant's log. A retired key is left out: what it signed can be exported again under the new one.
pub(crate) fn trust(ring: &KeyRing, log_name: &str, tenant: TenantId) -> Result<Answer, Failure> {
    let key = ring.signing_key().ok_or_else(|| {
        Failure::new(Exit::No, "punk_no_key", format!("there is no log key in {}", ring.folder().display()))
            .hint("`punk serve` makes one when it first starts, and so does `punk keys generate log`")
    })?;
    let origin = ledger::origin(log_name, tenant)
        .map_err(|error| Failure::of(Exit::Usage, "punk_config_invalid", &error))?;
    let public = key.derive(origin.as_str()).public();
    let vkey = VerifierKey::new(origin, KeyKind::Log, public).to_string();
    let text =
        format!("# Whose word `punk verify` takes: the log of tenant {tenant}.\nlog {vkey}\nquorum none\n");
    Ok(Answer::success(text.clone(), json!({ "tenant": tenant, "log": vkey, "trust": text })))
}

fn list(ring: &KeyRing) -> Answer {
    let json = json!({
        "folder": ring.folder().display().to_string(),
        "keys": ring.keys().iter().map(described).collect::<Vec<_>>(),
    });
    if ring.keys().is_empty() {
        let text = format!("no keys in {}; make them with `punk keys generate`\n", ring.folder().display());
        return Answer::success(text, json);
    }
    let title = ["ID", "PURPOSE", "STATE", "CREATED"].map(str::to_owned);
    let row = |key: &Key| {
        [
            key.id.to_string(),
            key.purpose.to_string(),
            key.state.name().to_owned(),
            format!("{:.3}", key.created),
        ]
    };
    let rows: Vec<_> = std::iter::once(title).chain(ring.keys().iter().map(row)).collect();
    Answer::success(columns(&rows), json)
}

fn generate(ring: &mut KeyRing, purpose: Option<Purpose>) -> Result<Answer, Failure> {
    let wanted: Vec<Purpose> = match purpose {
        Some(purpose) => vec![purpose],
        None => Purpose::ALL.into_iter().filter(|purpose| ring.active(*purpose).is_none()).collect(),
    };
    if wanted.is_empty() {
        return Err(Failure::new(Exit::No, "punk_key_exists", "there is an active key for every purpose")
            .hint("replace one with `punk keys rotate` and its purpose: log, seal or token"));
    }
    let mut made = Vec::new();
    for purpose in wanted {
        made.push(ring.generate(purpose, clock::now()).map_err(|error| not_written(&error))?);
    }
    Ok(made_keys(ring, &made))
}

fn rotate(ring: &mut KeyRing, purpose: Purpose) -> Result<Answer, Failure> {
    let id = ring.rotate(purpose, clock::now()).map_err(|error| not_written(&error))?;
    Ok(made_keys(ring, &[id]))
}

fn made_keys(ring: &KeyRing, made: &[KeyId]) -> Answer {
    let keys: Vec<&Key> = made.iter().filter_map(|id| ring.key(*id)).collect();
    let line =
        |key: &&Key| format!("{} is the active {} key, in {}\n", key.id, key.purpose, key.path.display());
    let text: String = keys.iter().map(line).collect();
    let json: Vec<Value> = keys.into_iter().map(described).collect();
    Answer::success(
        text + "back the folder up: what a lost key sealed stays sealed\n",
        json!({ "made": json }),
    )
}

fn show(ring: &KeyRing, id: KeyId) -> Result<Answer, Failure> {
    let key = ring.key(id).ok_or_else(|| {
        Failure::new(Exit::No, "punk_key_unknown", format!("there is no {id} in {}", ring.folder().display()))
            .hint("`punk keys list` shows the keys there are")
    })?;
    let json = described(key);
    let mut rows = Vec::new();
    for name in ["id", "purpose", "algorithm", "state", "created", "publicKey", "path"] {
        if let Some(value) = json[name].as_str() {
            rows.push([name.to_owned(), value.to_owned()]);
        }
    }
    Ok(Answer::success(columns(&rows), json))
}

/// A key as machines see it: everything but the secret.
fn described(key: &Key) -> Value {
    let public = match &key.material {
        Material::Signing(signing) => Some(hex::encode(signing.public().as_bytes())),
        Material::Sealing(_) => None,
    };
    json!({
        "id": key.id.to_string(),
        "purpose": key.purpose.name(),
        "algorithm": key.purpose.algorithm(),
        "state": key.state.name(),
        "created": format!("{:.3}", key.created),
        "publicKey": public,
        "path": key.path.display().to_string(),
    })
}

fn not_opened(error: &OpenError) -> Failure {
    let code = match error {
        OpenError::Unreadable { .. } => "punk_keys_unreadable",
        OpenError::Exposed { .. } => "punk_keys_exposed",
        OpenError::Corrupt { .. } => "punk_keys_corrupt",
    };
    Failure::of(Exit::Environment, code, error)
        .hint_if_none("check keys.dir and who owns it; a lost key file comes back only from a backup")
}

fn not_written(error: &WriteError) -> Failure {
    match error {
        WriteError::Open(error) => not_opened(error),
        WriteError::AlreadyActive { .. } => Failure::of(Exit::No, "punk_key_exists", error),
        WriteError::NothingToRotate { .. } => Failure::of(Exit::No, "punk_key_unknown", error),
        WriteError::Exists { .. } | WriteError::Disk { .. } | WriteError::Random(_) => {
            Failure::of(Exit::Environment, "punk_keys_unwritable", error)
                .hint_if_none("check keys.dir and who may write there")
        }
    }
}
