-- compatible-from: 15
-- Usage counters before this time are by the day: their hour is the first of it (UTC). After it, by the hour.
ALTER TABLE accounts ADD COLUMN usage_daily_before BIGINT NOT NULL DEFAULT 0;
