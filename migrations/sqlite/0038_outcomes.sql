-- compatible-from: 22
-- What became of mail that accounts sent. No address and no text of a message: `mailbox` and `domain` are HMACs under
-- the account's secret in seen_secrets.
CREATE TABLE outcomes (
  account_id TEXT NOT NULL,
  mailbox TEXT NOT NULL,
  class TEXT NOT NULL,
  at INTEGER NOT NULL,
  domain TEXT NOT NULL,
  -- As `550 5.1.1`.
  code TEXT,
  source TEXT,
  PRIMARY KEY (account_id, mailbox, class, at)
) STRICT, WITHOUT ROWID;
CREATE INDEX outcomes_age ON outcomes (at);

-- Verdicts of which the outcome is known.
CREATE TABLE outcome_verdicts (
  account_id TEXT NOT NULL,
  verification_id TEXT NOT NULL,
  mailbox TEXT NOT NULL,
  -- The latest outcome.
  at INTEGER NOT NULL,
  -- JSON array: deliverability, reason, level, mail provider.
  verdict TEXT NOT NULL,
  -- The confidence that the reply had, in thousandths. Null: it had none.
  predicted INTEGER,
  -- 1: a mail bounced for a reason of the recipient.
  bounced INTEGER NOT NULL,
  -- 1: the outcome contradicts the verdict.
  contradicts INTEGER NOT NULL,
  -- Of the verification: the rule that decided, and the codes of the reply.
  rule TEXT,
  reply TEXT,
  -- Of the bounce: its codes, and its words without names, addresses, numbers and ids.
  code TEXT,
  template TEXT,
  PRIMARY KEY (account_id, verification_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX outcome_verdicts_mailbox ON outcome_verdicts (account_id, mailbox);
CREATE INDEX outcome_verdicts_age ON outcome_verdicts (at);
CREATE INDEX outcome_contradictions ON outcome_verdicts (account_id, at) WHERE contradicts = 1;
CREATE INDEX outcome_contradictions_of_all ON outcome_verdicts (at) WHERE contradicts = 1;

-- Sums: of outcome_verdicts by `verdict` and by tenths of `predicted`; of outcomes by `domain`.
CREATE TABLE outcome_sums (
  account_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  sent INTEGER NOT NULL,
  bounced INTEGER NOT NULL,
  -- Thousandths, of all.
  predicted INTEGER NOT NULL,
  PRIMARY KEY (account_id, kind, key)
) STRICT, WITHOUT ROWID;

-- Counts changes of the three tables; 0: the account has nothing in them.
ALTER TABLE accounts ADD COLUMN outcomes_version INTEGER NOT NULL DEFAULT 0;
-- For so many days an address that bounced is taken to bounce again; null: it is verified.
ALTER TABLE accounts ADD COLUMN trust_bounces_days INTEGER;
-- As accounts_test_mode of migration 0019.
CREATE TRIGGER accounts_test_trust
  AFTER UPDATE OF trust_bounces_days ON accounts WHEN NEW.test_of IS NULL
BEGIN
  UPDATE accounts SET trust_bounces_days = NEW.trust_bounces_days WHERE test_of = NEW.id;
END;
