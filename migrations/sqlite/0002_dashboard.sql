-- People who sign in, what they may do, and what the dashboard shows.

ALTER TABLE accounts ADD COLUMN retention_days INTEGER;
ALTER TABLE accounts ADD COLUMN low_balance INTEGER;
-- When its people were last told that the balance is below the line; null: not since it was above.
ALTER TABLE accounts ADD COLUMN low_balance_told_at INTEGER;
-- Upkeep asks for these every half a minute, and mostly there are none.
CREATE INDEX accounts_deleted ON accounts (id) WHERE status = 'deleted';
CREATE INDEX accounts_retention ON accounts (id) WHERE retention_days IS NOT NULL;
CREATE INDEX accounts_low_balance ON accounts (id) WHERE low_balance IS NOT NULL;

-- The log is searched, and people erased from it, by address. An index takes no text of any length, so only its
-- beginning; no address that can receive mail is longer (RFC 5321 §4.5.3.1).
CREATE INDEX verifications_email ON verifications (account_id, substr(lower(email), 1, 320));

-- The tables of the sign-in library, in its own words and types (better-auth 1.7.7, with its two-factor and passkey
-- plug-ins). `operator` is ours.
CREATE TABLE auth_users (
  "id" TEXT PRIMARY KEY,
  "name" TEXT NOT NULL,
  "email" TEXT NOT NULL UNIQUE,
  "emailVerified" INTEGER NOT NULL,
  "image" TEXT,
  "createdAt" TEXT NOT NULL,
  "updatedAt" TEXT NOT NULL,
  "twoFactorEnabled" INTEGER,
  "operator" INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE auth_sessions (
  "id" TEXT PRIMARY KEY,
  "expiresAt" TEXT NOT NULL,
  "token" TEXT NOT NULL UNIQUE,
  "createdAt" TEXT NOT NULL,
  "updatedAt" TEXT NOT NULL,
  "ipAddress" TEXT,
  "userAgent" TEXT,
  "userId" TEXT NOT NULL REFERENCES auth_users ("id") ON DELETE CASCADE
) STRICT;
CREATE INDEX auth_sessions_user ON auth_sessions ("userId");

CREATE TABLE auth_accounts (
  "id" TEXT PRIMARY KEY,
  "accountId" TEXT NOT NULL,
  "providerId" TEXT NOT NULL,
  "userId" TEXT NOT NULL REFERENCES auth_users ("id") ON DELETE CASCADE,
  "accessToken" TEXT,
  "refreshToken" TEXT,
  "idToken" TEXT,
  "accessTokenExpiresAt" TEXT,
  "refreshTokenExpiresAt" TEXT,
  "scope" TEXT,
  "password" TEXT,
  "createdAt" TEXT NOT NULL,
  "updatedAt" TEXT NOT NULL
) STRICT;
CREATE INDEX auth_accounts_user ON auth_accounts ("userId");

CREATE TABLE auth_verifications (
  "id" TEXT PRIMARY KEY,
  "identifier" TEXT NOT NULL,
  "value" TEXT NOT NULL,
  "expiresAt" TEXT NOT NULL,
  "createdAt" TEXT NOT NULL,
  "updatedAt" TEXT NOT NULL
) STRICT;
CREATE INDEX auth_verifications_identifier ON auth_verifications ("identifier");

CREATE TABLE auth_two_factors (
  "id" TEXT PRIMARY KEY,
  "secret" TEXT NOT NULL,
  "backupCodes" TEXT NOT NULL,
  "userId" TEXT NOT NULL REFERENCES auth_users ("id") ON DELETE CASCADE,
  "verified" INTEGER,
  "failedVerificationCount" INTEGER,
  "lockedUntil" TEXT
) STRICT;
CREATE INDEX auth_two_factors_user ON auth_two_factors ("userId");

CREATE TABLE auth_passkeys (
  "id" TEXT PRIMARY KEY,
  "name" TEXT,
  "publicKey" TEXT NOT NULL,
  "userId" TEXT NOT NULL REFERENCES auth_users ("id") ON DELETE CASCADE,
  "credentialID" TEXT NOT NULL,
  "counter" INTEGER NOT NULL,
  "deviceType" TEXT NOT NULL,
  "backedUp" INTEGER NOT NULL,
  "transports" TEXT,
  "createdAt" TEXT,
  "aaguid" TEXT
) STRICT;
CREATE INDEX auth_passkeys_user ON auth_passkeys ("userId");
CREATE INDEX auth_passkeys_credential ON auth_passkeys ("credentialID");

CREATE TABLE members (
  account_id TEXT NOT NULL REFERENCES accounts (id),
  user_id TEXT NOT NULL REFERENCES auth_users ("id") ON DELETE CASCADE,
  role TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (account_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX members_user ON members (user_id);

CREATE TABLE invitations (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  -- In lower case.
  email TEXT NOT NULL,
  role TEXT NOT NULL,
  token_hash TEXT NOT NULL UNIQUE,
  invited_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  UNIQUE (account_id, email)
) STRICT;
CREATE INDEX invitations_expiry ON invitations (expires_at);

-- The audit log: who did what, from where.
CREATE TABLE trail (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  at INTEGER NOT NULL,
  actor_kind TEXT NOT NULL,
  actor_id TEXT,
  actor_name TEXT NOT NULL,
  ip TEXT,
  action TEXT NOT NULL,
  target TEXT NOT NULL,
  detail TEXT NOT NULL
) STRICT;
CREATE INDEX trail_account ON trail (account_id, id);

-- Sign-in attempts in fixed windows, counted on all nodes together.
CREATE TABLE attempts (
  subject TEXT PRIMARY KEY,
  count INTEGER NOT NULL,
  ends_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX attempts_end ON attempts (ends_at);

-- Refusals by status, and latencies in buckets; told by the processes every few seconds.
CREATE TABLE traffic_hours (
  account_id TEXT NOT NULL REFERENCES accounts (id),
  hour INTEGER NOT NULL,
  metric TEXT NOT NULL,
  bucket INTEGER NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (account_id, hour, metric, bucket)
) STRICT, WITHOUT ROWID;
CREATE INDEX traffic_hours_hour ON traffic_hours (hour);

CREATE TABLE secrets (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
