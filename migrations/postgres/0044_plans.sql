-- compatible-from: 22
-- The monthly allowance of an account's plan. What is left of it is a part of its balance and of what it has locked.
-- Programs of the version before charge without taking from it, so that it may say more than the account has.
ALTER TABLE accounts ADD COLUMN allowance BIGINT NOT NULL DEFAULT 0;
-- The latest months whose allowance was given (2026-11), in order, separated by blanks.
ALTER TABLE accounts ADD COLUMN allowance_months TEXT NOT NULL DEFAULT '';
-- What the plan has given for the last of them.
ALTER TABLE accounts ADD COLUMN allowance_given BIGINT NOT NULL DEFAULT 0;
-- Of a grant that is an allowance: its month. Null for all others.
ALTER TABLE ledger ADD COLUMN month TEXT;

-- As migrations 0015 and 0035 do for what else requests are judged by. What is left of an allowance is a counter.
DROP TRIGGER accounts_rules ON accounts;
CREATE TRIGGER accounts_rules
  BEFORE UPDATE OF plan, rate_limit, status, filter_emails, filter_domains, filter_ips, last_filter_id,
    filter_email_rules, filter_domain_rules, filter_ip_rules, filter_mailboxes, filter_mx_hosts,
    allowance_months, allowance_given ON accounts
  FOR EACH ROW EXECUTE FUNCTION change_account_rules();
