-- compatible-from: 22
-- Keys of programs that run the service. They belong to no account.
CREATE TABLE operator_keys (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  last_four TEXT NOT NULL,
  -- JSON array, never empty.
  allow_ips TEXT NOT NULL,
  -- Separated by spaces.
  scopes TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  revoked_at BIGINT,
  last_used_at BIGINT,
  last_used_ip TEXT
);

-- Grants that have an id of their caller's. Kept for ever, so that none is made twice, also when the account is gone: no
-- reference.
CREATE TABLE external_grants (
  external_id TEXT PRIMARY KEY,
  grantee TEXT NOT NULL,
  credits BIGINT NOT NULL,
  note TEXT NOT NULL,
  created_at BIGINT NOT NULL
);

-- The id of the account at whoever created it by the operator API.
ALTER TABLE accounts ADD COLUMN external_id TEXT;
CREATE UNIQUE INDEX accounts_external_id ON accounts (external_id) WHERE external_id IS NOT NULL;
