-- Conversations are put away, deleted and found again by their words.

-- `hub_day` of a deleted conversation has a mark behind it: the day may begin another one.
ALTER TABLE conversation ADD COLUMN archived INTEGER NOT NULL DEFAULT 0 CHECK (archived IN (0, 1));
ALTER TABLE conversation ADD COLUMN deleted_at INTEGER;
ALTER TABLE conversation ADD COLUMN named_by TEXT NOT NULL DEFAULT 'words'
    CHECK (named_by IN ('words', 'model', 'user'));

DROP INDEX conversation_newest;
CREATE INDEX conversation_shelf ON conversation (archived, updated_at, id)
    WHERE listed AND deleted_at IS NULL;
CREATE INDEX conversation_ended ON conversation (updated_at, id)
    WHERE state = 'ended' AND listed AND deleted_at IS NULL;
CREATE INDEX conversation_hub ON conversation (updated_at)
    WHERE hub_day IS NOT NULL AND state = 'active' AND deleted_at IS NULL;
CREATE INDEX conversation_deleted ON conversation (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX question_of_conversation ON question (conversation);
CREATE INDEX change_set_of_conversation ON change_set (conversation);

-- What was spent for no turn that is kept.
CREATE TABLE usage_apart (
    number INTEGER PRIMARY KEY,
    model TEXT,
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    at INTEGER NOT NULL,
    cost INTEGER
) STRICT;

CREATE INDEX usage_apart_by_time ON usage_apart (at);

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

-- Conversations that wait for the user.
CREATE VIEW awaited AS
SELECT q.conversation AS id FROM question q WHERE q.state = 'open'
UNION
SELECT t.conversation FROM turn t WHERE t.offered
UNION
SELECT s.conversation FROM change_set s WHERE s.state = 'open';

-- What was said and changed, in words; `message` is empty for a conversation's name. The triggers
-- below keep it, and the words of it, in the commit of what it is made of.
CREATE TABLE passage (
    number INTEGER PRIMARY KEY,
    conversation TEXT NOT NULL REFERENCES conversation (id),
    message TEXT,
    turn TEXT,
    call TEXT,
    kind TEXT NOT NULL CHECK (kind IN ('name', 'user', 'assistant', 'change')),
    words TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;

CREATE INDEX passage_of_conversation ON passage (conversation, kind);
CREATE INDEX passage_of_message ON passage (message) WHERE message IS NOT NULL;

CREATE VIRTUAL TABLE passage_words USING fts5 (
    words, content = 'passage', content_rowid = 'number',
    tokenize = 'unicode61 remove_diacritics 2'
);
-- What is deleted leaves no trace in it.
INSERT INTO passage_words (passage_words, rank) VALUES ('secure-delete', 1);

CREATE TRIGGER passage_comes AFTER INSERT ON passage BEGIN
    INSERT INTO passage_words (rowid, words) VALUES (NEW.number, NEW.words);
END;

CREATE TRIGGER passage_goes AFTER DELETE ON passage BEGIN
    INSERT INTO passage_words (passage_words, rowid, words)
    VALUES ('delete', OLD.number, OLD.words);
END;

CREATE TRIGGER passage_changes AFTER UPDATE OF words ON passage BEGIN
    INSERT INTO passage_words (passage_words, rowid, words)
    VALUES ('delete', OLD.number, OLD.words);
    INSERT INTO passage_words (rowid, words) VALUES (NEW.number, NEW.words);
END;

-- The text of each message; what was said before a second time is in it once.
CREATE VIEW message_passage AS
SELECT
    m.conversation, m.id AS message, m.turn, NULL AS call, m.role AS kind,
    (
        SELECT group_concat(p.value ->> '$.text', char(10, 10) ORDER BY p.key)
        FROM json_each(m.parts) p WHERE p.value ->> '$.type' = 'text'
    ) AS words,
    m.at
FROM message m JOIN conversation c ON c.id = m.conversation
WHERE c.listed
    AND NOT EXISTS (SELECT 1 FROM json_each(m.parts) p WHERE p.value ->> '$.type' = 'repeated');

-- What a call said, or the notes that it changed and all it was told to write.
CREATE VIEW call_passage AS
SELECT
    m.conversation, m.id AS message, t.turn, t.call,
    iif(t.tool = 'send_message', 'assistant', 'change') AS kind,
    iif(
        t.tool = 'send_message',
        t.arguments ->> '$.message',
        (
            SELECT group_concat(words, char(10)) FROM (
                SELECT r.value ->> '$.path' AS words FROM json_each(t.reactions) r
                UNION
                SELECT r.value ->> '$.to' FROM json_each(t.reactions) r
                UNION ALL
                SELECT a.atom FROM json_tree(t.arguments) a WHERE a.type = 'text'
            )
        )
    ) AS words,
    m.at
FROM tool_call t
    JOIN message m ON m.id = t.message
    JOIN conversation c ON c.id = m.conversation
WHERE c.listed AND t.output IS NOT NULL AND NOT t.is_error AND (
    t.tool = 'send_message'
    OR EXISTS (
        SELECT 1 FROM json_each(t.reactions) r
        WHERE r.value ->> '$.type' IN ('changed', 'moved', 'trashed', 'folder_made')
    )
);

CREATE TRIGGER message_comes AFTER INSERT ON message BEGIN
    INSERT INTO passage (conversation, message, turn, call, kind, words, at)
    SELECT * FROM message_passage p WHERE p.message = NEW.id AND trim(p.words) <> '';
END;

CREATE TRIGGER message_changes AFTER UPDATE OF parts ON message BEGIN
    DELETE FROM passage WHERE message = OLD.id AND call IS NULL;
    INSERT INTO passage (conversation, message, turn, call, kind, words, at)
    SELECT * FROM message_passage p WHERE p.message = NEW.id AND trim(p.words) <> '';
END;

CREATE TRIGGER message_goes AFTER DELETE ON message BEGIN
    DELETE FROM passage WHERE message = OLD.id;
END;

CREATE TRIGGER tool_call_answered AFTER UPDATE OF output ON tool_call
WHEN OLD.output IS NULL AND NEW.output IS NOT NULL BEGIN
    INSERT INTO passage (conversation, message, turn, call, kind, words, at)
    SELECT * FROM call_passage p
    WHERE p.turn = NEW.turn AND p.call = NEW.call AND trim(p.words) <> '';
END;

CREATE TRIGGER conversation_comes AFTER INSERT ON conversation WHEN NEW.listed BEGIN
    INSERT INTO passage (conversation, kind, words, at)
    VALUES (NEW.id, 'name', NEW.title, NEW.created_at);
END;

CREATE TRIGGER conversation_named AFTER UPDATE OF title ON conversation BEGIN
    UPDATE passage SET words = NEW.title WHERE conversation = NEW.id AND kind = 'name';
END;

INSERT INTO passage (conversation, kind, words, at)
SELECT id, 'name', title, created_at FROM conversation WHERE listed;

INSERT INTO passage (conversation, message, turn, call, kind, words, at)
SELECT p.conversation, p.message, p.turn, p.call, p.kind, p.words, p.at
FROM (SELECT * FROM message_passage UNION ALL SELECT * FROM call_passage) p
    JOIN turn t ON t.id = p.turn
WHERE trim(p.words) <> ''
ORDER BY p.at, t.number, p.call IS NOT NULL;

PRAGMA user_version = 9;
