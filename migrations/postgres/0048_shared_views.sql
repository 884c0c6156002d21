-- compatible-from: 22
-- Searches of a page under a name, shared by the members of an account; those of test mode are the same. They replace
-- saved_views, which programs of the version before still use.
CREATE TABLE shared_views (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  page TEXT NOT NULL,
  name TEXT NOT NULL,
  -- The query string of the page.
  search TEXT NOT NULL,
  UNIQUE (account_id, page, name)
);
-- Of those with the same name, the first one keeps it.
INSERT INTO shared_views (id, account_id, page, name, search)
SELECT v.id, v.account_id, v.page,
  CASE WHEN EXISTS (
    SELECT 1 FROM saved_views o WHERE o.account_id = v.account_id AND o.page = v.page AND o.name = v.name AND o.id < v.id
  ) THEN v.name || ' (' || right(v.id, 6) || ')' ELSE v.name END,
  v.search
FROM saved_views v;
