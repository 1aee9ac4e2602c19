-- What of the hub waits for the user: beside answers that are held back, those that the hub never heard
-- and messages that could not be worked on.
ALTER TABLE held ADD COLUMN why TEXT NOT NULL DEFAULT 'outside'
    CHECK (why IN ('outside', 'unheard', 'failed'));
ALTER TABLE held ADD COLUMN error TEXT;

INSERT INTO held (conversation, hub, message_id, body, priority, at, why, error)
SELECT c.id, i.hub, i.id, i.text, 'high', i.received_at, 'failed', i.error
FROM inbox i JOIN conversation c ON c.id = i.conversation
WHERE i.state = 'parked';

PRAGMA user_version = 16;
