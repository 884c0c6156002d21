-- compatible-from: 22
-- Programs of the versions before know the filter types email, domain and ip_address, and take each such row for one
-- that blocks, exactly and for good. Rows that do anything else are stored under types that those programs never look
-- for (store/filter-kinds.ts), so that none of them blocks what is to be allowed.
ALTER TABLE filters ADD COLUMN action TEXT NOT NULL DEFAULT 'block';
-- Null: never.
ALTER TABLE filters ADD COLUMN expires_at INTEGER;
ALTER TABLE filters ADD COLUMN hits INTEGER NOT NULL DEFAULT 0;
ALTER TABLE filters ADD COLUMN last_hit_at INTEGER;

-- How many there are of each of the other types.
ALTER TABLE accounts ADD COLUMN filter_email_rules INTEGER NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN filter_domain_rules INTEGER NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN filter_ip_rules INTEGER NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN filter_mailboxes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN filter_mx_hosts INTEGER NOT NULL DEFAULT 0;
-- No filter of the account expires before; null: none does.
ALTER TABLE accounts ADD COLUMN filters_expire_at INTEGER;
