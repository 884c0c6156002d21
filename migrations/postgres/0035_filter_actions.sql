-- compatible-from: 22
-- Programs of the versions before know the filter types email, domain and ip_address, and take each such row for one
-- that blocks, exactly and for good. Rows that do anything else are stored under types that those programs never look
-- for (store/filter-kinds.ts), so that none of them blocks what is to be allowed.
ALTER TABLE filters ADD COLUMN action TEXT NOT NULL DEFAULT 'block';
-- Null: never.
ALTER TABLE filters ADD COLUMN expires_at BIGINT;
ALTER TABLE filters ADD COLUMN hits BIGINT NOT NULL DEFAULT 0;
ALTER TABLE filters ADD COLUMN last_hit_at BIGINT;

-- How many there are of each of the other types.
ALTER TABLE accounts ADD COLUMN filter_email_rules BIGINT NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN filter_domain_rules BIGINT NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN filter_ip_rules BIGINT NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN filter_mailboxes BIGINT NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN filter_mx_hosts BIGINT NOT NULL DEFAULT 0;
-- No filter of the account expires before; null: none does.
ALTER TABLE accounts ADD COLUMN filters_expire_at BIGINT;

-- What migration 0015 does for the counters that there were.
DROP TRIGGER accounts_rules ON accounts;
CREATE TRIGGER accounts_rules
  BEFORE UPDATE OF plan, rate_limit, status, filter_emails, filter_domains, filter_ips, last_filter_id,
    filter_email_rules, filter_domain_rules, filter_ip_rules, filter_mailboxes, filter_mx_hosts ON accounts
  FOR EACH ROW EXECUTE FUNCTION change_account_rules();
