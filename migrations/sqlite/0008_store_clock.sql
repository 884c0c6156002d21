-- The store's clock, as its users have last seen it: one row, written twice a minute.
CREATE TABLE store_clock (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  seen_at INTEGER NOT NULL,
  -- Since when it is doubted, because it moved by more than can have passed; null: it is not.
  doubted_at INTEGER
) STRICT;
INSERT INTO store_clock (id, seen_at) VALUES (1, 0);
