-- compatible-from: 22
-- What only the whole file of a list has shown: JSON; null where the version before stored it.
ALTER TABLE lists ADD COLUMN summary TEXT;
-- Of the file in list_files, as it is stored; 0: none is kept.
ALTER TABLE lists ADD COLUMN file_bytes INTEGER NOT NULL DEFAULT 0;
-- How often the file was read again; each reading has its own numbers for its blocks.
ALTER TABLE lists ADD COLUMN readings INTEGER NOT NULL DEFAULT 0;

-- Uploaded files of lists that are not started, so that they can be read in another way.
CREATE TABLE list_files (
  account_id TEXT NOT NULL,
  list_id TEXT NOT NULL,
  -- From 1.
  piece INTEGER NOT NULL,
  -- Base64.
  content TEXT NOT NULL,
  PRIMARY KEY (account_id, list_id, piece)
) STRICT, WITHOUT ROWID;
