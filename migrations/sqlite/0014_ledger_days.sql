-- compatible-from: 13
-- A verification is its own ledger entry: its row says what was held for it. Null: there is another entry, in the ledger
-- (of an earlier version, or of a shared hold), or nothing moved.
ALTER TABLE verifications ADD COLUMN held INTEGER;

-- What is left in the ledger of entries that were deleted after their time: their sums, per account and day.
CREATE TABLE ledger_days (
  account_id TEXT NOT NULL,
  -- The first millisecond of the day (UTC).
  day INTEGER NOT NULL,
  -- Charged ones.
  verifications INTEGER NOT NULL,
  amount INTEGER NOT NULL,
  charged INTEGER NOT NULL,
  PRIMARY KEY (account_id, day)
) STRICT, WITHOUT ROWID;

-- A trigger, so that whatever deletes verifications leaves their sums, in the same transaction.
CREATE TRIGGER verifications_roll_up AFTER DELETE ON verifications WHEN OLD.held IS NOT NULL
BEGIN
  INSERT INTO ledger_days (account_id, day, verifications, amount, charged)
  VALUES (OLD.account_id, OLD.created_at / 86400000 * 86400000, 1, OLD.held - OLD.credits, OLD.credits)
  ON CONFLICT (account_id, day) DO UPDATE SET verifications = verifications + 1, amount = amount + excluded.amount,
    charged = charged + excluded.charged;
END;

-- The audit compares what was charged for a shared hold with its results.
CREATE INDEX verifications_hold ON verifications (hold_id, credits) WHERE hold_id IS NOT NULL;
