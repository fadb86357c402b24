//! `[issuers.NAME]`: whose bearer tokens are taken, besides our own.

use super::{NameRule, Named};
use crate::key::{Key, Kind};

pub(super) static TABLE: Named = Named {
    name: "issuers",
    example: "work",
    doc: "Issuers whose JWTs are taken as bearer tokens, a table each: `[issuers.work]`. What is not mapped here means nothing.",
    names: NameRule::Plain,
    keys: &[
        Key::new(
            "issuers.NAME.issuer",
            "",
            Kind::Url(&["https", "http"]),
            "Exactly what its tokens have as `iss`; `http` for this machine only.",
        )
        .required(),
        Key::new(
            "issuers.NAME.audiences",
            "",
            Kind::Tokens,
            "Who we are to it: one of these must be in `aud`.",
        )
        .required(),
        Key::new(
            "issuers.NAME.jwks_url",
            "",
            Kind::Url(&["https", "http"]),
            "Where its keys are; when absent, where its OpenID configuration says.",
        ),
        Key::new(
            "issuers.NAME.algorithms",
            "",
            Kind::Tokens,
            "What it may sign with, out of RS256, PS256, ES256, ES384 and EdDSA.",
        )
        .or("RS256,ES256,EdDSA"),
        Key::new(
            "issuers.NAME.tenant",
            "",
            Kind::Token,
            "The id of the tenant to which everybody of it belongs.",
        ),
        Key::new(
            "issuers.NAME.tenant_claim",
            "",
            Kind::Token,
            "The claim that holds the id of the tenant instead, or a JSON pointer to it. A token without it is refused.",
        ),
        Key::new(
            "issuers.NAME.roles_claim",
            "",
            Kind::Token,
            "The claim with its roles, or a JSON pointer to it, such as `/realm_access/roles`.",
        ),
        Key::new(
            "issuers.NAME.roles",
            "",
            Kind::Texts,
            "Which of its roles is which of ours: `[\"sre=operator\", \"risk=reviewer\"]`.",
        ),
        Key::new(
            "issuers.NAME.scopes_claim",
            "",
            Kind::Token,
            "The claim with scopes for machines (`gateway`, `read`, `write`); usually `scope`.",
        ),
        Key::new(
            "issuers.NAME.require_jti",
            "",
            Kind::Boolean,
            "Refuse tokens without a `jti`, which cannot be revoked.",
        )
        .or("true"),
        Key::new(
            "issuers.NAME.longest_minutes",
            "",
            Kind::Integer { min: 1, max: 43_200 },
            "The longest that a token of it may be valid.",
        )
        .or("1440"),
    ],
};
