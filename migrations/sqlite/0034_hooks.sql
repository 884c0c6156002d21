-- compatible-from: 22
-- What auth servers call before they create a user.
CREATE TABLE hooks (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  -- No reference: some policies come with the service.
  policy TEXT NOT NULL,
  -- Not hashed: it signs. Null: that of the caller is not known yet.
  secret TEXT,
  previous_secret TEXT,
  previous_until INTEGER,
  timeout_ms INTEGER NOT NULL,
  -- Calls in a rate window. Null: half of the account's.
  rate_limit INTEGER,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER
) STRICT;
CREATE INDEX hooks_account ON hooks (account_id, created_at);
-- What a hook answered although there was no verdict: accept, review or reject. Null: it was no call of a hook.
ALTER TABLE rejected_requests ADD COLUMN answer TEXT;
