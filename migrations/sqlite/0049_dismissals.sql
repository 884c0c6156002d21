-- compatible-from: 22
-- What a member does not want to be shown again. With the membership, whatever ends that; those of test mode are the same.
CREATE TABLE dismissals (
  account_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  -- The notice, and what it is about.
  cause TEXT NOT NULL,
  PRIMARY KEY (account_id, user_id, cause),
  FOREIGN KEY (account_id, user_id) REFERENCES members (account_id, user_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
