-- compatible-from: 16
-- The account that holds the test data of another one: null for a live account. What it is allowed, and when it ends, is
-- what its live account is allowed; triggers, so that nodes of the version before keep it so as well.
ALTER TABLE accounts ADD COLUMN test_of TEXT;
CREATE UNIQUE INDEX accounts_test_of ON accounts (test_of) WHERE test_of IS NOT NULL;

CREATE TRIGGER accounts_test_mode
  AFTER UPDATE OF name, plan, rate_limit, status, retention_days, second_factor_required ON accounts WHEN NEW.test_of IS NULL
BEGIN
  UPDATE accounts SET name = NEW.name, plan = NEW.plan, rate_limit = NEW.rate_limit, status = NEW.status,
    retention_days = NEW.retention_days, second_factor_required = NEW.second_factor_required WHERE test_of = NEW.id;
END;
