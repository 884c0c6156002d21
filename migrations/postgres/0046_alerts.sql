-- compatible-from: 22
-- Which alerts owners and admins of an account are mailed. Without a row: those of the table of alerts.
CREATE TABLE alert_settings (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id),
  -- JSON array of types.
  mails TEXT NOT NULL,
  paused INTEGER NOT NULL
);
-- What was reported and is not over. A row is written with its mails and deliveries, so that nothing is sent twice.
CREATE TABLE alert_causes (
  account_id TEXT NOT NULL REFERENCES accounts (id),
  type TEXT NOT NULL,
  subject TEXT NOT NULL,
  since BIGINT NOT NULL,
  -- The node that found it; null: any would have.
  node TEXT,
  PRIMARY KEY (account_id, type, subject)
);
-- What is sent: events as JSON, or texts for a chat.
ALTER TABLE webhooks ADD COLUMN format TEXT NOT NULL DEFAULT 'events';
