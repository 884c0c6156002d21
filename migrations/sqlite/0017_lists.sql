-- compatible-from: 16
-- Lists of addresses that are verified as one job. Credits are held for a list by the shared hold of the same id, and its
-- results are verifications with that hold_id.
CREATE TABLE lists (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  -- Under which results are recorded; and whose IP address filters match.
  key_id TEXT NOT NULL,
  client_ip TEXT,
  name TEXT NOT NULL,
  -- In lower case, made by the program.
  name_folded TEXT NOT NULL,
  -- As in kernel/lists.ts; 'uploading' and 'deleted' are invisible.
  status TEXT NOT NULL,
  validation_type TEXT NOT NULL,
  patience_minutes INTEGER NOT NULL,
  -- JSON: columns of the file, which of them holds the addresses.
  layout TEXT NOT NULL,
  total INTEGER NOT NULL DEFAULT 0,
  addresses INTEGER NOT NULL DEFAULT 0,
  duplicates INTEGER NOT NULL DEFAULT 0,
  blank INTEGER NOT NULL DEFAULT 0,
  unreadable INTEGER NOT NULL DEFAULT 0,
  -- Kept by the transaction that records results.
  done INTEGER NOT NULL DEFAULT 0,
  waiting INTEGER NOT NULL DEFAULT 0,
  -- JSON: how many addresses per status, deliverability and reason.
  breakdown TEXT NOT NULL,
  -- Of one address; of all, held at the start; charged so far.
  unit_price INTEGER NOT NULL,
  price INTEGER NOT NULL DEFAULT 0,
  used INTEGER NOT NULL DEFAULT 0,
  -- JSON: code and sentence.
  error TEXT,
  created_at INTEGER NOT NULL,
  -- Last change of the status, or block of the upload.
  changed_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER,
  -- JSON: how many were done at two times in the past, for the rate.
  pace TEXT
) STRICT;
CREATE INDEX lists_account ON lists (account_id, id);
CREATE INDEX lists_running ON lists (id) WHERE status = 'running';
CREATE INDEX lists_invisible ON lists (changed_at) WHERE status IN ('uploading', 'deleted');

-- The rows of the file, some hundred in each block, which is never changed but by the erasure of an address.
CREATE TABLE list_blocks (
  account_id TEXT NOT NULL,
  list_id TEXT NOT NULL,
  -- Counts from 1, the header not counted.
  first_row INTEGER NOT NULL,
  row_count INTEGER NOT NULL,
  -- Of the distinct addresses that first occur in this block; they are counted from 1 within the list.
  first_address INTEGER NOT NULL,
  -- JSON array of texts.
  addresses TEXT NOT NULL,
  -- JSON array: per row the number of its address, or 0, and its cells.
  rows TEXT NOT NULL,
  PRIMARY KEY (account_id, list_id, first_row)
) STRICT, WITHOUT ROWID;

-- What is left to do: addresses of a block that have not been asked about, or are being asked about. Gone when done.
CREATE TABLE list_chunks (
  account_id TEXT NOT NULL,
  list_id TEXT NOT NULL,
  -- Its block.
  first_row INTEGER NOT NULL,
  -- JSON array of numbers of addresses.
  pending TEXT NOT NULL,
  -- Claims since the last result.
  attempts INTEGER NOT NULL DEFAULT 0,
  due_at INTEGER NOT NULL DEFAULT 0,
  -- Of a worker, in list_leases; null: nobody's.
  lease TEXT,
  PRIMARY KEY (account_id, list_id, first_row)
) STRICT, WITHOUT ROWID;
CREATE INDEX list_chunks_lease ON list_chunks (lease) WHERE lease IS NOT NULL;

-- Addresses that wait: to be asked again, or for the node that has their mail operator.
CREATE TABLE list_waiting (
  account_id TEXT NOT NULL,
  list_id TEXT NOT NULL,
  address INTEGER NOT NULL,
  email TEXT NOT NULL,
  -- How often it was asked about, and since when.
  attempts INTEGER NOT NULL,
  first_at INTEGER,
  -- Null: done.
  due_at INTEGER,
  -- Claims since the last result.
  claims INTEGER NOT NULL DEFAULT 0,
  operator TEXT,
  lease TEXT,
  PRIMARY KEY (account_id, list_id, address)
) STRICT, WITHOUT ROWID;
CREATE INDEX list_waiting_due ON list_waiting (account_id, list_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX list_waiting_lease ON list_waiting (lease) WHERE lease IS NOT NULL;

-- Workers prove with a lease that they are alive.
CREATE TABLE list_leases (
  lease TEXT PRIMARY KEY,
  -- In the future: the clock was set back.
  renewed_at INTEGER NOT NULL,
  ends_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
