//! `[server]`: where the gateway listens, and how it stops.

use super::Section;
use crate::key::{Key, Kind};

pub(super) static SECTION: Section = Section {
    name: "server",
    doc: "Where the gateway listens, and how it stops.",
    keys: &[
        Key::new(
            "server.host",
            "PUNK_HOST",
            Kind::Address,
            "Address to listen on. Anything but a loopback address is reachable by others: set \
             `auth.api_key` first.",
        )
        .or("127.0.0.1"),
        Key::new(
            "server.port",
            "PUNK_PORT",
            Kind::Integer { min: 0, max: 65535 },
            "Port to listen on; 0 takes any free one and says which.",
        )
        .or("4100"),
        Key::new(
            "server.drain_seconds",
            "PUNK_DRAIN_SECONDS",
            Kind::Integer { min: 0, max: 3600 },
            "Seconds that requests and jobs in progress have to finish when the process is asked to stop. Then \
             connections are cut and jobs given back.",
        )
        .or("30"),
        Key::new(
            "server.drain_delay_seconds",
            "PUNK_DRAIN_DELAY_SECONDS",
            Kind::Integer { min: 0, max: 600 },
            "Seconds for which the process goes on as before when it is asked to stop, but `/ready` answers 503 and answers close \
             their connections: as long as a load balancer takes to look elsewhere. `server.drain_seconds` begin after that.",
        )
        .or("0"),
        Key::new(
            "server.max_body_bytes",
            "PUNK_MAX_BODY_BYTES",
            Kind::Integer { min: 1024, max: 1_073_741_824 },
            "Largest body of a request, in bytes; a longer one is refused while it comes in.",
        )
        .or("33554432"),
        Key::new(
            "server.cors_origins",
            "PUNK_CORS_ORIGINS",
            Kind::Origins,
            "Web pages of other origins that may call from a browser. Unset, none may, not even one on this machine; `*` lets \
             every page call that has a key.",
        ),
        Key::new(
            "server.trusted_proxies",
            "PUNK_TRUSTED_PROXIES",
            Kind::Networks,
            "Proxies and load balancers in front of the gateway, by address or network. What they say of where a request comes \
             from is believed, of nobody else: the last address that is none of theirs is the caller's. Unset, nobody is.",
        ),
        Key::new(
            "server.forwarded_header",
            "PUNK_FORWARDED_HEADER",
            Kind::Choice(&["x-forwarded-for", "forwarded"]),
            "The header that the trusted proxies write. Only this one is read, for they pass the other on as it came.",
        )
        .or("x-forwarded-for"),
        Key::new(
            "server.base_url",
            "PUNK_APP_BASE_URL",
            Kind::Url(&["http", "https"]),
            "Public address of this installation. A gateway without a bootstrap key answers to this name, besides those of the \
             machine itself, and its pages may call.",
        ),
    ],
};
