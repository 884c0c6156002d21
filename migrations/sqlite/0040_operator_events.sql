-- compatible-from: 22
-- 1: the webhooks of this account are told of events of all accounts.
ALTER TABLE accounts ADD COLUMN operator_events INTEGER NOT NULL DEFAULT 0;
-- When it was told that the account has no credits left. Null: it has some.
ALTER TABLE accounts ADD COLUMN exhausted_told_at INTEGER;
