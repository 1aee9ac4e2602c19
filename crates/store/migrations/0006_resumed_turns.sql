-- Turns that were cut and are taken up again, and questions of the user that were put another way.

-- How often a turn was taken up again, and whether the user is asked what shall become of a cut one.
ALTER TABLE turn ADD COLUMN resumed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE turn ADD COLUMN offered INTEGER NOT NULL DEFAULT 0 CHECK (offered IN (0, 1));
CREATE INDEX turn_offered ON turn (conversation) WHERE offered;

-- A branch goes on from its parent, instead of the turn that ran there as number `fork`. 0 is the
-- first branch of each conversation and has no row. `conversation.branch` is the one that is shown.
ALTER TABLE turn ADD COLUMN branch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversation ADD COLUMN branch INTEGER NOT NULL DEFAULT 0;
CREATE TABLE branch (
    conversation TEXT NOT NULL REFERENCES conversation (id),
    number INTEGER NOT NULL,
    parent INTEGER NOT NULL,
    fork INTEGER NOT NULL,
    PRIMARY KEY (conversation, number)
) STRICT;

-- The turn whose context block tells the model of a verdict.
ALTER TABLE planned_change ADD COLUMN told_in TEXT;

-- What was typed while an answer was written is held as long as the user is asked something.
DROP VIEW listed;
CREATE VIEW listed AS
WITH asked AS (
    SELECT
        c.*,
        (SELECT q.text FROM question q WHERE q.conversation = c.id AND q.state = 'open')
            AS waiting_question,
        EXISTS (SELECT 1 FROM turn t WHERE t.conversation = c.id AND t.offered) AS interrupted
    FROM conversation c
    WHERE c.listed
)
SELECT
    a.id,
    a.title,
    a.state,
    a.hub_day IS NOT NULL AS from_hub,
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
        WHERE t.conversation = a.id AND (
            t.status = 'running'
            OR t.status = 'queued' AND (
                t.answers IS NOT NULL OR t.origin <> 'window'
                OR (a.waiting_question IS NULL AND NOT a.interrupted)
            )
        )
    ) AS working
FROM asked a;

PRAGMA user_version = 6;
