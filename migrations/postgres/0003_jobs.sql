-- Durable background jobs are pg-boss's, in a schema of their own (store/postgres/boss-schema.ts), which is brought up to
-- date after these files. On SQLite they are a table, so that this number is taken.
SELECT 1;
