//! `[store]`: where the ledger and everything rebuilt from it lie.

use super::Section;
use crate::key::{Key, Kind};

pub(super) static SECTION: Section = Section {
    name: "store",
    doc: "Where the ledger and everything rebuilt from it lie.",
    keys: &[
        Key::new("store.data_dir", "PUNK_DATA_DIR", Kind::Path, "Folder of everything that Punk writes.")
            .or("data"),
        Key::new("store.path", "PUNK_DB_PATH", Kind::Path, "SQLite database.")
            .or_under("store.data_dir", "punk.db")
            .reserved("the SQLite store; until then the ledger is `ledger.jsonl` in `store.data_dir`"),
        Key::new(
            "store.url",
            "PUNK_DATABASE_URL",
            Kind::Url(&["postgres", "postgresql"]),
            "Postgres database; wins over `store.path`.",
        )
        .fallback("DATABASE_URL")
        .secret()
        .reserved("the Postgres store"),
        Key::new(
            "store.redis_url",
            "PUNK_REDIS_URL",
            Kind::Url(&["redis", "rediss"]),
            "Rate limits, revocation and events shared between nodes.",
        )
        .secret()
        .reserved("the shared bus"),
        Key::new(
            "store.retention_days",
            "PUNK_RETENTION_DAYS",
            Kind::Integer { min: 0, max: 36500 },
            "Days that payloads are kept; 0 keeps them for ever.",
        )
        .or("90")
        .reserved("the retention sweep"),
    ],
};
