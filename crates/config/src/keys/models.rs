//! `[models."NAME"]`: names of models, and who serves them.

use super::{NameRule, Named};
use crate::key::{Key, Kind};

pub(super) static TABLE: Named = Named {
    name: "models",
    example: "\"fast\"",
    doc: "Names of models and who serves them, a table each: `[models.\"fast\"]`, in quotes when the name has a dot. \
          What is said here comes before every other rule.",
    names: NameRule::Any,
    keys: &[
        Key::new(
            "models.NAME.alias_of",
            "",
            Kind::Text,
            "The model that is meant, with or without its upstream: `groq:llama-3.3-70b-versatile`. Caches, prices and \
             evidence are shared with it.",
        ),
        Key::new(
            "models.NAME.upstream",
            "",
            Kind::Text,
            "Who serves it: an upstream, or `openai`, `anthropic`, `openrouter`, `mock`.",
        ),
        Key::new(
            "models.NAME.upstreams",
            "",
            Kind::Texts,
            "Who serves it together: the load is shared by their weights, and one steps in for another.",
        ),
        Key::new(
            "models.NAME.fallbacks",
            "",
            Kind::Texts,
            "What to try in order when nobody of those answers: models, or `UPSTREAM:MODEL`.",
        ),
    ],
};
