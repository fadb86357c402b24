-- How far the journal of acknowledged commits has been brought into the database, and the name that database and journal
-- share. The checksum covers both.
CREATE TABLE ahead (
    one     INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    name    BLOB NOT NULL,
    applied INTEGER NOT NULL,
    sum     INTEGER NOT NULL
) STRICT;
