//! Whose word is taken about who somebody is, from the configuration.

use std::collections::BTreeMap;

use config::{IssuerEntry, OidcEntry, Settings};
use gateway::{Federation, OidcProvider};
use identity::Role;
use identity::foreign::{Algorithm, KeySource, Mapping, Organisation, TokenIds, TrustedIssuer};
use schema::TenantId;

use crate::exit::Exit;
use crate::failure::Failure;

pub(crate) fn federation(settings: &Settings) -> Result<Federation, Failure> {
    let issuers = settings.issuers().iter().map(issuer).collect::<Result<_, _>>()?;
    let oidc = settings.oidc().map(|entry| provider(&entry)).transpose()?;
    Ok(Federation { issuers, oidc, allow_private: settings.private_issuers() })
}

fn issuer(entry: &IssuerEntry<'_>) -> Result<TrustedIssuer, Failure> {
    let key = |field: &str| format!("issuers.{}.{field}", entry.name);
    let organisation = match (entry.tenant, entry.tenant_claim) {
        (Some(id), None) => Organisation::Always(tenant(&key("tenant"), id)?.to_string()),
        (None, Some(claim)) => Organisation::Claim(claim.to_owned()),
        _ => {
            let message = "which tenant the people of an issuer belong to is not said, or twice";
            return Err(wrong(&key("tenant"), message, "set either `tenant` or `tenant_claim`"));
        }
    };
    let mut role_names = BTreeMap::new();
    for pair in entry.roles {
        let (theirs, ours) = pair.split_once('=').unwrap_or((pair, ""));
        let role: Role = ours.trim().parse().map_err(|error| {
            let message = format!("`{pair}` maps no role: {error}");
            wrong(&key("roles"), &message, "write pairs such as \"sre=operator\"")
        })?;
        role_names.insert(theirs.trim().to_owned(), role.as_str().to_owned());
    }
    let algorithms = entry.algorithms.iter().map(|name| {
        let message = format!("`{name}` is no algorithm that is taken");
        Algorithm::named(name).ok_or_else(|| {
            wrong(&key("algorithms"), &message, "choose out of RS256, PS256, ES256, ES384, EdDSA")
        })
    });
    Ok(TrustedIssuer {
        issuer: entry.issuer.to_owned(),
        audiences: entry.audiences.to_vec(),
        algorithms: algorithms.collect::<Result<_, _>>()?,
        keys: entry.jwks_url.map_or(KeySource::Discovery, |url| KeySource::Url(url.to_owned())),
        mapping: Mapping {
            organisation,
            roles: entry.roles_claim.map(str::to_owned),
            role_names,
            scopes: entry.scopes_claim.map(str::to_owned),
        },
        ids: if entry.require_jti { TokenIds::Required } else { TokenIds::Optional },
        longest: entry.longest,
    })
}

fn provider(entry: &OidcEntry<'_>) -> Result<OidcProvider, Failure> {
    let missing =
        || wrong("oidc.client_id", "oidc.issuer is set and no client", "register one at the provider");
    let role = entry.role.map(str::parse).transpose();
    Ok(OidcProvider {
        issuer: entry.issuer.to_owned(),
        client_id: entry.client_id.ok_or_else(missing)?.to_owned(),
        client_secret: entry.client_secret.map(crypto::Secret::duplicate),
        domains: entry.domains.to_vec(),
        tenant: entry.tenant.map_or(Ok(TenantId::NIL), |id| tenant("oidc.tenant", id))?,
        role: role.map_err(|error| wrong("oidc.default_role", &format!("{error}"), "choose one of them"))?,
    })
}

fn tenant(key: &str, text: &str) -> Result<TenantId, Failure> {
    let message = |error| format!("`{text}` is no tenant: {error}");
    text.parse().map_err(|error: schema::IdError| {
        wrong(key, &message(error), "`GET /api/v1/tenants` lists them; ten_ and 26 zeros is the default one")
    })
}

fn wrong(key: &str, message: &str, hint: &str) -> Failure {
    Failure::new(Exit::Usage, "punk_config", format!("{key}: {message}")).hint(hint)
}
