-- compatible-from: 13
-- What requests of an account are judged by, apart from its counters: plan, rate limit, status, filters and keys. Whatever
-- changes one of them gives `rules` another number, at random, so that a node may go by what it remembers as long as it
-- finds the number it remembers; no other state of the account has had it, whatever was restored from a backup.
-- Triggers, so that nodes of the version before do so as well.
ALTER TABLE accounts ADD COLUMN rules BIGINT NOT NULL DEFAULT floor(random() * 9007199254740991);

CREATE FUNCTION change_account_rules() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.rules := floor(random() * 9007199254740991);
  RETURN NEW;
END $$;
-- Filters change together with what the account's row says of them.
CREATE TRIGGER accounts_rules
  BEFORE UPDATE OF plan, rate_limit, status, filter_emails, filter_domains, filter_ips, last_filter_id ON accounts
  FOR EACH ROW EXECUTE FUNCTION change_account_rules();

CREATE FUNCTION change_rules_with_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE accounts SET rules = floor(random() * 9007199254740991) WHERE id = OLD.account_id;
  RETURN NULL;
END $$;
CREATE TRIGGER keys_rules
  AFTER UPDATE OF account_id, hash, allow_ips, revoked_at, expires_at, scopes, budget OR DELETE ON keys
  FOR EACH ROW EXECUTE FUNCTION change_rules_with_key();
