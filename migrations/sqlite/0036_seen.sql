-- compatible-from: 22
-- Mailboxes that an account has seen in a scope. No address: `mailbox` and `spelling` are HMACs under its secret.
CREATE TABLE seen (
  account_id TEXT NOT NULL,
  mailbox TEXT NOT NULL,
  scope TEXT NOT NULL,
  -- As it was spelled the first time.
  spelling TEXT NOT NULL,
  count INTEGER NOT NULL,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  PRIMARY KEY (account_id, mailbox, scope)
) STRICT, WITHOUT ROWID;
CREATE INDEX seen_age ON seen (last_at);

-- One for each account that has remembered a mailbox.
CREATE TABLE seen_secrets (
  account_id TEXT PRIMARY KEY,
  -- 32 random bytes in base64.
  secret TEXT NOT NULL,
  -- How many rows the account has in `seen`.
  mailboxes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
