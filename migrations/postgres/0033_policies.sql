-- compatible-from: 22
-- What an account decides from verdicts.
CREATE TABLE policies (
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  -- JSON, PolicyRules.
  rules TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  changed_at BIGINT NOT NULL,
  PRIMARY KEY (account_id, name)
);
-- What the policy of the request said: accept, review or reject. Null: it had none.
ALTER TABLE verifications ADD COLUMN decision TEXT;
-- JSON, Policy as it was when the list was uploaded. Null: none.
ALTER TABLE lists ADD COLUMN policy TEXT;
