-- A note is known by its file: `inode` and `born` are the file that a change left, `base_inode` and
-- `base_born` the one that it changed. `born` is the birth time in nanoseconds since 1970.
ALTER TABLE effect ADD COLUMN born INTEGER;
ALTER TABLE effect ADD COLUMN base_inode INTEGER;
ALTER TABLE effect ADD COLUMN base_born INTEGER;

-- Files that took the place of others in one step, as seen by the watch. Each file is in it once as
-- what is gone.
CREATE TABLE succession (
    inode INTEGER NOT NULL,
    born INTEGER NOT NULL,
    next_inode INTEGER NOT NULL,
    next_born INTEGER NOT NULL,
    PRIMARY KEY (inode, born)
) STRICT, WITHOUT ROWID;

CREATE INDEX succession_to ON succession (next_inode, next_born);

PRAGMA user_version = 17;
