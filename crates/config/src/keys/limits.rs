//! `[limits]`: how much a caller may ask, and how much a client may take.

use super::Section;
use crate::key::{Key, Kind};

pub(super) static SECTION: Section = Section {
    name: "limits",
    doc: "How much a caller may ask, where 0 is no limit, and how much any client may take of connections and time. A caller is a key, a person without one, or else an address. With \
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
            "limits.concurrent_requests",
            "PUNK_CONCURRENT_REQUESTS",
            Kind::Integer { min: 1, max: 1_000_000 },
            "Requests in progress at once, of everybody, each until its run is recorded. One more is refused with 503 \
             `punk_overloaded`. A stream takes some 40 KB of memory.",
        )
        .or("4096"),
        Key::new(
            "limits.body_bytes_in_progress",
            "PUNK_BODY_BYTES_IN_PROGRESS",
            Kind::Integer { min: 1, max: 1_099_511_627_776 },
            "Bytes of the bodies of all requests in progress, at least `server.max_body_bytes`. What does not fit is refused with \
             503 `punk_overloaded` while it comes in. Reading a body takes several times its size.",
        )
        .or("134217728"),
        Key::new(
            "limits.redis_patience_ms",
            "PUNK_LIMITS_REDIS_PATIENCE_MS",
            Kind::Integer { min: 1, max: 10_000 },
            "Milliseconds that a request waits for Redis to count it. Then this node counts alone, until Redis answers again.",
        )
        .or("50"),
        Key::new(
            "limits.connections",
            "PUNK_MAX_CONNECTIONS",
            Kind::Integer { min: 1, max: 1_000_000 },
            "Connections that may be open at once. Whoever comes then is answered 503 with `Retry-After`. The process needs a \
             file descriptor for each, and one for each call to an upstream.",
        )
        .or("10000"),
        Key::new(
            "limits.header_bytes",
            "PUNK_MAX_HEADER_BYTES",
            Kind::Integer { min: 8_192, max: 1_048_576 },
            "Largest head of a request, its first line and all its headers together; a larger one is answered 431.",
        )
        .or("32768"),
        Key::new(
            "limits.header_seconds",
            "PUNK_HEADER_SECONDS",
            Kind::Integer { min: 1, max: 3600 },
            "Seconds that the head of a request may take from its first byte, and the first byte of a new connection.",
        )
        .or("15"),
        Key::new(
            "limits.idle_seconds",
            "PUNK_IDLE_SECONDS",
            Kind::Integer { min: 1, max: 86_400 },
            "Seconds that a connection is kept between two requests. Longer than a load balancer keeps its own: whoever would \
             send next has to be the one who closes.",
        )
        .or("75"),
        Key::new(
            "limits.body_seconds",
            "PUNK_BODY_SECONDS",
            Kind::Integer { min: 1, max: 86_400 },
            "Seconds that the body of a request may take; a slower one is answered 408.",
        )
        .or("120"),
        Key::new(
            "limits.stalled_seconds",
            "PUNK_STALLED_SECONDS",
            Kind::Integer { min: 1, max: 86_400 },
            "Seconds that a client may take nothing of an answer that is there for it. Then it is cut off, and so is the \
             upstream. A client that waits for an answer may wait for as long as it likes.",
        )
        .or("60"),
    ],
};
