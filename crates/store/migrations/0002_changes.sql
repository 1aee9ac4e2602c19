-- Changes that are not of bytes: renames, folders, the trash. `target` is the new path of a
-- rename, or the name in the trash; rows with the same `unit` happen all or not at all.

CREATE TABLE planned (
    change_set TEXT NOT NULL REFERENCES change_set (id),
    position INTEGER NOT NULL,
    kind TEXT NOT NULL,
    path TEXT NOT NULL,
    target TEXT,
    before TEXT REFERENCES image (hash),
    after TEXT REFERENCES image (hash),
    unit TEXT,
    turn TEXT NOT NULL REFERENCES turn (id),
    call TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'applied', 'rejected')),
    problem TEXT,
    decided_at INTEGER,
    told INTEGER NOT NULL CHECK (told IN (0, 1)),
    PRIMARY KEY (change_set, position)
) STRICT;

INSERT INTO planned
SELECT
    change_set, position, iif(before IS NULL, 'create', 'replace'), path, NULL, before, after, NULL,
    turn, call, state, problem, decided_at, told
FROM planned_change;

DROP VIEW listed;
DROP TABLE planned_change;
ALTER TABLE planned RENAME TO planned_change;

CREATE INDEX planned_change_of_turn ON planned_change (turn);
CREATE INDEX planned_change_waiting ON planned_change (change_set) WHERE state = 'waiting';

CREATE VIEW listed AS
SELECT
    c.id,
    c.title,
    c.state,
    c.hub_day IS NOT NULL AS from_hub,
    c.updated_at,
    (SELECT q.text FROM question q WHERE q.conversation = c.id AND q.state = 'open')
        AS waiting_question,
    (
        SELECT count(DISTINCT p.path)
        FROM change_set s JOIN planned_change p ON p.change_set = s.id
        WHERE s.conversation = c.id AND s.state = 'open' AND p.state = 'waiting'
    ) AS waiting_notes,
    EXISTS (
        SELECT 1 FROM turn t WHERE t.conversation = c.id AND t.status IN ('queued', 'running')
    ) AS working
FROM conversation c
WHERE c.listed;

-- The ledger. `conversation` and `at` are empty in rows from before this.
CREATE TABLE ledger (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    change_set TEXT NOT NULL,
    conversation TEXT,
    turn TEXT NOT NULL,
    call TEXT NOT NULL,
    unit TEXT,
    kind TEXT NOT NULL,
    path TEXT NOT NULL,
    target TEXT,
    temp_name TEXT NOT NULL,
    before TEXT REFERENCES image (hash),
    after TEXT REFERENCES image (hash),
    state TEXT NOT NULL CHECK (state IN ('open', 'done', 'stale', 'parked', 'failed')),
    at INTEGER
) STRICT;

INSERT INTO ledger
SELECT
    number, id, change_set, NULL, turn, call, NULL, iif(before IS NULL, 'create', 'replace'), path,
    NULL, temp_name, before, after, state, NULL
FROM effect;

DROP TABLE effect;
ALTER TABLE ledger RENAME TO effect;

CREATE INDEX effect_open ON effect (number) WHERE state = 'open';
CREATE INDEX effect_of_turn ON effect (turn, call);
CREATE INDEX effect_of_change_set ON effect (change_set);
CREATE INDEX effect_of_conversation ON effect (conversation);
CREATE INDEX effect_of_path ON effect (path);

PRAGMA user_version = 2;
