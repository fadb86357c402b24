-- Whom payloads are about. The key that seals them is wrapped by the installation's. An erased subject has neither name nor
-- key; its row stays, so that a key that was erased is not taken for one that was lost.
CREATE TABLE subjects (
    tenant  bytea NOT NULL,
    id      bytea NOT NULL,
    name    bytea,
    wrapped bytea,
    PRIMARY KEY (tenant, id)
);
CREATE UNIQUE INDEX subjects_by_name ON subjects (tenant, name);

-- Whose key seals the values, and the values; both absent where a segment is about nobody.
ALTER TABLE segments ADD COLUMN subject bytea;
ALTER TABLE segments ADD COLUMN sealed bytea;

ALTER TABLE runs ADD COLUMN subject bytea;
CREATE INDEX runs_by_subject ON runs (tenant, subject, run) WHERE subject IS NOT NULL;

-- Runs whose events were given up, with where their leaves are.
CREATE TABLE sealed (
    tenant bytea  NOT NULL,
    run    bytea  NOT NULL,
    seq    bigint NOT NULL,
    head   bytea  NOT NULL,
    leaf   bigint NOT NULL,
    PRIMARY KEY (tenant, run)
);
