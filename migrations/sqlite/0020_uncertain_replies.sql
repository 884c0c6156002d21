-- compatible-from: 16
-- Replies of mail servers that were read with low confidence, by operator and template. They hold no address and belong to
-- no account.
CREATE TABLE uncertain_replies (
  operator TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  code INTEGER NOT NULL,
  enhanced TEXT,
  template TEXT NOT NULL,
  rule TEXT NOT NULL,
  finding TEXT NOT NULL,
  count INTEGER NOT NULL,
  first_seen INTEGER NOT NULL,
  last_seen INTEGER NOT NULL,
  PRIMARY KEY (operator, fingerprint)
) STRICT, WITHOUT ROWID;
