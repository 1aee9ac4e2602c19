-- Contents that are not kept for ever. An effect that has lost one keeps its row, no longer names
-- it, and stands here with the lines that it added and removed.

CREATE TABLE forgotten (
    effect TEXT PRIMARY KEY NOT NULL,
    added INTEGER NOT NULL,
    removed INTEGER NOT NULL
) STRICT;

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

PRAGMA user_version = 4;
