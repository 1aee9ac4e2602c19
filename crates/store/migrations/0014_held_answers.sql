-- What a hub is not told before the user has said so, because it may come from notes outside its places.

CREATE TABLE held (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation TEXT NOT NULL REFERENCES conversation (id),
    hub TEXT NOT NULL,
    message_id TEXT NOT NULL,
    title TEXT,
    body TEXT NOT NULL,
    priority TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;

CREATE INDEX held_of_conversation ON held (conversation);

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

-- Conversations that wait for the user.
DROP VIEW awaited;
CREATE VIEW awaited AS
SELECT q.conversation AS id FROM question q WHERE q.state = 'open'
UNION
SELECT t.conversation FROM turn t WHERE t.offered
UNION
SELECT s.conversation FROM change_set s WHERE s.state = 'open'
UNION
SELECT h.conversation FROM held h;

PRAGMA user_version = 14;
