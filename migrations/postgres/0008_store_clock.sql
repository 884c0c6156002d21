-- The store's clock, as its users have last seen it: one row, written twice a minute.
CREATE TABLE store_clock (
  id BIGINT PRIMARY KEY CHECK (id = 1),
  seen_at BIGINT NOT NULL,
  -- Since when it is doubted, because it moved by more than can have passed; null: it is not.
  doubted_at BIGINT
);
INSERT INTO store_clock (id, seen_at) VALUES (1, 0);
