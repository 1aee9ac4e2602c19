-- How private the notes are at most that the model of a turn might see: 0 are those for any model, 1 those
-- for local models, 2 all. Of several models that answered it, the most; empty where it is not known.
ALTER TABLE turn ADD COLUMN max_privacy INTEGER CHECK (max_privacy BETWEEN 0 AND 2);

PRAGMA user_version = 18;
