-- Which code serves a connection, numbered. A number is never used again, so rows are never deleted.
CREATE TABLE generation (
  connection INTEGER NOT NULL,
  number INTEGER NOT NULL,
  digest TEXT NOT NULL,
  since INTEGER NOT NULL,
  PRIMARY KEY (connection, number)
) STRICT, WITHOUT ROWID;

-- What names of credentials are made with.
CREATE TABLE naming (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  key TEXT NOT NULL
) STRICT, WITHOUT ROWID;
