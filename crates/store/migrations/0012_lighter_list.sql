-- A row of the conversation list, whole. Whether one works is looked up among the turns that do, not
-- among all of the conversation's.

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
    EXISTS (
        SELECT 1 FROM turn t
        WHERE t.conversation = a.id AND t.status IN ('queued', 'running') AND (
            t.status = 'running' OR t.answers IS NOT NULL OR t.origin <> 'window'
            OR (a.waiting_question IS NULL AND NOT a.interrupted)
        )
    ) AS working
FROM asked a;

PRAGMA user_version = 12;
