//! The vault as it is configured, and the settings that refer to what is in it.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::master_key;
use config::Settings;
use crypto::{KeyRing, SecretSource, SecretString};
use schema::TenantId;
use std::sync::Arc;
use store::Store;
use vault::{Kept, Reference, Reload, StartError, Vault};

/// The vault in `store`. A reference that cannot be one is refused here, by the setting that it is in.
pub(crate) async fn vault(
    settings: &Arc<Settings>,
    store: &Arc<dyn Store>,
    ring: &KeyRing,
) -> Result<Arc<Vault>, Failure> {
    references(settings)?;
    let masters = master_key::masters(settings, ring)?;
    let again = settings.clone();
    let reload: Reload = Box::new(move || master_key::again(&again));
    let vault =
        Vault::start(store.clone(), masters, Some(reload)).await.map_err(|error| not_started(&error))?;
    Ok(Arc::new(vault))
}

fn not_started(error: &StartError) -> Failure {
    match error {
        StartError::KeyMissing { .. } => Failure::of(Exit::Environment, "punk_vault_key", error).hint(
            "give it the key that it was sealed under: as the master key, or with vault.old_key_files until `punk vault rotate` \
             is done",
        ),
        StartError::Store(error) => Failure::of(Exit::Environment, "punk_store_unavailable", error),
    }
}

/// Every setting that refers to a secret in the vault, with what it means.
fn references(settings: &Settings) -> Result<Vec<(&str, Reference)>, Failure> {
    let read = |(setting, secret): (&'_ config::Setting, &SecretString)| {
        let path = setting.path.to_string();
        if !setting.key.refers {
            let message = format!("{path}: this secret cannot be kept in the vault");
            return Err(Failure::new(Exit::Usage, "punk_reference_invalid", message).hint(
                "set the secret itself; docs/reference/configuration.md says which settings take `cred:NAME`",
            ));
        }
        parsed(&path, secret)
    };
    let all = settings.references().map(|(setting, secret)| Ok((&*setting.path, read((setting, secret))?)));
    all.collect()
}

fn parsed(setting: &str, secret: &SecretString) -> Result<Reference, Failure> {
    secret.expose().parse().map_err(|error| {
        Failure::new(Exit::Usage, "punk_reference_invalid", format!("{setting}: {error}"))
            .hint("write `cred:NAME`, with a name that `punk vault list` shows")
    })
}

/// Says which settings refer to what is not there yet. Nothing is refused for it: it can be added while the gateway runs.
pub(crate) async fn tell_missing(settings: &Settings, vault: &Vault) -> Result<(), Failure> {
    for (setting, reference) in references(settings)? {
        let found = vault.find(TenantId::NIL, &reference).await;
        let found =
            found.map_err(|error| Failure::of(Exit::Environment, "punk_store_unavailable", &error))?;
        if found.is_none() {
            tracing::warn!(
                "{setting}: there is no credential `{reference}` in the vault; what needs it fails until `punk vault add` adds it"
            );
        }
    }
    Ok(())
}

/// The vault, if a setting refers to it. A worker that needs none need not have the keys to one.
pub(crate) async fn vault_if_needed(
    settings: &Arc<Settings>,
    store: &Arc<dyn Store>,
    ring: &KeyRing,
) -> Result<Option<Arc<Vault>>, Failure> {
    if references(settings)?.is_empty() {
        return Ok(None);
    }
    vault(settings, store, ring).await.map(Some)
}

/// The secret that `setting` gives, or who has it.
pub(crate) fn source(
    vault: Option<&Arc<Vault>>,
    setting: &str,
    secret: &SecretString,
) -> Result<SecretSource, Failure> {
    match vault {
        Some(vault) if Reference::is_meant(secret.expose()) => {
            Ok(Kept::new(vault.clone(), parsed(setting, secret)?, setting).into())
        }
        _ => Ok(secret.duplicate().into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::{FileSource, Sources};

    fn settings(environment: &[(&str, &str)]) -> Settings {
        let environment = environment.iter().map(|(name, value)| (name.into(), value.into())).collect();
        config::load(&Sources { flags: Vec::new(), environment, file: FileSource::Absent }).unwrap()
    }

    #[test]
    fn references_are_found_and_those_that_are_none_are_refused_by_their_setting() {
        let good = settings(&[("OPENAI_API_KEY", "cred:openai"), ("ANTHROPIC_API_KEY", "sk-ant-1")]);
        let found = references(&good).unwrap();
        assert_eq!(found, [("providers.openai.api_key", "cred:openai".parse().unwrap())]);
        let shown: Vec<&str> = good.secrets().map(|secret| secret.expose().as_str()).collect();
        assert_eq!(shown, ["sk-ant-1"], "a reference is no secret");
        for (variable, value, said) in [
            ("OPENAI_API_KEY", "cred:", "providers.openai.api_key: what follows `cred:`"),
            ("OPENAI_API_KEY", "cred:crd_sk-1234", "providers.openai.api_key: what follows `cred:`"),
            ("PUNK_API_KEY", "cred:mine", "auth.api_key: this secret cannot be kept in the vault"),
        ] {
            let refused = format!("{:?}", references(&settings(&[(variable, value)])).unwrap_err());
            assert!(refused.contains(said) && !refused.contains("sk-1234"), "{refused}");
        }
    }
}
