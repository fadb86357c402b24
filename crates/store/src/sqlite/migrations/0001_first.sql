-- Events, many to a row: an append of k events of one run is one segment.
CREATE TABLE segments (
    id        INTEGER PRIMARY KEY,
    tenant    BLOB NOT NULL,
    run       BLOB NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq  INTEGER NOT NULL,
    body      BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX segments_by_place ON segments (tenant, run, first_seq);

-- Where each run stands, with the row that lists show. Derived from the segments.
CREATE TABLE runs (
    tenant BLOB NOT NULL,
    run    BLOB NOT NULL,
    seq    INTEGER NOT NULL,
    head   BLOB NOT NULL,
    row    TEXT NOT NULL,
    PRIMARY KEY (tenant, run)
) STRICT, WITHOUT ROWID;

-- The leaves of each tenant's log, counted from 0 without gaps.
CREATE TABLE leaves (
    tenant BLOB NOT NULL,
    idx    INTEGER NOT NULL,
    run    BLOB NOT NULL,
    seq    INTEGER NOT NULL,
    head   BLOB NOT NULL,
    PRIMARY KEY (tenant, idx)
) STRICT, WITHOUT ROWID;
CREATE INDEX leaves_by_run ON leaves (tenant, run);

CREATE TABLE policies (
    tenant BLOB NOT NULL,
    digest BLOB NOT NULL,
    body   TEXT NOT NULL,
    PRIMARY KEY (tenant, digest)
) STRICT, WITHOUT ROWID;

CREATE TABLE jobs (
    id           BLOB PRIMARY KEY,
    tenant       BLOB NOT NULL,
    kind         TEXT NOT NULL,
    key          TEXT,
    payload      TEXT NOT NULL,
    priority     INTEGER NOT NULL,
    run_at       INTEGER NOT NULL,
    attempts     INTEGER NOT NULL,
    max_attempts INTEGER NOT NULL,
    state        TEXT NOT NULL CHECK (state IN ('waiting', 'leased', 'done', 'dead')),
    lease_until  INTEGER,
    token        INTEGER NOT NULL,
    last_error   TEXT
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX jobs_one_live_per_key ON jobs (tenant, kind, key) WHERE key IS NOT NULL AND state IN ('waiting', 'leased');
CREATE INDEX jobs_waiting ON jobs (kind, run_at) WHERE state = 'waiting';
CREATE INDEX jobs_leased ON jobs (kind, lease_until) WHERE state = 'leased';
CREATE INDEX jobs_of_tenant ON jobs (tenant, id);
