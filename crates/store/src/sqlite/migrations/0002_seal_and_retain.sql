-- Where in the log a segment's leaf is. It stands for an index over the leaves, which every append had to pay for.
ALTER TABLE segments ADD COLUMN leaf INTEGER;
UPDATE segments SET leaf = (
    SELECT idx FROM leaves
    WHERE leaves.tenant = segments.tenant AND leaves.run = segments.run AND leaves.seq = segments.last_seq);
DROP INDEX leaves_by_run;

-- Whom payloads are about. The key that seals them is wrapped by the installation's. An erased subject has neither name nor
-- key; its row stays, so that a key that was erased is not taken for one that was lost.
CREATE TABLE subjects (
    tenant  BLOB NOT NULL,
    id      BLOB NOT NULL,
    name    TEXT,
    wrapped BLOB,
    PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX subjects_by_name ON subjects (tenant, name);

-- Whose key seals the values, and the values; both absent where a segment is about nobody.
ALTER TABLE segments ADD COLUMN subject BLOB;
ALTER TABLE segments ADD COLUMN sealed BLOB;

ALTER TABLE runs ADD COLUMN subject BLOB;
CREATE INDEX runs_by_subject ON runs (tenant, subject, run) WHERE subject IS NOT NULL;

-- Runs whose events were given up, with where their leaves are, and the event that says so.
CREATE TABLE sealed (
    tenant BLOB NOT NULL,
    run    BLOB NOT NULL,
    seq    INTEGER NOT NULL,
    head   BLOB NOT NULL,
    leaf   INTEGER NOT NULL,
    PRIMARY KEY (tenant, run)
) STRICT, WITHOUT ROWID;
