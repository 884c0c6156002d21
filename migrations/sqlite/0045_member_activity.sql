-- compatible-from: 22
-- When a member last used the account, to within a few minutes. Null: not since this column exists.
ALTER TABLE members ADD COLUMN last_active_at INTEGER;
