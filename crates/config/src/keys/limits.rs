//! `[limits]`: how much a caller may ask.

use super::Section;
use crate::key::{Key, Kind};

pub(super) static SECTION: Section = Section {
    name: "limits",
    doc: "How much a caller may ask; 0 is no limit. A caller is a key, a person without one, or else an address. With \
          `store.redis_url` all nodes count together, wrong API keys too; without it, and while Redis does not answer, each \
          node counts for itself, up to the same limit.",
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
            "limits.user_requests_per_minute",
            "PUNK_USER_RATE_LIMIT_RPM",
            Kind::Integer { min: 0, max: 1_000_000 },
            "Requests a minute of one person, with all their sessions and keys, on top of the limits of each caller.",
        )
        .or("0"),
        Key::new(
            "limits.ip_requests_per_minute",
            "PUNK_IP_RATE_LIMIT_RPM",
            Kind::Integer { min: 0, max: 1_000_000 },
            "Requests a minute from one address, whoever asks, on top of the limits of each caller. For a gateway that \
             strangers reach; behind a proxy only with `server.trusted_proxies`. IPv6 counts by network (/64).",
        )
        .or("0"),
        Key::new(
            "limits.redis_patience_ms",
            "PUNK_LIMITS_REDIS_PATIENCE_MS",
            Kind::Integer { min: 1, max: 10_000 },
            "Milliseconds that a request waits for Redis to count it. Then this node counts alone, until Redis answers again.",
        )
        .or("50"),
    ],
};
