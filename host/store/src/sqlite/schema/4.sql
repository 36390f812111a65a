-- A letter is the same as one that is there when everything is that its dispatch consists of: it is not listed twice, it counts.
-- Letters of before have no identity, so each of them may be listed once more.
ALTER TABLE dead_letter ADD COLUMN identity BLOB;
ALTER TABLE dead_letter ADD COLUMN repeats INTEGER NOT NULL DEFAULT 0;

-- Over a random key, but off the way of an event: a dead letter is the exception.
CREATE UNIQUE INDEX dead_letter_by_identity ON dead_letter (connection, identity);
