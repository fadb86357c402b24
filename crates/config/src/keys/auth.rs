//! `[auth]`: who may call.

use super::Section;
use crate::key::{Key, Kind};

pub(super) static SECTION: Section = Section {
    name: "auth",
    doc: "Who may call.",
    keys: &[
        Key::new("auth.api_key", "PUNK_API_KEY", Kind::Token, "Bootstrap key; turns authentication on.")
            .secret(),
        Key::new(
            "auth.require_login",
            "PUNK_REQUIRE_LOGIN",
            Kind::Boolean,
            "Refuse whoever shows neither a key nor a session, even without a bootstrap key and before there is anybody who \
             could log in. Once there is somebody, it is so anyway.",
        )
        .or("false"),
        Key::new(
            "auth.admin_email",
            "PUNK_ADMIN_EMAIL",
            Kind::Email,
            "First administrator: made at the start when missing, as an owner of the default organisation, and never changed \
             afterwards.",
        ),
        Key::new(
            "auth.admin_password",
            "PUNK_ADMIN_PASSWORD",
            Kind::Text,
            "Password of the first administrator, 12 to 256 characters; a changed one is never reset.",
        )
        .secret(),
        Key::new(
            "auth.admin_credential_file",
            "PUNK_ADMIN_CREDENTIAL_FILE",
            Kind::Path,
            "A file whose first line is that, instead: for what is mounted by an orchestrator.",
        ),
        Key::new(
            "auth.allow_private_issuers",
            "PUNK_ALLOW_PRIVATE_ISSUERS",
            Kind::Boolean,
            "Let the providers of `[oidc]` and `[issuers.NAME]` be in a private network.",
        )
        .or("false"),
        Key::new(
            "auth.session_idle_minutes",
            "PUNK_SESSION_IDLE_MINUTES",
            Kind::Integer { min: 5, max: 43_200 },
            "How long somebody may be away before they have to log in again.",
        )
        .or("720"),
        Key::new(
            "auth.session_hours",
            "PUNK_SESSION_HOURS",
            Kind::Integer { min: 1, max: 8_760 },
            "How long a session lasts at most.",
        )
        .or("168"),
        Key::new(
            "auth.session_rotation_minutes",
            "PUNK_SESSION_ROTATION_MINUTES",
            Kind::Integer { min: 1, max: 1_440 },
            "How old the token of a session becomes before it is replaced. An old one that is shown again ends the session.",
        )
        .or("15"),
    ],
};
