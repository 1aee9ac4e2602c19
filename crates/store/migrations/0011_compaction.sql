-- What a model is told in place of the first turns of a branch, up to and with `until`. The turns
-- stay. `summed` is the last turn that the model's own words, `summary`, tell of. `heard` marks what
-- was hidden from whoever put them together; `sources` is a JSON array of all it came from.

CREATE TABLE compaction (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation TEXT NOT NULL REFERENCES conversation (id),
    until TEXT NOT NULL REFERENCES turn (id),
    text TEXT NOT NULL,
    summary TEXT,
    summed TEXT REFERENCES turn (id),
    heard TEXT NOT NULL,
    sources TEXT NOT NULL,
    at INTEGER NOT NULL,
    CHECK ((summary IS NULL) = (summed IS NULL))
) STRICT;

CREATE INDEX compaction_of_conversation ON compaction (conversation);

PRAGMA user_version = 11;
