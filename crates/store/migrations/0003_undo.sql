-- Taking changes back. `inode` is the number that the file system gave a note when it was written.

ALTER TABLE effect ADD COLUMN inode INTEGER;

-- Sets that the assistant did not plan: what the user took back, put in again or wrote into a
-- conflict, and renames by hand that were found out.
CREATE TABLE own_set (
    change_set TEXT PRIMARY KEY NOT NULL,
    by TEXT NOT NULL
) STRICT;

-- That the change of `path` in a set takes back an effect; `hunks` is a list of places, or nothing
-- for all of it.
CREATE TABLE undoing (
    change_set TEXT NOT NULL,
    path TEXT NOT NULL,
    effect TEXT NOT NULL,
    hunks TEXT,
    PRIMARY KEY (change_set, effect)
) STRICT;

CREATE INDEX undoing_of_effect ON undoing (effect);

-- Effects that another program overwrote.
CREATE TABLE overwritten (
    effect TEXT PRIMARY KEY NOT NULL,
    at INTEGER NOT NULL
) STRICT;

PRAGMA user_version = 3;
