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
            "Refuse anonymous people even without a bootstrap key.",
        )
        .or("false")
        .reserved("accounts"),
        Key::new(
            "auth.admin_email",
            "PUNK_ADMIN_EMAIL",
            Kind::Email,
            "First administrator, created when missing and never changed afterwards.",
        )
        .reserved("accounts"),
        Key::new(
            "auth.admin_password",
            "PUNK_ADMIN_PASSWORD",
            Kind::Text,
            "Password of the first administrator; a changed one is never reset.",
        )
        .secret()
        .reserved("accounts"),
    ],
};
