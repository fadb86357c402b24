//! `[limits]`: how much a caller may ask.

use super::Section;
use crate::key::{Key, Kind};

pub(super) static SECTION: Section = Section {
    name: "limits",
    doc: "How much a caller may ask; 0 is no limit.",
    keys: &[
        Key::new(
            "limits.requests_per_minute",
            "PUNK_RATE_LIMIT_RPM",
            Kind::Integer { min: 0, max: 1_000_000 },
            "Requests a minute of one caller.",
        )
        .or("300"),
        Key::new(
            "limits.chat_requests_per_minute",
            "PUNK_CHAT_RATE_LIMIT_RPM",
            Kind::Integer { min: 0, max: 1_000_000 },
            "Model calls a minute of one caller.",
        )
        .or("600"),
        Key::new(
            "limits.ip_requests_per_minute",
            "PUNK_IP_RATE_LIMIT_RPM",
            Kind::Integer { min: 0, max: 1_000_000 },
            "Requests a minute from one address, whoever asks, on top of the limits of each caller. For a gateway that \
             strangers reach; not behind a proxy that hides the callers' addresses.",
        )
        .or("0"),
    ],
};
