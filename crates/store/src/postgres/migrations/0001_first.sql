-- The first schema. Only what every Postgres-compatible engine has: no triggers, extensions, sequences or advisory locks.
--
-- Ids and digests are their bytes, times are milliseconds since 1970. Whatever may hold a text from outside is bytea:
-- it then keeps a NUL, whatever the database's encoding is.

-- One append of events: a JSON array. Never changed.
CREATE TABLE segments (
    tenant    bytea  NOT NULL,
    run       bytea  NOT NULL,
    first_seq bigint NOT NULL,
    last_seq  bigint NOT NULL,
    body      bytea  NOT NULL,
    PRIMARY KEY (tenant, run, first_seq)
);

-- Where each run's chain ends, and the row that lists show of it (JSON, derived from the events).
CREATE TABLE runs (
    tenant bytea  NOT NULL,
    run    bytea  NOT NULL,
    seq    bigint NOT NULL,
    head   bytea  NOT NULL,
    body   bytea  NOT NULL,
    PRIMARY KEY (tenant, run)
);

-- How many leaves a tenant's log has. A commit that adds leaves holds this row to its end, so that indexes have no gaps.
CREATE TABLE logs (
    tenant bytea  NOT NULL,
    size   bigint NOT NULL,
    PRIMARY KEY (tenant)
);

-- The leaves of the logs. Never changed.
CREATE TABLE leaves (
    tenant bytea  NOT NULL,
    idx    bigint NOT NULL,
    run    bytea  NOT NULL,
    seq    bigint NOT NULL,
    head   bytea  NOT NULL,
    PRIMARY KEY (tenant, idx)
);
CREATE INDEX leaves_by_run ON leaves (tenant, run, idx);

-- The texts of policies that events name, by their SHA-256. Never changed.
CREATE TABLE policies (
    tenant bytea NOT NULL,
    digest bytea NOT NULL,
    body   bytea NOT NULL,
    PRIMARY KEY (tenant, digest)
);

-- Durable work. `state` is waiting, leased, done or dead. `live_key` is the SHA-256 of kind and key while the job waits
-- or is leased, and otherwise absent; `due_at` is when it can next be claimed (run_at or lease_until), absent with it.
-- `token` counts claims and is never reset.
CREATE TABLE jobs (
    id           bytea  NOT NULL,
    tenant       bytea  NOT NULL,
    kind         bytea  NOT NULL,
    key          bytea,
    payload      bytea  NOT NULL,
    priority     bigint NOT NULL,
    run_at       bigint NOT NULL,
    attempts     bigint NOT NULL,
    max_attempts bigint NOT NULL,
    state        text   NOT NULL,
    lease_until  bigint,
    last_error   bytea,
    token        bigint NOT NULL,
    due_at       bigint,
    live_key     bytea,
    PRIMARY KEY (id)
);
CREATE UNIQUE INDEX jobs_live ON jobs (tenant, live_key);
CREATE INDEX jobs_due ON jobs (due_at);
CREATE INDEX jobs_by_tenant ON jobs (tenant, id);
CREATE INDEX jobs_by_state ON jobs (tenant, state, id);
