-- Filters are numbered within their account, so that ids tell nothing of other accounts. Earlier ones keep their ids.
ALTER TABLE accounts ADD COLUMN last_filter_id BIGINT NOT NULL DEFAULT 0;
UPDATE accounts SET last_filter_id = f.id
  FROM (SELECT account_id, max(id) AS id FROM filters GROUP BY account_id) f
  WHERE f.account_id = accounts.id;
ALTER TABLE filters ALTER COLUMN id DROP IDENTITY;
ALTER TABLE filters DROP CONSTRAINT filters_pkey;
DROP INDEX filters_account;
ALTER TABLE filters ADD PRIMARY KEY (account_id, id);
