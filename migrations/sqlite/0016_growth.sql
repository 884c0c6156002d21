-- compatible-from: 15
-- The index on addresses by blocks of the log: an address goes to a page that those recorded with it go to as well, not
-- to one of all pages of the index, each of which has to be written then.
DROP INDEX verifications_email;
CREATE INDEX verifications_email ON verifications (seq >> 12, account_id, substr(lower(email), 1, 320));

-- With what the audit sums up, so that it does not have to read the replies.
CREATE INDEX verifications_sums ON verifications (account_id, seq, credits, held);
DROP INDEX verifications_account;

-- Usage counters before this time are by the day: their hour is the first of it (UTC). After it, by the hour.
ALTER TABLE accounts ADD COLUMN usage_daily_before INTEGER NOT NULL DEFAULT 0;

-- Filters in the order of their account, so that a search through them reads neighboring rows.
CREATE TABLE filters_in_order (
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
) STRICT, WITHOUT ROWID;
INSERT INTO filters_in_order (id, account_id, filter_type, value, reason, reason_folded, created_at)
  SELECT id, account_id, filter_type, value, reason, reason_folded, created_at FROM filters ORDER BY account_id, id;
DROP TABLE filters;
ALTER TABLE filters_in_order RENAME TO filters;
