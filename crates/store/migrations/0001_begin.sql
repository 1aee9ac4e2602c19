-- The first shape. Ids and words are TEXT, times are milliseconds since 1970, lists are JSON.
-- A shipped migration is never edited: the next change is the next file.

CREATE TABLE conversation (
    id TEXT PRIMARY KEY NOT NULL,
    title TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('active', 'ended')),
    hub_day TEXT UNIQUE,
    listed INTEGER NOT NULL CHECK (listed IN (0, 1)),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

CREATE INDEX conversation_newest ON conversation (updated_at, id);

-- `ran` counts up when turns begin: the order in which a model hears of them. An answer overtakes
-- what was queued before the question, so it is not the order in which they were stored.
CREATE TABLE turn (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    conversation TEXT NOT NULL REFERENCES conversation (id),
    origin TEXT NOT NULL,
    status TEXT NOT NULL,
    answers TEXT REFERENCES question (id),
    ran INTEGER UNIQUE,
    model TEXT,
    error TEXT,
    at INTEGER NOT NULL,
    ended_at INTEGER
) STRICT;

CREATE INDEX turn_of_conversation ON turn (conversation, status);
CREATE INDEX turn_open ON turn (status) WHERE status IN ('queued', 'running');
CREATE UNIQUE INDEX turn_running ON turn (conversation) WHERE status = 'running';

-- Position 0 of a turn is the user's message that opened it.
CREATE TABLE message (
    id TEXT PRIMARY KEY NOT NULL,
    conversation TEXT NOT NULL REFERENCES conversation (id),
    turn TEXT NOT NULL REFERENCES turn (id),
    position INTEGER NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
    parts TEXT NOT NULL,
    cut INTEGER NOT NULL CHECK (cut IN (0, 1)),
    at INTEGER NOT NULL,
    UNIQUE (turn, position)
) STRICT;

CREATE INDEX message_of_conversation ON message (conversation);

CREATE TABLE tool_call (
    turn TEXT NOT NULL REFERENCES turn (id),
    message TEXT NOT NULL REFERENCES message (id),
    position INTEGER NOT NULL,
    call TEXT NOT NULL,
    tool TEXT NOT NULL,
    arguments TEXT NOT NULL,
    output TEXT,
    is_error INTEGER NOT NULL CHECK (is_error IN (0, 1)),
    reactions TEXT NOT NULL,
    seen TEXT NOT NULL,
    PRIMARY KEY (turn, call)
) STRICT;

CREATE TABLE question (
    id TEXT PRIMARY KEY NOT NULL,
    conversation TEXT NOT NULL REFERENCES conversation (id),
    turn TEXT NOT NULL REFERENCES turn (id),
    call TEXT NOT NULL,
    original_message TEXT NOT NULL,
    text TEXT NOT NULL,
    options TEXT NOT NULL,
    tool_calls_completed INTEGER NOT NULL,
    asked_at INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'answered', 'withdrawn')),
    answered_by TEXT REFERENCES turn (id),
    closed_at INTEGER
) STRICT;

CREATE UNIQUE INDEX question_open ON question (conversation) WHERE state = 'open';
CREATE INDEX question_of_turn ON question (turn);

-- A content that a plan or an effect needs: zstd, named by the hash of what it unpacks to.
CREATE TABLE image (
    hash TEXT PRIMARY KEY NOT NULL,
    size INTEGER NOT NULL,
    packed BLOB NOT NULL
) STRICT;

CREATE TABLE change_set (
    id TEXT PRIMARY KEY NOT NULL,
    conversation TEXT NOT NULL REFERENCES conversation (id),
    turn TEXT NOT NULL REFERENCES turn (id),
    state TEXT NOT NULL CHECK (state IN ('open', 'decided')),
    opened_at INTEGER NOT NULL,
    decided_at INTEGER
) STRICT;

CREATE UNIQUE INDEX change_set_open ON change_set (conversation) WHERE state = 'open';

CREATE TABLE planned_change (
    change_set TEXT NOT NULL REFERENCES change_set (id),
    position INTEGER NOT NULL,
    path TEXT NOT NULL,
    before TEXT REFERENCES image (hash),
    after TEXT NOT NULL REFERENCES image (hash),
    turn TEXT NOT NULL REFERENCES turn (id),
    call TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'applied', 'rejected')),
    problem TEXT,
    decided_at INTEGER,
    told INTEGER NOT NULL CHECK (told IN (0, 1)),
    PRIMARY KEY (change_set, position)
) STRICT;

CREATE INDEX planned_change_of_turn ON planned_change (turn);

-- The ledger outlives conversations, so it points at nothing but its images.
CREATE TABLE effect (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    change_set TEXT NOT NULL,
    turn TEXT NOT NULL,
    call TEXT NOT NULL,
    path TEXT NOT NULL,
    temp_name TEXT NOT NULL,
    before TEXT REFERENCES image (hash),
    after TEXT NOT NULL REFERENCES image (hash),
    state TEXT NOT NULL CHECK (state IN ('open', 'done', 'stale', 'parked', 'failed'))
) STRICT;

CREATE INDEX effect_open ON effect (number) WHERE state = 'open';
CREATE INDEX effect_of_turn ON effect (turn, call);

-- A row is assigned its turn before that turn is stored, so `turn` points at nothing.
CREATE TABLE inbox (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    hub TEXT NOT NULL,
    id TEXT NOT NULL,
    text TEXT NOT NULL,
    origin TEXT NOT NULL,
    received_at INTEGER NOT NULL,
    conversation TEXT,
    turn TEXT,
    attempts INTEGER NOT NULL,
    error TEXT,
    state TEXT NOT NULL CHECK (state IN ('open', 'done', 'parked')),
    UNIQUE (hub, id)
) STRICT;

CREATE INDEX inbox_open ON inbox (number) WHERE state = 'open';
CREATE INDEX inbox_of_turn ON inbox (turn);

CREATE TABLE outbox (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    hub TEXT NOT NULL,
    message_id TEXT NOT NULL,
    title TEXT,
    body TEXT NOT NULL,
    priority TEXT NOT NULL,
    at INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'sent', 'dropped'))
) STRICT;

CREATE INDEX outbox_waiting ON outbox (number) WHERE state = 'waiting';

CREATE TABLE usage (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    turn TEXT NOT NULL REFERENCES turn (id),
    model TEXT,
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    at INTEGER NOT NULL
) STRICT;

CREATE INDEX usage_of_turn ON usage (turn);

-- A row of the conversation list, whole.
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
        SELECT count(*)
        FROM change_set s JOIN planned_change p ON p.change_set = s.id
        WHERE s.conversation = c.id AND s.state = 'open' AND p.state = 'waiting'
    ) AS waiting_notes,
    EXISTS (
        SELECT 1 FROM turn t WHERE t.conversation = c.id AND t.status IN ('queued', 'running')
    ) AS working
FROM conversation c
WHERE c.listed;

PRAGMA user_version = 1;
