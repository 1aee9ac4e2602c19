-- The permission bits, the owner and the group of a note that goes to the trash. A note that is made again has those of
-- the deletion, and the file that went to the trash.
ALTER TABLE effect ADD COLUMN mode INTEGER;
ALTER TABLE effect ADD COLUMN uid INTEGER;
ALTER TABLE effect ADD COLUMN gid INTEGER;
ALTER TABLE effect ADD COLUMN trashed_inode INTEGER;
ALTER TABLE effect ADD COLUMN trashed_born INTEGER;

PRAGMA user_version = 22;
