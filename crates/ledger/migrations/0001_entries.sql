-- Everything that ever happened, one row each. What a row holds is its body; the hash ties it to all rows before it.
CREATE TABLE entry (
    sequence INTEGER PRIMARY KEY CHECK (sequence >= 1),
    body     TEXT NOT NULL,
    hash     BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;

-- How many rows there are and the last one's hash, sealed: rows cut off the end are missed.
CREATE TABLE head (
    only      INTEGER PRIMARY KEY CHECK (only = 1),
    id        BLOB NOT NULL CHECK (length(id) = 16),
    key_check BLOB NOT NULL CHECK (length(key_check) = 32),
    count     INTEGER NOT NULL CHECK (count >= 0),
    hash      BLOB NOT NULL CHECK (length(hash) = 32),
    seal      BLOB NOT NULL CHECK (length(seal) = 32)
) STRICT;
