-- compatible-from: 22
-- Where the mailboxes of a hook's sign-ups may count once. Null: nothing is remembered of them.
ALTER TABLE hooks ADD COLUMN scope TEXT;
