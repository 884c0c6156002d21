-- compatible-from: 16
-- Endpoints that are told of events.
CREATE TABLE webhooks (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  url TEXT NOT NULL,
  -- JSON array.
  events TEXT NOT NULL,
  description TEXT,
  -- Not hashed: it signs.
  secret TEXT NOT NULL,
  previous_secret TEXT,
  previous_until BIGINT,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  disabled_reason TEXT,
  disabled_at BIGINT,
  failing_since BIGINT,
  failed_at BIGINT,
  created_at BIGINT NOT NULL
);
CREATE INDEX webhooks_account ON webhooks (account_id, created_at);

-- What is to be sent and was: written in the transaction of the event.
CREATE TABLE webhook_deliveries (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  -- No reference: an event may be written while its endpoint is deleted, and must not fail for it.
  webhook_id TEXT NOT NULL,
  event_id TEXT NOT NULL,
  event TEXT NOT NULL,
  body TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
  attempt_count INTEGER NOT NULL DEFAULT 0,
  -- JSON array.
  attempts TEXT NOT NULL DEFAULT '[]',
  next_attempt_at BIGINT,
  created_at BIGINT NOT NULL,
  finished_at BIGINT
);
CREATE INDEX webhook_deliveries_webhook ON webhook_deliveries (webhook_id, created_at);
CREATE INDEX webhook_deliveries_account ON webhook_deliveries (account_id, created_at);
CREATE INDEX webhook_deliveries_age ON webhook_deliveries (created_at);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, next_attempt_at) WHERE status = 'pending';
