-- compatible-from: 22
-- People as the OpenID provider knows them. A user has at most one identity of an issuer.
CREATE TABLE oidc_identities (
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES auth_users ("id") ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX oidc_identities_user ON oidc_identities (user_id, issuer);
-- A hash of issuer and `sid` of a session that was begun with the provider; null: it was not.
ALTER TABLE auth_sessions ADD COLUMN "oidcSession" TEXT;
CREATE INDEX auth_sessions_oidc ON auth_sessions ("oidcSession") WHERE "oidcSession" IS NOT NULL;
