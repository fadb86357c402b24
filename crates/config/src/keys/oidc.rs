//! `[oidc]`: where people may log in instead of here.

use super::Section;
use crate::key::{Key, Kind};

pub(super) static SECTION: Section = Section {
    name: "oidc",
    doc: "Where people may log in instead of here: an OpenID provider. It sends them back to `server.base_url`.",
    keys: &[
        Key::new(
            "oidc.issuer",
            "PUNK_OIDC_ISSUER",
            Kind::Url(&["https", "http"]),
            "The provider, exactly as its tokens name it; `http` for this machine only. Unset, people log in here alone.",
        ),
        Key::new(
            "oidc.client_id",
            "PUNK_OIDC_CLIENT_ID",
            Kind::Token,
            "Who this installation is at the provider.",
        ),
        Key::new(
            "oidc.client_secret",
            "PUNK_OIDC_CLIENT_SECRET",
            Kind::Token,
            "What it proves that with; unset for a public client, which PKCE alone protects.",
        )
        .secret(),
        Key::new(
            "oidc.domains",
            "PUNK_OIDC_DOMAINS",
            Kind::Tokens,
            "The domains whose verified addresses are let in; unset, all.",
        ),
        Key::new(
            "oidc.tenant",
            "PUNK_OIDC_TENANT",
            Kind::Token,
            "The id of the organisation that whoever is new belongs to; the default one when unset.",
        ),
        Key::new(
            "oidc.auto_create",
            "PUNK_OIDC_AUTO_CREATE",
            Kind::Boolean,
            "Let in whoever the provider knows, as `oidc.default_role`. Otherwise it takes an invitation.",
        )
        .or("false"),
        Key::new(
            "oidc.default_role",
            "PUNK_OIDC_DEFAULT_ROLE",
            Kind::Choice(&["admin", "operator", "reviewer", "viewer", "auditor"]),
            "What whoever is let in without an invitation is.",
        )
        .or("viewer"),
    ],
};
