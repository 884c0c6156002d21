-- compatible-from: 22
-- Requests with a valid key that got an error. Nothing of their bodies, so no verified address.
CREATE TABLE rejected_requests (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  -- Of a row that stands for many: the start of their minute.
  at INTEGER NOT NULL,
  -- How many requests it stands for. The next columns are null where it stands for those beyond the limit of a minute.
  count INTEGER NOT NULL,
  request_id TEXT,
  key_id TEXT,
  client_ip TEXT,
  route TEXT,
  status INTEGER,
  -- Null: a reply without one.
  code TEXT
) STRICT;
CREATE INDEX rejected_requests_account ON rejected_requests (account_id, at, id);
CREATE INDEX rejected_requests_request ON rejected_requests (account_id, request_id);
CREATE INDEX rejected_requests_age ON rejected_requests (at);
CREATE UNIQUE INDEX rejected_requests_more ON rejected_requests (account_id, at) WHERE request_id IS NULL;
