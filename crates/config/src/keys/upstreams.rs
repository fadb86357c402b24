//! `[upstreams.NAME]`: more endpoints that serve models.

use super::{NameRule, Named};
use crate::key::{Key, Kind};

const SECONDS: Kind = Kind::Integer { min: 1, max: 86_400 };

/// The one key of an upstream that the environment sets too.
const API_KEY: Key = Key::new(
    "upstreams.NAME.api_key",
    "PUNK_UPSTREAM_<NAME>_API_KEY",
    Kind::Token,
    "Key that is sent to it. In the variable's name, the upstream's is in capitals with `_` for `-`.",
)
.secret_or_reference();

pub(super) static TABLE: Named = Named {
    name: "upstreams",
    example: "groq",
    doc: "More endpoints that serve models, a table each: `[upstreams.groq]`. `groq:MODEL` picks one by name.",
    names: NameRule::Upstream,
    keys: &[
        Key::new(
            "upstreams.NAME.base_url",
            "",
            Kind::Url(&["http", "https"]),
            "Where it is, as its vendor says: `https://api.groq.com/openai/v1`.",
        )
        .required(),
        Key::new(
            "upstreams.NAME.wire",
            "",
            Kind::Choice(&["openai", "anthropic"]),
            "Which wire it speaks: OpenAI chat completions, or Anthropic messages.",
        )
        .or("openai"),
        Key::new(
            "upstreams.NAME.responses",
            "",
            Kind::Boolean,
            "Whether it speaks OpenAI responses as well; few compatible endpoints do.",
        )
        .or("false"),
        API_KEY,
        Key::new(
            "upstreams.NAME.api_keys",
            "",
            Kind::Tokens,
            "More keys for it, used in turn; one that is refused or used up rests.",
        )
        .secret_or_reference(),
        Key::new(
            "upstreams.NAME.models",
            "",
            Kind::Texts,
            "Models that it serves when a request names no upstream; `*` stands for any text: `[\"llama-*\"]`.",
        ),
        Key::new("upstreams.NAME.headers", "", Kind::Headers, "Headers sent with every call to it.").secret(),
        Key::new(
            "upstreams.NAME.weight",
            "",
            Kind::Integer { min: 0, max: 1000 },
            "Its share when several serve a model; 0 takes none while another can.",
        )
        .or("1"),
        Key::new("upstreams.NAME.connect_timeout_seconds", "", SECONDS, "Seconds to connect.").or("10"),
        Key::new(
            "upstreams.NAME.first_byte_timeout_seconds",
            "",
            SECONDS,
            "Seconds until the answer begins; a long thought counts.",
        )
        .or("300"),
        Key::new(
            "upstreams.NAME.idle_timeout_seconds",
            "",
            SECONDS,
            "Seconds of silence in the middle of an answer.",
        )
        .or("120"),
        Key::new("upstreams.NAME.total_timeout_seconds", "", SECONDS, "Seconds for all of a call.")
            .or("1800"),
    ],
};
