-- Times are milliseconds since 1970-01-01T00:00:00Z; credits are whole numbers.

CREATE TABLE accounts (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  plan TEXT NOT NULL,
  rate_limit BIGINT,
  status TEXT NOT NULL DEFAULT 'active',
  balance BIGINT NOT NULL DEFAULT 0 CHECK (balance >= 0),
  locked BIGINT NOT NULL DEFAULT 0 CHECK (locked >= 0),
  window_start BIGINT NOT NULL DEFAULT 0,
  window_count BIGINT NOT NULL DEFAULT 0,
  -- How many filters of each type there are, kept by the statements that add and remove them: an account without
  -- filters of a type never looks for one.
  filter_emails BIGINT NOT NULL DEFAULT 0 CHECK (filter_emails >= 0),
  filter_domains BIGINT NOT NULL DEFAULT 0 CHECK (filter_domains >= 0),
  filter_ips BIGINT NOT NULL DEFAULT 0 CHECK (filter_ips >= 0),
  -- Credits of verifications that were deleted for age, so that the sums still agree afterwards.
  purged_credits BIGINT NOT NULL DEFAULT 0,
  created_at BIGINT NOT NULL
) WITH (fillfactor = 50); -- Every batch writes its account again: room in the page keeps that out of the index.

CREATE TABLE keys (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  last_four TEXT NOT NULL,
  allow_ips TEXT NOT NULL DEFAULT '[]',
  created_at BIGINT NOT NULL,
  revoked_at BIGINT,
  last_used_at BIGINT,
  last_used_ip TEXT
);
CREATE INDEX keys_account ON keys (account_id, created_at);

CREATE TABLE ledger (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  amount BIGINT NOT NULL,
  charged BIGINT NOT NULL DEFAULT 0,
  verification_id TEXT,
  note TEXT,
  created_at BIGINT NOT NULL
);
CREATE INDEX ledger_account ON ledger (account_id, id);

CREATE TABLE holds (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  amount BIGINT NOT NULL CHECK (amount >= 0),
  node TEXT NOT NULL,
  route TEXT,
  idempotency_key TEXT,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);

CREATE TABLE verifications (
  seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  email TEXT NOT NULL,
  requested TEXT NOT NULL,
  validation_type TEXT NOT NULL,
  status TEXT NOT NULL,
  deliverability TEXT NOT NULL,
  reason TEXT,
  credits BIGINT NOT NULL CHECK (credits >= 0),
  client_ip TEXT,
  duration_ms BIGINT NOT NULL,
  body TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX verifications_account ON verifications (account_id, seq);

CREATE TABLE usage_hours (
  account_id TEXT NOT NULL,
  hour BIGINT NOT NULL,
  key_id TEXT NOT NULL,
  validation_type TEXT NOT NULL,
  status TEXT NOT NULL,
  reason TEXT NOT NULL,
  requests BIGINT NOT NULL,
  credits BIGINT NOT NULL,
  PRIMARY KEY (account_id, hour, key_id, validation_type, status, reason)
);

CREATE TABLE idempotency (
  account_id TEXT NOT NULL,
  route TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  state TEXT NOT NULL,
  status BIGINT,
  headers TEXT,
  body TEXT,
  node TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (account_id, route, key)
);
CREATE INDEX idempotency_expiry ON idempotency (expires_at);
CREATE INDEX idempotency_running ON idempotency (node) WHERE state = 'running';

CREATE TABLE filters (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  filter_type TEXT NOT NULL,
  value TEXT NOT NULL,
  reason TEXT,
  -- The reason in lower case, made by the program: engines differ in how they fold letters beyond ASCII.
  reason_folded TEXT NOT NULL DEFAULT '',
  created_at BIGINT NOT NULL,
  UNIQUE (account_id, filter_type, value)
);
CREATE INDEX filters_account ON filters (account_id, id);

-- Processes that charge. A node that no longer proves that it lives (see store/postgres/node.ts) is swept away.
CREATE TABLE nodes (
  id TEXT PRIMARY KEY,
  label TEXT NOT NULL,
  started_at BIGINT NOT NULL
);

-- One row, written by the readiness check to find out whether a write would succeed.
CREATE TABLE heartbeat (
  id BIGINT PRIMARY KEY CHECK (id = 1),
  at BIGINT NOT NULL
);
INSERT INTO heartbeat (id, at) VALUES (1, 0);
