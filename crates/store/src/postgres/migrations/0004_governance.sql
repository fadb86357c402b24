-- Small documents that change; the body is JSON. `word` is what a record is grouped under, `key` what else it is found by.
CREATE TABLE records (
    tenant     bytea  NOT NULL,
    kind       text   NOT NULL,
    id         bytea  NOT NULL,
    version    bigint NOT NULL,
    word       bytea  NOT NULL,
    key        bytea,
    body       bytea  NOT NULL,
    created_at bigint NOT NULL,
    due_at     bigint,
    PRIMARY KEY (tenant, kind, id)
);
CREATE INDEX records_by_word ON records (tenant, kind, word, id);
CREATE INDEX records_by_key ON records (tenant, kind, key, id) WHERE key IS NOT NULL;
CREATE INDEX records_due ON records (kind, word, due_at, tenant, id) WHERE due_at IS NOT NULL;

-- What is spent of each meter in the window that began at `since`, and what is reserved. Whoever reserves holds the rows of
-- its meters, so that no two take the same room.
CREATE TABLE meters (
    tenant bytea  NOT NULL,
    meter  bytea  NOT NULL,
    since  bigint NOT NULL,
    spent  bigint NOT NULL,
    PRIMARY KEY (tenant, meter, since)
);
CREATE INDEX meters_by_window ON meters (since) WHERE since <> 0;

CREATE TABLE meter_reservations (
    tenant  bytea  NOT NULL,
    id      bytea  NOT NULL,
    meter   bytea  NOT NULL,
    since   bigint NOT NULL,
    amount  bigint NOT NULL,
    ends_at bigint NOT NULL,
    PRIMARY KEY (tenant, id, meter, since)
);
CREATE INDEX meter_reservations_by_meter ON meter_reservations (tenant, meter, since);

-- What agents did, day by day; `slot` is a digest of the agent's name.
CREATE TABLE conduct_daily (
    tenant    bytea  NOT NULL,
    slot      bytea  NOT NULL,
    day       bigint NOT NULL,
    agent     bytea  NOT NULL,
    allowed   bigint NOT NULL,
    asked     bigint NOT NULL,
    denied    bigint NOT NULL,
    executed  bigint NOT NULL,
    blocked   bigint NOT NULL,
    failed    bigint NOT NULL,
    praised   bigint NOT NULL,
    corrected bigint NOT NULL,
    PRIMARY KEY (tenant, slot, day)
);
