//! `[store]`: where the ledger and everything rebuilt from it lie.

use super::Section;
use crate::key::{Key, Kind};

pub(super) static SECTION: Section = Section {
    name: "store",
    doc: "Where the ledger and everything rebuilt from it lie.",
    keys: &[
        Key::new("store.data_dir", "PUNK_DATA_DIR", Kind::Path, "Folder of everything that Punk writes.")
            .or("data"),
        Key::new(
            "store.path",
            "PUNK_DB_PATH",
            Kind::Path,
            "SQLite database; `:memory:` keeps nothing beyond the process.",
        )
        .or_under("store.data_dir", "punk.db"),
        Key::new(
            "store.durability",
            "PUNK_DURABILITY",
            Kind::Choice(&["commit", "fsync"]),
            "What an acknowledged write survives: `commit` the end of the process, `fsync` a power cut too.",
        )
        .or("commit"),
        Key::new(
            "store.url",
            "PUNK_DATABASE_URL",
            Kind::Url(&["postgres", "postgresql"]),
            "Postgres database; wins over `store.path`. With `?sslmode=require` connections are encrypted and the server's \
             certificate is checked, against the authorities in `&sslrootcert=/path/to/ca.pem` or the system's; `prefer`, \
             the default, encrypts if the server offers it and checks nothing.",
        )
        .fallback("DATABASE_URL")
        .secret(),
        Key::new(
            "store.redis_url",
            "PUNK_REDIS_URL",
            Kind::Url(&["redis", "rediss"]),
            "Redis in which budgets, the limits of policies and requests per minute are counted for all nodes, so that asking for \
             room holds no lock in the database. The same for every node, or for none.",
        )
        .secret(),
        Key::new(
            "store.retention_days",
            "PUNK_RETENTION_DAYS",
            Kind::Integer { min: 0, max: 36500 },
            "Days that the events of a run are kept after the last of them; 0 keeps them for ever.",
        )
        .or("90"),
    ],
};
