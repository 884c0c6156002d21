-- Credits held for many results, which are settled in parts. No node owns such a hold: it ends when it is released, or
-- when nobody has settled or renewed it for life_ms. The row stays for the audit.
CREATE TABLE shared_holds (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  key_id TEXT NOT NULL,
  -- What is left of it.
  amount INTEGER NOT NULL CHECK (amount >= 0),
  -- Credits of its results that were deleted from the log.
  purged_credits INTEGER NOT NULL DEFAULT 0,
  life_ms INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  closed_at INTEGER
) STRICT;
CREATE INDEX shared_holds_account ON shared_holds (account_id);
CREATE INDEX shared_holds_expiry ON shared_holds (expires_at) WHERE closed_at IS NULL;
CREATE INDEX shared_holds_closed ON shared_holds (closed_at) WHERE closed_at IS NOT NULL;

ALTER TABLE ledger ADD COLUMN hold_id TEXT;
ALTER TABLE verifications ADD COLUMN hold_id TEXT;
