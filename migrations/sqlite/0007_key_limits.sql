-- Keys that expire, are good for some purposes only, or may spend only so much in a month.
ALTER TABLE keys ADD COLUMN expires_at INTEGER;
-- Separated by spaces; null: all, those of later versions as well.
ALTER TABLE keys ADD COLUMN scopes TEXT;
-- Credits that the key may spend in a calendar month (UTC); null: as many as the account has.
ALTER TABLE keys ADD COLUMN budget INTEGER CHECK (budget > 0);
-- Of keys with a budget: the month, as its first millisecond, what was charged in it, and what is held now.
ALTER TABLE keys ADD COLUMN budget_month INTEGER NOT NULL DEFAULT 0;
ALTER TABLE keys ADD COLUMN budget_spent INTEGER NOT NULL DEFAULT 0 CHECK (budget_spent >= 0);
ALTER TABLE keys ADD COLUMN budget_held INTEGER NOT NULL DEFAULT 0 CHECK (budget_held >= 0);
