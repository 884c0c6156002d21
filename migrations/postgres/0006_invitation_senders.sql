-- Whether the link goes to the mailbox or to the operator alone, so that using it proves the address. Links that members
-- have seen prove nothing.
ALTER TABLE invitations ADD COLUMN proves_address INTEGER NOT NULL DEFAULT 0;
-- The member who sent it: it ends when they may no longer send such an invitation. Null: not sent by a member.
ALTER TABLE invitations ADD COLUMN sender_id TEXT;
