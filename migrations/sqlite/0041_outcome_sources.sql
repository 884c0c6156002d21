-- compatible-from: 22
-- Providers that report what became of an account's mail. The id is a part of the URL that they call.
CREATE TABLE outcome_sources (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  provider TEXT NOT NULL,
  name TEXT NOT NULL,
  -- Not hashed: it verifies signatures. Null: that of the provider is not known yet.
  secret TEXT,
  previous_secret TEXT,
  previous_until INTEGER,
  -- Outcomes that came from there.
  received INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  last_received_at INTEGER
) STRICT;
CREATE INDEX outcome_sources_account ON outcome_sources (account_id, created_at);
