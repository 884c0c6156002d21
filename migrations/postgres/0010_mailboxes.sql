-- Which user a mailbox belongs to, in its canonical form, so that each mailbox signs up once. Users of earlier versions
-- claim theirs when the service starts; of several users with one mailbox, the first.
CREATE TABLE mailboxes (
  mailbox TEXT PRIMARY KEY,
  user_id TEXT NOT NULL UNIQUE REFERENCES auth_users ("id") ON DELETE CASCADE
);
