-- Where what a turn was told comes from: 'user', 'hub', 'note:PATH', 'tool:NAME'. 'hub' is passed on
-- to the turns that hear of it, and by notes that such a turn has written. `turn` points at nothing:
-- the ledger, which names its turns, outlives them.

CREATE TABLE source (
    turn TEXT NOT NULL,
    source TEXT NOT NULL,
    PRIMARY KEY (turn, source)
) STRICT, WITHOUT ROWID;

CREATE TABLE tainted_note (
    path TEXT PRIMARY KEY NOT NULL
) STRICT, WITHOUT ROWID;

INSERT OR IGNORE INTO source
SELECT t.id, iif(t.origin IN ('window', 'cli'), 'user', 'hub') FROM turn t
UNION
SELECT t.id, 'hub' FROM turn t JOIN conversation c ON c.id = t.conversation
WHERE c.hub_day IS NOT NULL
UNION
SELECT c.turn, 'note:' || (n.value ->> 0) FROM tool_call c, json_each(c.seen) n;

INSERT OR IGNORE INTO tainted_note
SELECT coalesce(e.target, e.path) FROM effect e JOIN source s ON s.turn = e.turn
WHERE s.source = 'hub' AND e.state = 'done' AND e.kind IN ('create', 'replace', 'rename');

PRAGMA user_version = 13;
