-- compatible-from: 21
-- Which node checks the mailboxes of lists at a mail operator.
CREATE TABLE operator_leases (
  operator TEXT PRIMARY KEY,
  node TEXT NOT NULL,
  renewed_at BIGINT NOT NULL,
  ends_at BIGINT NOT NULL
);
