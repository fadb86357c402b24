//! `punk restore`: a backup in the place of the database.

use crate::answer::{Answer, columns};
use crate::args::{Common, RestoreArgs};
use crate::backup::{database_file, held, held_json, not_stored};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::ProgressLine;
use crate::serve::private_folder;
use crate::settings;
use config::Settings;
use crypto::KeyRing;
use crypto::keyring::Purpose;
use serde_json::json;
use store::sqlite::{Existing, RestoreError};

pub(crate) fn run(common: &Common, args: &RestoreArgs) -> Result<Answer, Failure> {
    let settings = settings::load(common)?;
    let database = database_file(&settings, "restored")?;
    if !args.backup.is_file() {
        return Err(not_restored(&RestoreError::NoBackup(args.backup.clone())));
    }
    let data = settings.data_dir();
    let was_there = data.exists();
    private_folder(data).map_err(|error| {
        Failure::of(Exit::Environment, "punk_data_unwritable", &error)
            .hint(format!("make {} writable, or choose another with --data-dir", data.display()))
    })?;
    let existing = if args.replace { Existing::Keep } else { Existing::Refuse };
    let progress = ProgressLine::new();
    let restored =
        store::sqlite::restore(&args.backup, &database, existing, &mut |how_far| progress.tell(how_far));
    drop(progress);
    let restored = restored.map_err(|error| {
        if !was_there {
            // Refused, so nothing stays behind; a folder that is not empty would.
            let _ = std::fs::remove_dir(data);
        }
        not_restored(&error)
    })?;
    let kept = restored.kept.as_ref().map(|path| path.display().to_string());
    let warning = keys_warning(&settings);
    let mut text = format!("restored {}\n{}", database.display(), columns(&held(&restored.backup)));
    if let Some(kept) = &kept {
        text.push_str(&format!("the database before it is kept as {kept}\n"));
    }
    if let Some(warning) = &warning {
        text.push_str(&format!("warning: {warning}\n"));
    }
    let mut json = held_json(&restored.backup);
    json["restored"] = json!(database.display().to_string());
    json["kept"] = json!(kept);
    json["warning"] = json!(warning);
    Ok(Answer::success(text, json))
}

/// What is missing to go on signing as before, and to read what is sealed.
fn keys_warning(settings: &Settings) -> Option<String> {
    let folder = settings.keys_dir();
    let ring = KeyRing::open(&folder).ok();
    let is_missing = |purpose| ring.as_ref().is_none_or(|ring| ring.active(purpose).is_none());
    let missing = match (is_missing(Purpose::Log), is_missing(Purpose::Seal)) {
        (false, false) => return None,
        (true, false) => "log key",
        (false, true) => "seal key",
        (true, true) => "log key and no seal key",
    };
    Some(format!(
        "there is no {missing} in {}, and a backup holds none: put the old keys there before `punk serve` makes new ones, \
         or verifiers will need another trust file and what is about people cannot be read",
        folder.display()
    ))
}

fn not_restored(error: &RestoreError) -> Failure {
    match error {
        RestoreError::NoBackup(_) => {
            Failure::of(Exit::No, "punk_no_backup", error).hint("name a file that `punk backup` made")
        }
        RestoreError::Exists(_) => Failure::of(Exit::No, "punk_exists", error),
        RestoreError::InUse(_) | RestoreError::BeingRead(_) => {
            Failure::of(Exit::Environment, "punk_in_use", error)
        }
        RestoreError::Damaged { .. } => Failure::of(Exit::No, "punk_backup_damaged", error),
        RestoreError::Schema { .. } => Failure::of(Exit::No, "punk_backup_unknown", error)
            .hint_if_none("name a file that `punk backup` made"),
        RestoreError::Io { .. } => Failure::of(Exit::Environment, "punk_unwritable", error)
            .hint("look at the folder of the database: who may write there, and whether there is room"),
        RestoreError::Store(error) => not_stored(error),
    }
}
