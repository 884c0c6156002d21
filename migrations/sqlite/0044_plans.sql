-- compatible-from: 22
-- The monthly allowance of an account's plan. What is left of it is a part of its balance and of what it has locked.
-- Programs of the version before charge without taking from it, so that it may say more than the account has.
ALTER TABLE accounts ADD COLUMN allowance INTEGER NOT NULL DEFAULT 0;
-- The latest months whose allowance was given (2026-11), in order, separated by blanks.
ALTER TABLE accounts ADD COLUMN allowance_months TEXT NOT NULL DEFAULT '';
-- What the plan has given for the last of them.
ALTER TABLE accounts ADD COLUMN allowance_given INTEGER NOT NULL DEFAULT 0;
-- Of a grant that is an allowance: its month. Null for all others.
ALTER TABLE ledger ADD COLUMN month TEXT;
