//! JSON Schemas of the types whose serde form is written by hand, for the snapshots of the contract.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::{Digest, Id, MicroUsd, Prefix, Timestamp};

macro_rules! json_schema_of {
    ($type:ty, $name:literal, $($schema:tt)*) => {
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($($schema)*)
            }
        }
    };
}

json_schema_of!(Digest, "Digest", { "type": "string", "pattern": "^[0-9a-f]{64}$" });
json_schema_of!(Timestamp, "Timestamp", {
    "type": "string", "format": "date-time", "pattern": "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$"
});
json_schema_of!(MicroUsd, "Usd", { "type": "number", "description": "dollars, exact to the micro-dollar" });

impl<K: Prefix> JsonSchema for Id<K> {
    fn schema_name() -> Cow<'static, str> {
        format!("Id_{}", K::PREFIX).into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": format!("^{}_[0-7][0-9a-hjkmnp-tv-z]{{25}}$", K::PREFIX) })
    }
}
