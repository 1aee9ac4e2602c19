-- What requests cost, in billionths of a US dollar; nothing where the price was not known. The price
-- is the one that held when the turn began, as JSON.

ALTER TABLE turn ADD COLUMN price TEXT;
ALTER TABLE usage ADD COLUMN cost INTEGER;

CREATE INDEX usage_by_time ON usage (at);

PRAGMA user_version = 8;
