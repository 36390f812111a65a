-- Connections: their number inside this file, and the newest grant. The row is the fence: a commit reads and writes it
-- in its own transaction. Rows are never deleted, so an epoch never shrinks.
CREATE TABLE connection (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  epoch INTEGER NOT NULL DEFAULT 0,
  token BLOB,
  count INTEGER NOT NULL DEFAULT 0,
  granted_at INTEGER NOT NULL DEFAULT 0
) STRICT;

-- The log. Positions are given by the writer and never reused.
CREATE TABLE event (
  position INTEGER PRIMARY KEY,
  connection INTEGER NOT NULL,
  marker BLOB NOT NULL,
  stored_at INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  occurred_at INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  submitted_by INTEGER NOT NULL,
  transformed_by INTEGER NOT NULL,
  via INTEGER NOT NULL,
  flags INTEGER NOT NULL,
  name TEXT NOT NULL,
  key TEXT NOT NULL,
  refers_to TEXT,
  kind TEXT NOT NULL,
  lane TEXT NOT NULL,
  contact TEXT,
  conflicts TEXT,
  subject TEXT,
  location TEXT,
  properties TEXT NOT NULL
) STRICT;

-- Appended to, one place a connection. Serves a connection's pages, and carries the markers so that a dedupe window is
-- rebuilt without reading the events.
CREATE INDEX event_by_connection ON event (connection, position, marker);

-- Payloads of dispatches whose text had to be changed: of the events from `first` to `last`.
CREATE TABLE raw (
  first INTEGER PRIMARY KEY,
  last INTEGER NOT NULL,
  payload ANY NOT NULL
) STRICT;

-- Markers of events that were pruned while still inside the window.
CREATE TABLE marker (
  connection INTEGER NOT NULL,
  position INTEGER NOT NULL,
  marker BLOB NOT NULL,
  PRIMARY KEY (connection, position)
) STRICT, WITHOUT ROWID;

-- The newest position that was pruned: where counting goes on when the log is empty.
CREATE TABLE pruned (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  position INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO pruned VALUES (1, 0);

CREATE TABLE cursor (
  name TEXT PRIMARY KEY,
  position INTEGER NOT NULL,
  moved_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- AUTOINCREMENT: rows come and go, and a number that came back would end somebody else's dispatch.
CREATE TABLE inbox (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  connection INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  via INTEGER NOT NULL,
  submitted_by INTEGER NOT NULL,
  late INTEGER NOT NULL,
  kind TEXT NOT NULL,
  lane TEXT NOT NULL,
  context TEXT NOT NULL,
  payload ANY NOT NULL
) STRICT;
CREATE INDEX inbox_by_connection ON inbox (connection, id, bytes, received_at);

-- Apart from the inbox: counting up must not rewrite a payload.
CREATE TABLE attempt (
  id INTEGER PRIMARY KEY,
  count INTEGER NOT NULL
) STRICT;

CREATE TABLE dead_letter (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  connection INTEGER NOT NULL,
  died_at INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  via INTEGER NOT NULL,
  submitted_by INTEGER NOT NULL,
  stage TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  digest TEXT NOT NULL,
  error TEXT NOT NULL,
  kind TEXT NOT NULL,
  lane TEXT NOT NULL,
  context TEXT NOT NULL,
  payload ANY NOT NULL
) STRICT;
CREATE INDEX dead_letter_by_connection ON dead_letter (connection, id);

-- People, as they were given. A deleted one stays for the events that name it.
CREATE TABLE contact (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  space TEXT NOT NULL,
  email TEXT,
  external_id TEXT,
  properties TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  deleted_at INTEGER
) STRICT;
CREATE INDEX contact_by_space ON contact (space, id);

-- Keys of the living, in normal form: a deleted contact has none, so it blocks nothing. No partial index: SQLite would
-- compile the look-up anew for every event. Only an address may stand here twice; the one writer sees to that.
CREATE TABLE contact_key (
  space TEXT NOT NULL,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  contact INTEGER NOT NULL,
  contact_id TEXT NOT NULL,
  given TEXT NOT NULL,
  PRIMARY KEY (space, kind, key, contact)
) STRICT, WITHOUT ROWID;
CREATE INDEX contact_key_of ON contact_key (contact);

CREATE TABLE state (
  connection INTEGER NOT NULL,
  key TEXT NOT NULL,
  value ANY NOT NULL,
  PRIMARY KEY (connection, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE checkpoint (
  connection INTEGER PRIMARY KEY,
  format INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  stored_at INTEGER NOT NULL,
  bytes ANY NOT NULL
) STRICT;

-- One row a start, while it is inside its window.
CREATE TABLE start (
  key TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX start_by_key ON start (key, at);

-- What a platform said is left of its own count.
CREATE TABLE start_left (
  key TEXT PRIMARY KEY,
  remaining INTEGER NOT NULL,
  resets_at INTEGER NOT NULL,
  resets_in INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE parked (
  connection INTEGER PRIMARY KEY,
  record TEXT NOT NULL
) STRICT;
