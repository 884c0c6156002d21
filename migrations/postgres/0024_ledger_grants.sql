-- compatible-from: 22
-- concurrently
CREATE INDEX CONCURRENTLY ledger_grants ON ledger (account_id, created_at) WHERE kind = 'grant';
