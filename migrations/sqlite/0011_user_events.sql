-- Sign-ins and changes of passwords in the audit log. Those of users without an account have none: SQLite drops a NOT
-- NULL only with the table.
CREATE TABLE trail_of_users (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id TEXT REFERENCES accounts (id),
  at INTEGER NOT NULL,
  actor_kind TEXT NOT NULL,
  actor_id TEXT,
  actor_name TEXT NOT NULL,
  ip TEXT,
  action TEXT NOT NULL,
  target TEXT NOT NULL,
  detail TEXT NOT NULL,
  -- Events that repeat within an hour are one row: how many there were, and when the last one was (null: there is one).
  count INTEGER NOT NULL DEFAULT 1,
  last_at INTEGER,
  -- What makes them the same, as a hash. Null: the row is never repeated.
  merge_key TEXT
) STRICT;
INSERT INTO trail_of_users (id, account_id, at, actor_kind, actor_id, actor_name, ip, action, target, detail)
  SELECT id, account_id, at, actor_kind, actor_id, actor_name, ip, action, target, detail FROM trail;
DROP TABLE trail;
ALTER TABLE trail_of_users RENAME TO trail;
CREATE INDEX trail_account ON trail (account_id, id);
CREATE UNIQUE INDEX trail_merge ON trail (merge_key) WHERE merge_key IS NOT NULL;
