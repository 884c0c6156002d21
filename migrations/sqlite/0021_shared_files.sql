-- compatible-from: 20
-- Files that every node has a copy of: the disposable list, learned mail hosts, and what is known while they are made.
CREATE TABLE shared_files (
  name TEXT PRIMARY KEY,
  -- ISO 8601; the file with the later time replaces the other.
  made TEXT NOT NULL,
  -- gzip (RFC 1952) in Base64.
  content TEXT NOT NULL
) STRICT, WITHOUT ROWID;
