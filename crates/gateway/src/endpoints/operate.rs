//! Running an installation: keys and settings, the cache, jobs, and the people that runs are about.

use ::identity::Permission;
use http::{Method, StatusCode};
use schema::{ApiKeyId, CredentialId, JobId};

use super::{CACHE, JOBS, OPERATE, SUBJECTS};
use crate::endpoint::Endpoint;
use crate::{cache_entry, credential, job, key, setting, subject, tenant, tool_cache};

pub(super) fn operate() -> Vec<Endpoint> {
    vec![
        Endpoint::new(OPERATE, Method::POST, "/api/v1/keys", "createKey", key::create)
            .needs(Permission::KeyManage)
            .summary("Make an API key; it is shown once")
            .takes::<key::NewKey>(r#"{"name":"support bot","app":"support","scopes":["gateway"]}"#)
            .creates::<key::MadeKey>("The key and its token.")
            .may_refuse(StatusCode::NOT_FOUND),
        Endpoint::new(OPERATE, Method::GET, "/api/v1/keys", "listKeys", key::list)
            .needs(Permission::KeyRead)
            .summary("List API keys, newest first, those that were taken back too")
            .query::<key::KeyQuery>()
            .answers::<key::KeyPage>("A page of keys.")
            .may_refuse(StatusCode::NOT_FOUND),
        Endpoint::new(OPERATE, Method::DELETE, "/api/v1/keys/{id}", "revokeKey", key::revoke)
            .needs(Permission::KeyManage)
            .summary("Take an API key back; the next request with it is refused")
            .param::<ApiKeyId>("id", "The id of a key.")
            .query::<key::WhoseQuery>()
            .answers::<key::RevokedKey>("It is taken back."),
        Endpoint::new(OPERATE, Method::POST, "/api/v1/tenants", "createTenant", tenant::create)
            .needs(Permission::InstallationManage)
            .summary("Make a tenant")
            .takes::<tenant::NewTenant>(r#"{"name":"Acme"}"#)
            .creates::<tenant::MadeTenant>("The tenant."),
        Endpoint::new(OPERATE, Method::GET, "/api/v1/tenants", "listTenants", tenant::list)
            .needs(Permission::InstallationManage)
            .summary("List tenants, oldest first")
            .query::<tenant::TenantQuery>()
            .answers::<tenant::TenantPage>("A page of tenants."),
        Endpoint::new(OPERATE, Method::GET, "/api/v1/credentials", "listCredentials", credential::list)
            .needs(Permission::CredentialManage)
            .summary("List the secrets in the vault, newest first, without their values")
            .query::<credential::CredentialQuery>()
            .answers::<credential::CredentialPage>("A page of credentials."),
        Endpoint::new(OPERATE, Method::POST, "/api/v1/credentials", "createCredential", credential::create)
            .needs(Permission::CredentialManage)
            .summary("Keep a secret in the vault; nothing shows it again")
            .about("Settings say `cred:NAME` or the `reference` of the answer in its place.")
            .takes::<credential::NewCredential>(
                r#"{"name":"openai","kind":"provider","value":"the key as the vendor gave it"}"#,
            )
            .creates::<credential::ShownCredential>("The credential, without its value.")
            .may_refuse(StatusCode::CONFLICT),
        Endpoint::new(OPERATE, Method::GET, "/api/v1/credentials/{id}", "getCredential", credential::show)
            .needs(Permission::CredentialManage)
            .summary("Look at a secret in the vault, without its value")
            .param::<CredentialId>("id", "The id of a credential.")
            .answers::<credential::ShownCredential>("The credential, without its value."),
        Endpoint::new(
            OPERATE,
            Method::POST,
            "/api/v1/credentials/{id}/rotate",
            "rotateCredential",
            credential::rotate,
        )
        .needs(Permission::CredentialManage)
        .summary("Give a secret in the vault another value; the next use has it")
        .param::<CredentialId>("id", "The id of a credential.")
        .takes::<credential::NewValue>(r#"{"value":"the next key as the vendor gave it"}"#)
        .answers::<credential::ShownCredential>("The credential, without its value.")
        .may_refuse(StatusCode::CONFLICT),
        Endpoint::new(
            OPERATE,
            Method::DELETE,
            "/api/v1/credentials/{id}",
            "removeCredential",
            credential::remove,
        )
        .needs(Permission::CredentialManage)
        .summary("Remove a secret from the vault")
        .about("Whoever refers to it is refused from the next use on.")
        .param::<CredentialId>("id", "The id of a credential.")
        .answers::<credential::ShownCredential>("It is gone.")
        .may_refuse(StatusCode::CONFLICT),
        Endpoint::new(OPERATE, Method::GET, "/api/v1/settings", "getSettings", setting::show)
            .needs(Permission::SettingRead)
            .summary("What holds for the tenant")
            .answers::<setting::ShownSettings>("All settings, those that nobody set with their defaults."),
        Endpoint::new(OPERATE, Method::PATCH, "/api/v1/settings", "changeSettings", setting::change)
            .needs(Permission::SettingManage)
            .summary("Change settings, by a JSON merge patch")
            .about("Members that are left out stay as they are; null puts one back to its default.")
            .takes::<setting::SettingsPatch>(r#"{"cache":{"exactTtlSeconds":3600}}"#)
            .answers::<setting::ShownSettings>("What holds now."),
    ]
}

pub(super) fn cache() -> Vec<Endpoint> {
    vec![
        Endpoint::new(CACHE, Method::GET, "/api/v1/cache/stats", "getCacheStats", cache_entry::stats)
            .needs(Permission::CacheRead)
            .summary("How much is kept, and how often it served")
            .answers::<cache_entry::CacheReport>("A line for every kind."),
        Endpoint::new(CACHE, Method::DELETE, "/api/v1/cache", "invalidateCache", cache_entry::invalidate)
            .needs(Permission::CacheManage)
            .summary("Take out what is kept, on record")
            .about("Those entries are meant that fit every filter; without one, all.")
            .query::<cache_entry::InvalidateQuery>()
            .answers::<cache_entry::Removed>("How many were taken out."),
        Endpoint::new(CACHE, Method::POST, "/api/v1/tool-cache/check", "checkToolCache", tool_cache::check)
            .needs(Permission::ToolCacheRead)
            .summary("Ask whether a tool was called like this before")
            .takes::<tool_cache::ToolCall>(r#"{"toolName":"crm.lookup","args":{"id":7}}"#)
            .answers::<tool_cache::ToolHit>("What it gave then, if it was."),
        Endpoint::new(CACHE, Method::POST, "/api/v1/tool-cache/store", "storeToolResult", tool_cache::store)
            .needs(Permission::ToolCacheWrite)
            .summary("Keep what a tool gave")
            .about("For tools that change nothing. A result with what looks like a credential in it is not kept.")
            .takes::<tool_cache::NewToolResult>(
                r#"{"toolName":"crm.lookup","args":{"id":7},"result":{"name":"Ada"},"ttlSeconds":600}"#,
            )
            .answers::<tool_cache::ToolStored>("Whether it was kept."),
    ]
}

pub(super) fn jobs() -> Vec<Endpoint> {
    vec![
        Endpoint::new(JOBS, Method::GET, "/api/v1/jobs", "listJobs", job::list)
            .needs(Permission::JobRead)
            .summary("List jobs, newest first")
            .query::<job::JobQuery>()
            .answers::<job::JobPage>("A page of jobs."),
        Endpoint::new(JOBS, Method::POST, "/api/v1/jobs/{id}/requeue", "requeueJob", job::requeue)
            .needs(Permission::JobManage)
            .summary("Put back a job that was given up")
            .param::<JobId>("id", "The id of a job.")
            .answers::<job::Requeued>("It waits again."),
    ]
}

pub(super) fn subjects() -> Vec<Endpoint> {
    vec![
        Endpoint::new(SUBJECTS, Method::DELETE, "/api/v1/subjects/{subject}", "eraseSubject", subject::erase)
            .needs(Permission::SubjectErase)
            .summary("Forget a person, on record")
            .about("What is about the person can never be read again; that it was forgotten is proven by a run of its own.")
            .param::<schema::Subject>("subject", "The name that requests carried in `x-punk-subject`.")
            .query::<subject::EraseQuery>()
            .answers::<subject::Erased>("They are forgotten."),
    ]
}
