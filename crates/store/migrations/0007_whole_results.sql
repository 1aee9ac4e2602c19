-- The whole text of results that were shortened when they were stored. A model reads on by `handle`.

CREATE TABLE whole_result (
    turn TEXT NOT NULL,
    call TEXT NOT NULL,
    handle TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (turn, call),
    FOREIGN KEY (turn, call) REFERENCES tool_call (turn, call)
) STRICT;

CREATE INDEX whole_result_by_handle ON whole_result (handle);

PRAGMA user_version = 7;
