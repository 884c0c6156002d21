-- compatible-from: 22
-- What the blocks and chunks of a list took when it was uploaded. Lists of versions before are not counted; they expire.
ALTER TABLE lists ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
