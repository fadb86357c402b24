-- Small documents that change: JSON with a checksum behind it. `word` is what a record is grouped under, `key` what else it
-- is found by.
CREATE TABLE records (
    tenant  BLOB NOT NULL,
    kind    TEXT NOT NULL,
    id      TEXT NOT NULL,
    version INTEGER NOT NULL,
    word    TEXT NOT NULL,
    key     BLOB,
    due_at  INTEGER,
    row     TEXT NOT NULL,
    PRIMARY KEY (tenant, kind, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX records_by_word ON records (tenant, kind, word, id);
CREATE INDEX records_by_key ON records (tenant, kind, key, id) WHERE key IS NOT NULL;
CREATE INDEX records_due ON records (kind, word, due_at, tenant, id) WHERE due_at IS NOT NULL;

-- What is spent of each meter in the window that began at `since`. What is reserved is nowhere: it ends with the process.
CREATE TABLE meters (
    tenant BLOB NOT NULL,
    meter  BLOB NOT NULL,
    since  INTEGER NOT NULL,
    spent  INTEGER NOT NULL,
    sum    INTEGER NOT NULL,
    PRIMARY KEY (tenant, meter, since)
) STRICT, WITHOUT ROWID;
CREATE INDEX meters_by_window ON meters (since) WHERE since <> 0;

-- What agents did, day by day. JSON with a checksum behind it.
CREATE TABLE conduct_daily (
    tenant BLOB NOT NULL,
    agent  TEXT NOT NULL,
    day    INTEGER NOT NULL,
    row    TEXT NOT NULL,
    PRIMARY KEY (tenant, agent, day)
) STRICT, WITHOUT ROWID;
