-- compatible-from: 22
-- Searches of a page that a member has named. With their membership, whatever ends that; those of test mode are the same.
CREATE TABLE saved_views (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  page TEXT NOT NULL,
  name TEXT NOT NULL,
  -- The query string of the page.
  search TEXT NOT NULL,
  UNIQUE (account_id, user_id, page, name),
  FOREIGN KEY (account_id, user_id) REFERENCES members (account_id, user_id) ON DELETE CASCADE
) STRICT;
