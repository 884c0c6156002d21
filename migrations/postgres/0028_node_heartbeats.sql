-- compatible-from: 22
-- What runs where, for operators: the program of a node, and when it last said that it runs. Null: a program that does not say.
ALTER TABLE nodes ADD COLUMN version TEXT;
ALTER TABLE nodes ADD COLUMN seen_at BIGINT;
