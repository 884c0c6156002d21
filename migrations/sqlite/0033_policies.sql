-- compatible-from: 22
-- What an account decides from verdicts.
CREATE TABLE policies (
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  -- JSON, PolicyRules.
  rules TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  PRIMARY KEY (account_id, name)
) STRICT, WITHOUT ROWID;
-- What the policy of the request said: accept, review or reject. Null: it had none.
ALTER TABLE verifications ADD COLUMN decision TEXT;
-- JSON, Policy as it was when the list was uploaded. Null: none.
ALTER TABLE lists ADD COLUMN policy TEXT;
