-- An undo that is planned again keeps its change set. `call` is the one of the changes that a plan led to: a row
-- counts if the change of that call at its path happened. Rows from before this name no call, and are about every
-- change of their set at the path.
CREATE TABLE former_undoing (
    change_set TEXT NOT NULL,
    path TEXT NOT NULL,
    effect TEXT NOT NULL,
    hunks TEXT
) STRICT;

INSERT INTO former_undoing (change_set, path, effect, hunks)
SELECT change_set, path, effect, hunks FROM undoing;

DROP TABLE undoing;

CREATE TABLE undoing (
    change_set TEXT NOT NULL,
    call TEXT,
    path TEXT NOT NULL,
    effect TEXT NOT NULL,
    hunks TEXT
) STRICT;

INSERT INTO undoing (change_set, path, effect, hunks)
SELECT change_set, path, effect, hunks FROM former_undoing;

DROP TABLE former_undoing;

CREATE INDEX undoing_of_effect ON undoing (effect);
CREATE UNIQUE INDEX undoing_of_call ON undoing (change_set, call, effect);

PRAGMA user_version = 19;
