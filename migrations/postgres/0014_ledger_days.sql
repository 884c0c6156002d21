-- compatible-from: 13
-- A verification is its own ledger entry: its row says what was held for it. Null: there is another entry, in the ledger
-- (of an earlier version, or of a shared hold), or nothing moved.
ALTER TABLE verifications ADD COLUMN held BIGINT;

-- What is left in the ledger of entries that were deleted after their time: their sums, per account and day.
CREATE TABLE ledger_days (
  account_id TEXT NOT NULL,
  -- The first millisecond of the day (UTC).
  day BIGINT NOT NULL,
  -- Charged ones.
  verifications BIGINT NOT NULL,
  amount BIGINT NOT NULL,
  charged BIGINT NOT NULL,
  PRIMARY KEY (account_id, day)
);

-- A trigger, so that whatever deletes verifications leaves their sums, in the same transaction: nodes of the version
-- before as well, which know nothing of it. Whoever deletes has locked the account.
CREATE FUNCTION roll_up_verifications() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO ledger_days AS d (account_id, day, verifications, amount, charged)
  SELECT account_id, created_at / 86400000 * 86400000, count(*), sum(held - credits), sum(credits)
  FROM gone WHERE held IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2
  ON CONFLICT (account_id, day) DO UPDATE SET verifications = d.verifications + excluded.verifications,
    amount = d.amount + excluded.amount, charged = d.charged + excluded.charged;
  RETURN NULL;
END $$;
CREATE TRIGGER verifications_roll_up AFTER DELETE ON verifications REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION roll_up_verifications();
