-- The ledger of actions. Ids begin with a time, so rows and the entries of their indexes are appended, but for the keys.
-- A row is written when the execution is opened and once more when it ends.
CREATE TABLE execution (
  id BLOB NOT NULL PRIMARY KEY,
  connection INTEGER NOT NULL,
  action TEXT NOT NULL,
  outcome TEXT,
  finished_at INTEGER,
  generation INTEGER NOT NULL,
  digest TEXT NOT NULL,
  surface TEXT NOT NULL,
  caller TEXT NOT NULL,
  key TEXT,
  attempt INTEGER NOT NULL,
  approved TEXT,
  submitted_at INTEGER NOT NULL,
  started_at INTEGER,
  waited_ms INTEGER NOT NULL DEFAULT 0,
  reason TEXT,
  provider_ids TEXT NOT NULL DEFAULT '[]',
  notes TEXT NOT NULL DEFAULT '[]',
  requests TEXT NOT NULL DEFAULT '[]',
  result TEXT NOT NULL DEFAULT '',
  args TEXT NOT NULL
) STRICT;
CREATE INDEX execution_by_connection ON execution (connection, id);
CREATE INDEX execution_by_key ON execution (key, id) WHERE key IS NOT NULL;

-- Those that run are the ones without an end: few, and found without reading the others.
CREATE INDEX execution_by_end ON execution (finished_at);

-- What executions made, by the platform's ids.
CREATE TABLE execution_provider (
  id TEXT NOT NULL,
  execution BLOB NOT NULL,
  PRIMARY KEY (id, execution)
) STRICT, WITHOUT ROWID;
CREATE INDEX execution_provider_of ON execution_provider (execution);

-- One a key: the newest execution under it, and what its caller was told. Lives as long as that execution.
CREATE TABLE submission (
  number INTEGER PRIMARY KEY,
  connection INTEGER NOT NULL,
  action TEXT NOT NULL,
  key TEXT NOT NULL,
  args_digest TEXT NOT NULL,
  execution BLOB NOT NULL,
  attempt INTEGER NOT NULL,
  doubt INTEGER NOT NULL,
  ending TEXT,
  UNIQUE (connection, action, key)
) STRICT;
CREATE INDEX submission_by_execution ON submission (execution);

-- The newest fence of a connection's locks. Who holds them is in memory: that ends with the process, this does not.
CREATE TABLE lock_fence (
  connection INTEGER PRIMARY KEY,
  newest INTEGER NOT NULL
) STRICT;
