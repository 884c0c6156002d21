-- compatible-from: 22
-- From which local address a recipient of a list was deferred: the next attempt comes from the same one. Null: none yet.
ALTER TABLE list_waiting ADD COLUMN egress TEXT;
