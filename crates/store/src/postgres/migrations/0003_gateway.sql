-- API keys, by the SHA-256 of their tokens. The body is JSON.
CREATE TABLE api_keys (
    hash   bytea NOT NULL,
    tenant bytea NOT NULL,
    id     bytea NOT NULL,
    body   bytea NOT NULL,
    PRIMARY KEY (hash)
);
CREATE UNIQUE INDEX api_keys_by_id ON api_keys (tenant, id);

-- Tenants as records, and what each has set: JSON.
CREATE TABLE tenants (
    id   bytea NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (id)
);

CREATE TABLE settings (
    tenant bytea NOT NULL,
    body   bytea NOT NULL,
    PRIMARY KEY (tenant)
);

-- Answers and values that may serve again. `run` is where an answer is recorded; `value` is a value, sealed if there is a
-- subject.
CREATE TABLE cache_entries (
    tenant     bytea  NOT NULL,
    kind       text   NOT NULL,
    key        bytea  NOT NULL,
    run        bytea,
    value      bytea,
    subject    bytea,
    model      bytea,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    bytes      bigint NOT NULL,
    hits       bigint NOT NULL,
    PRIMARY KEY (tenant, kind, key)
);
CREATE INDEX cache_entries_by_age ON cache_entries (tenant, kind, created_at, key);
CREATE INDEX cache_entries_by_subject ON cache_entries (tenant, subject) WHERE subject IS NOT NULL;

-- What the runs of a day used, by what they are alike in; `slot` is a digest of that.
CREATE TABLE usage_daily (
    tenant                bytea  NOT NULL,
    day                   bigint NOT NULL,
    slot                  bytea  NOT NULL,
    kind                  bytea  NOT NULL,
    app                   bytea  NOT NULL,
    model                 bytea  NOT NULL,
    route                 bytea  NOT NULL,
    status                bytea  NOT NULL,
    runs                  bigint NOT NULL,
    unpriced_runs         bigint NOT NULL,
    input_tokens          bigint NOT NULL,
    output_tokens         bigint NOT NULL,
    cache_read_tokens     bigint NOT NULL,
    reasoning_tokens      bigint NOT NULL,
    cost_micro_usd        bigint NOT NULL,
    saved_micro_usd       bigint NOT NULL,
    ghost_saved_micro_usd bigint NOT NULL,
    saved_ms              bigint NOT NULL,
    latency_ms            bigint NOT NULL,
    PRIMARY KEY (tenant, day, slot)
);

-- The agents that were seen, by a digest of their names.
CREATE TABLE agents (
    tenant        bytea  NOT NULL,
    slot          bytea  NOT NULL,
    name          bytea  NOT NULL,
    first_seen_at bigint NOT NULL,
    last_seen_at  bigint NOT NULL,
    runs          bigint NOT NULL,
    PRIMARY KEY (tenant, slot)
);

-- What runs are alike in, as JSON, by eight bytes of its digest, and the runs by that: lists with a filter go through both.
-- Runs from before have none until they are rebuilt.
CREATE TABLE run_slots (
    tenant bytea  NOT NULL,
    slot   bigint NOT NULL,
    traits bytea  NOT NULL,
    PRIMARY KEY (tenant, slot)
);
ALTER TABLE runs ADD COLUMN slot bigint;
CREATE INDEX runs_by_slot ON runs (tenant, slot, run) WHERE slot IS NOT NULL;
