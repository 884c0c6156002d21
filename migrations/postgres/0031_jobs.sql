-- compatible-from: 22
-- Durable background jobs, as on SQLite (0003). Until now they were pg-boss's, in the schema mailvet_jobs, with which
-- programs of the version before go on. What they leave is taken over by those of this one (store/postgres/pg-boss.ts).
CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  -- Unique among the open jobs of a kind; the id where none was given.
  key TEXT NOT NULL,
  -- No reference: the job that removes an account outlives its row.
  account_id TEXT,
  -- JSON.
  payload TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'failed')),
  attempts BIGINT NOT NULL,
  attempt_limit BIGINT NOT NULL,
  -- Waiting: when to run; running: when the lease ends; failed: when to delete it.
  due_at BIGINT NOT NULL,
  -- When due_at was decided: in the future only where the clock was set back.
  set_at BIGINT NOT NULL,
  last_error TEXT,
  created_at BIGINT NOT NULL,
  failed_at BIGINT
);
CREATE UNIQUE INDEX jobs_open ON jobs (kind, key) WHERE state <> 'failed';
CREATE INDEX jobs_due ON jobs (due_at) WHERE state <> 'failed';
CREATE INDEX jobs_set ON jobs (set_at);
CREATE INDEX jobs_kind ON jobs (kind, state, due_at);
CREATE INDEX jobs_account ON jobs (account_id) WHERE account_id IS NOT NULL;

-- A job does not begin in one queue while one of its kind and key runs in the other: its row is not changed, and
-- whoever wanted it asks again later. Both triggers are dropped one version later, with the schema mailvet_jobs.
DO $do$
BEGIN
  IF to_regclass('mailvet_jobs.job') IS NULL THEN RETURN; END IF;

  CREATE FUNCTION job_runs_in_jobs() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
  BEGIN
    IF EXISTS (
      SELECT 1 FROM jobs WHERE kind = NEW.name AND key = NEW.singleton_key AND state = 'running'
        AND due_at > extract(epoch FROM clock_timestamp()) * 1000
    ) THEN RETURN NULL; END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER job_runs_in_jobs BEFORE UPDATE ON mailvet_jobs.job FOR EACH ROW
    WHEN (OLD.state < 'active' AND NEW.state = 'active') EXECUTE FUNCTION job_runs_in_jobs();

  CREATE FUNCTION job_runs_in_pg_boss() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
  BEGIN
    IF to_regclass('mailvet_jobs.job') IS NOT NULL AND EXISTS (
      SELECT 1 FROM mailvet_jobs.job WHERE name = NEW.kind AND coalesce(singleton_key, '') = NEW.key
        AND state = 'active' AND policy = 'exclusive' AND heartbeat_on + heartbeat_seconds * interval '1s' > now()
    ) THEN RETURN NULL; END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER job_runs_in_pg_boss BEFORE UPDATE ON jobs FOR EACH ROW
    WHEN (OLD.state = 'waiting' AND NEW.state = 'running') EXECUTE FUNCTION job_runs_in_pg_boss();
END $do$;
