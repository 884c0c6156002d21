-- Filters are numbered within their account, so that ids tell nothing of other accounts. Earlier ones keep their ids.
ALTER TABLE accounts ADD COLUMN last_filter_id INTEGER NOT NULL DEFAULT 0;
UPDATE accounts SET last_filter_id = coalesce((SELECT max(id) FROM filters WHERE account_id = accounts.id), 0);
CREATE TABLE filters_of_accounts (
  id INTEGER NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  filter_type TEXT NOT NULL,
  value TEXT NOT NULL,
  reason TEXT,
  -- The reason in lower case, made by the program: engines differ in how they fold letters beyond ASCII.
  reason_folded TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  PRIMARY KEY (account_id, id),
  UNIQUE (account_id, filter_type, value)
) STRICT;
INSERT INTO filters_of_accounts (id, account_id, filter_type, value, reason, reason_folded, created_at)
  SELECT id, account_id, filter_type, value, reason, reason_folded, created_at FROM filters;
DROP TABLE filters;
ALTER TABLE filters_of_accounts RENAME TO filters;
