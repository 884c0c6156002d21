-- compatible-from: 22
-- The contract through which a call came: mcp, or the service whose API it speaks. Null: Mailvet's own API, or the dashboard.
ALTER TABLE verifications ADD COLUMN via TEXT;
ALTER TABLE rejected_requests ADD COLUMN via TEXT;
