-- The words of a call for the user, as JSON: `say` with a text, `ask` with a text and options, `end` with a reason.
-- Empty for all other calls, for those without a result and for those that failed.
ALTER TABLE tool_call ADD COLUMN speech TEXT;

-- For the calls before this: a question has a row of its own, and an end an event. The text of a message stands only
-- in the arguments of its call. It is copied with its escapes, as one of half a character could not be stored as text.
UPDATE tool_call AS c SET speech = CASE
    WHEN c.tool = 'end_conversation' THEN iif(
        json_valid(c.reactions),
        iif(
            c.reactions ->> '$[0].type' = 'conversation_ended',
            json_object('type', 'end', 'reason', json(c.reactions -> '$[0].reason')),
            NULL
        ),
        NULL
    )
    WHEN EXISTS (SELECT 1 FROM question q WHERE q.turn = c.turn AND q.call = c.call) THEN (
        SELECT json_object(
            'type', 'ask', 'text', q.text,
            'options', json(iif(json_valid(q.options), q.options, '[]'))
        )
        FROM question q WHERE q.turn = c.turn AND q.call = c.call
    )
    WHEN json_valid(c.arguments) THEN iif(
        json_type(c.arguments, '$.message') = 'text',
        json_object('type', 'say', 'text', json(c.arguments -> '$.message')),
        NULL
    )
END
WHERE c.tool IN ('send_message', 'end_conversation') AND c.output IS NOT NULL AND NOT c.is_error;

-- The text that a call said, or the notes that it changed and all it was told to write.
DROP VIEW call_passage;
CREATE VIEW call_passage AS
SELECT
    m.conversation, m.id AS message, t.turn, t.call,
    iif(t.speech IS NULL, 'change', 'assistant') AS kind,
    iif(
        t.speech IS NULL,
        (
            SELECT group_concat(words, char(10)) FROM (
                SELECT r.value ->> '$.path' AS words FROM json_each(t.reactions) r
                UNION
                SELECT r.value ->> '$.to' FROM json_each(t.reactions) r
                UNION ALL
                SELECT a.atom FROM json_tree(t.arguments) a WHERE a.type = 'text'
            )
        ),
        t.speech ->> '$.text'
    ) AS words,
    m.at
FROM tool_call t
    JOIN message m ON m.id = t.message
    JOIN conversation c ON c.id = m.conversation
WHERE c.listed AND t.output IS NOT NULL AND NOT t.is_error AND (
    t.speech ->> '$.type' IN ('say', 'ask')
    OR EXISTS (
        SELECT 1 FROM json_each(t.reactions) r
        WHERE r.value ->> '$.type' IN ('changed', 'moved', 'trashed', 'folder_made')
    )
);

PRAGMA user_version = 20;
