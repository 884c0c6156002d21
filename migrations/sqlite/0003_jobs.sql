-- Durable background jobs (store/jobs/sqlite.ts). On PostgreSQL they are pg-boss's.
CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  -- Unique among the open jobs of a kind; the id where none was given.
  key TEXT NOT NULL,
  -- No reference: the job that removes an account outlives its row.
  account_id TEXT,
  -- JSON.
  payload TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'failed')),
  attempts INTEGER NOT NULL,
  attempt_limit INTEGER NOT NULL,
  -- Waiting: when to run; running: when the lease ends; failed: when to delete it.
  due_at INTEGER NOT NULL,
  -- When due_at was decided: in the future only where the clock was set back.
  set_at INTEGER NOT NULL,
  last_error TEXT,
  created_at INTEGER NOT NULL,
  failed_at INTEGER
) STRICT;
CREATE UNIQUE INDEX jobs_open ON jobs (kind, key) WHERE state <> 'failed';
CREATE INDEX jobs_due ON jobs (due_at) WHERE state <> 'failed';
CREATE INDEX jobs_set ON jobs (set_at);
CREATE INDEX jobs_kind ON jobs (kind, state, due_at);
CREATE INDEX jobs_account ON jobs (account_id) WHERE account_id IS NOT NULL;
