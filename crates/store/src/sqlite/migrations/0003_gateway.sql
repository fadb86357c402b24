-- API keys, by the SHA-256 of their tokens. The row is JSON, with a checksum behind it as in `runs`.
CREATE TABLE api_keys (
    hash   BLOB NOT NULL PRIMARY KEY,
    tenant BLOB NOT NULL,
    id     BLOB NOT NULL,
    row    TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX api_keys_by_id ON api_keys (tenant, id);

-- Tenants as records, and what each has set: JSON with a checksum behind it.
CREATE TABLE tenants (
    id  BLOB NOT NULL PRIMARY KEY,
    row TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE settings (
    tenant BLOB NOT NULL PRIMARY KEY,
    row    TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Answers and values that may serve again. `run` is where an answer is recorded; `value` is a value, sealed if there is a
-- subject. The checksum is over everything but the hits.
CREATE TABLE cache_entries (
    tenant     BLOB NOT NULL,
    kind       TEXT NOT NULL,
    key        BLOB NOT NULL,
    run        BLOB,
    value      BLOB,
    subject    BLOB,
    model      TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    bytes      INTEGER NOT NULL,
    hits       INTEGER NOT NULL,
    sum        INTEGER NOT NULL,
    PRIMARY KEY (tenant, kind, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX cache_entries_by_age ON cache_entries (tenant, kind, created_at);
CREATE INDEX cache_entries_by_subject ON cache_entries (tenant, subject) WHERE subject IS NOT NULL;

-- What the runs of a day used, by what they are alike in (`slot` is a digest of that), and the agents that were seen. JSON
-- with a checksum behind it.
CREATE TABLE usage_daily (
    tenant BLOB NOT NULL,
    day    INTEGER NOT NULL,
    slot   BLOB NOT NULL,
    row    TEXT NOT NULL,
    PRIMARY KEY (tenant, day, slot)
) STRICT, WITHOUT ROWID;

CREATE TABLE agents (
    tenant BLOB NOT NULL,
    name   TEXT NOT NULL,
    row    TEXT NOT NULL,
    PRIMARY KEY (tenant, name)
) STRICT, WITHOUT ROWID;

-- What runs are alike in, by eight bytes of its digest, and the runs by that: lists with a filter go through both. JSON with a
-- checksum behind it. Runs from before have none until they are rebuilt.
CREATE TABLE run_slots (
    tenant BLOB NOT NULL,
    slot   INTEGER NOT NULL,
    traits TEXT NOT NULL,
    PRIMARY KEY (tenant, slot)
) STRICT, WITHOUT ROWID;
ALTER TABLE runs ADD COLUMN slot INTEGER;
CREATE INDEX runs_by_slot ON runs (tenant, slot, run) WHERE slot IS NOT NULL;
