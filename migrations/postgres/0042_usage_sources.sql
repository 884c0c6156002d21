-- compatible-from: 22
-- How much of requests and credits came by calls, one address each, and by lists. What earlier versions counted is the
-- rest: of either.
ALTER TABLE usage_hours ADD COLUMN api_requests BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_hours ADD COLUMN api_credits BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_hours ADD COLUMN list_requests BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_hours ADD COLUMN list_credits BIGINT NOT NULL DEFAULT 0;
