-- What conversations were about, and those of which more is known than their name and summary tell.

ALTER TABLE conversation ADD COLUMN summary TEXT;
-- The last turn that a model's name and summary tell of.
ALTER TABLE conversation ADD COLUMN told_until TEXT;

CREATE TABLE untold (
    conversation TEXT PRIMARY KEY NOT NULL REFERENCES conversation (id),
    turn TEXT NOT NULL,
    at INTEGER NOT NULL,
    failed INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE INDEX untold_newest ON untold (at);

-- None of the hub: its messages of a day are about many things.
CREATE TRIGGER turn_answered AFTER UPDATE OF status ON turn
WHEN NEW.status IN ('done', 'asked', 'limit') AND OLD.status <> NEW.status BEGIN
    INSERT INTO untold (conversation, turn, at)
    SELECT c.id, NEW.id, coalesce(NEW.ended_at, NEW.at)
    FROM conversation c WHERE c.id = NEW.conversation AND c.listed AND c.hub_day IS NULL
    ON CONFLICT (conversation) DO UPDATE SET turn = excluded.turn, at = excluded.at, failed = 0;
END;

-- A row of the conversation list, whole.
DROP VIEW listed;
CREATE VIEW listed AS
WITH asked AS (
    SELECT
        c.*,
        (SELECT q.text FROM question q WHERE q.conversation = c.id AND q.state = 'open')
            AS waiting_question,
        EXISTS (SELECT 1 FROM turn t WHERE t.conversation = c.id AND t.offered) AS interrupted
    FROM conversation c
    WHERE c.listed AND c.deleted_at IS NULL
)
SELECT
    a.id,
    a.title,
    a.summary,
    a.state,
    a.hub_day IS NOT NULL AS from_hub,
    a.archived,
    a.updated_at,
    a.waiting_question,
    (
        SELECT count(DISTINCT p.path)
        FROM change_set s JOIN planned_change p ON p.change_set = s.id
        WHERE s.conversation = a.id AND s.state = 'open' AND p.state = 'waiting'
    ) AS waiting_notes,
    a.interrupted,
    (SELECT count(*) FROM held h WHERE h.conversation = a.id) AS held,
    EXISTS (
        SELECT 1 FROM turn t
        WHERE t.conversation = a.id AND t.status IN ('queued', 'running') AND (
            t.status = 'running' OR t.answers IS NOT NULL OR t.origin <> 'window'
            OR (a.waiting_question IS NULL AND NOT a.interrupted)
        )
    ) AS working
FROM asked a;

PRAGMA user_version = 15;
