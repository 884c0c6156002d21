-- compatible-from: 22
-- Grants, which the overview and the ledger by day show without reading what else an earlier version put into the ledger.
CREATE INDEX ledger_grants ON ledger (account_id, created_at) WHERE kind = 'grant';
