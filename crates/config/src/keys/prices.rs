//! `[prices."MODEL"]`: what models cost, where the built-in list is wrong or silent.

use super::{NameRule, Named};
use crate::key::{Key, Kind};

pub(super) static TABLE: Named = Named {
    name: "prices",
    example: "\"llama-3.3-70b-versatile\"",
    doc: "What models cost in dollars a million tokens, where the built-in list is wrong or silent, a table each: \
          `[prices.\"llama-3.3-70b-versatile\"]`. Once a model is here, nothing of the built-in list holds for it.",
    names: NameRule::Any,
    keys: &[
        Key::new("prices.NAME.input_per_million_usd", "", Kind::Dollars, "Tokens of the request.").required(),
        Key::new("prices.NAME.output_per_million_usd", "", Kind::Dollars, "Tokens of the answer.").required(),
        Key::new(
            "prices.NAME.cache_read_per_million_usd",
            "",
            Kind::Dollars,
            "Tokens of the request that the vendor had in its cache; as other input when absent.",
        ),
        Key::new(
            "prices.NAME.cache_write_per_million_usd",
            "",
            Kind::Dollars,
            "Tokens of the request that the vendor put into its cache for minutes; as other input when absent.",
        ),
        Key::new(
            "prices.NAME.cache_write_long_per_million_usd",
            "",
            Kind::Dollars,
            "The same for an hour; as the one for minutes when absent.",
        ),
        Key::new(
            "prices.NAME.reasoning_per_million_usd",
            "",
            Kind::Dollars,
            "Tokens of thoughts; as other output when absent.",
        ),
    ],
};
