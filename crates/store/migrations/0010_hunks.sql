-- A verdict may be about single hunks. `choice` is such a verdict while it is being carried out;
-- `edited` tells that the user wrote some of the lines; effects up to the number in `since` are not
-- those of this row.

ALTER TABLE planned_change ADD COLUMN choice TEXT;
ALTER TABLE planned_change ADD COLUMN edited INTEGER NOT NULL DEFAULT 0 CHECK (edited IN (0, 1));
ALTER TABLE planned_change ADD COLUMN since INTEGER NOT NULL DEFAULT 0;

PRAGMA user_version = 10;
