-- Sign-ins and changes of passwords in the audit log. Those of users without an account have none.
ALTER TABLE trail ALTER COLUMN account_id DROP NOT NULL;
-- Events that repeat within an hour are one row: how many there were, and when the last one was (null: there is one).
ALTER TABLE trail ADD COLUMN count BIGINT NOT NULL DEFAULT 1;
ALTER TABLE trail ADD COLUMN last_at BIGINT;
-- What makes them the same, as a hash. Null: the row is never repeated.
ALTER TABLE trail ADD COLUMN merge_key TEXT;
CREATE UNIQUE INDEX trail_merge ON trail (merge_key) WHERE merge_key IS NOT NULL;
