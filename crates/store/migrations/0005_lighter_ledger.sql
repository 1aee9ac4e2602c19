-- Every edit waits for the pages that its row touches. The ledger loses what costs a page and is
-- not needed: rows are never deleted, so numbers need no memory of their own (AUTOINCREMENT); the
-- changes of a conversation are found by its turns, the late ones of a note among the latest.

DROP VIEW need;

CREATE TABLE ledger (
    number INTEGER PRIMARY KEY,
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
    at INTEGER,
    inode INTEGER
) STRICT;

INSERT INTO ledger
SELECT
    number, id, change_set, conversation, turn, call, unit, kind, path, target, temp_name, before,
    after, state, at, inode
FROM effect;

DROP TABLE effect;
ALTER TABLE ledger RENAME TO effect;

CREATE INDEX effect_open ON effect (number) WHERE state = 'open';
CREATE INDEX effect_of_turn ON effect (turn, call);
CREATE INDEX effect_of_change_set ON effect (change_set);

-- Who needs a content, when it was needed last, and whether it must not go at all: while a change
-- is under way, parked or waits, and while the turn that made it waits for an answer.
CREATE VIEW need AS
WITH touched AS (
    SELECT
        e.before,
        e.after,
        max(
            coalesce(e.at, (SELECT t.at FROM turn t WHERE t.id = e.turn), 0),
            coalesce((SELECT o.at FROM overwritten o WHERE o.effect = e.id), 0),
            coalesce(
                (
                    SELECT max(b.at)
                    FROM undoing u
                        JOIN effect b ON b.change_set = u.change_set AND b.path = u.path
                    WHERE u.effect = e.id
                ),
                0
            )
        ) AS at,
        e.state IN ('open', 'parked')
            OR e.turn IN (SELECT q.turn FROM question q WHERE q.state = 'open') AS held
    FROM effect e
    WHERE e.before IS NOT NULL OR e.after IS NOT NULL
),
planned AS (
    SELECT p.before, p.after, coalesce(p.decided_at, 0) AS at, p.state = 'waiting' AS held
    FROM planned_change p
)
SELECT before AS hash, at, held FROM touched WHERE before IS NOT NULL
UNION ALL
SELECT after, at, held FROM touched WHERE after IS NOT NULL
UNION ALL
SELECT before, at, held FROM planned WHERE before IS NOT NULL
UNION ALL
SELECT after, at, held FROM planned WHERE after IS NOT NULL;

PRAGMA user_version = 5;
