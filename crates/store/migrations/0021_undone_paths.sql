-- The changes of a set are found by their paths: by its set alone, an undo of many changes would be read whole for
-- each change that it undid.
DROP INDEX effect_of_change_set;
CREATE INDEX effect_of_change_set ON effect (change_set, path);

PRAGMA user_version = 21;
