-- Entries of the cache in the order in which they come, and no longer by their keys: those are digests, so each new entry changed a
-- page of its own. `era` says in which piece of the index its key is; the rest is as it was.
CREATE TABLE cache_entries_in_order (
    id         INTEGER PRIMARY KEY,
    era        INTEGER NOT NULL,
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
    sum        INTEGER NOT NULL
) STRICT;
INSERT INTO cache_entries_in_order
    (era, tenant, kind, key, run, value, subject, model, created_at, expires_at, bytes, hits, sum)
    SELECT 1, tenant, kind, key, run, value, subject, model, created_at, expires_at, bytes, hits, sum
    FROM cache_entries ORDER BY created_at, key;
DROP TABLE cache_entries;
ALTER TABLE cache_entries_in_order RENAME TO cache_entries;
-- A part of a key finds it as surely as all of it: it is a digest.
CREATE INDEX cache_entries_by_key ON cache_entries (era, substr(key, 1, 8));
CREATE INDEX cache_entries_by_age ON cache_entries (tenant, kind, created_at);
CREATE INDEX cache_entries_by_subject ON cache_entries (tenant, subject) WHERE subject IS NOT NULL;
