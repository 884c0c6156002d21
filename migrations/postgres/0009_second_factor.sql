-- Whether members can use the account only in sessions begun with a second factor.
ALTER TABLE accounts ADD COLUMN second_factor_required INTEGER NOT NULL DEFAULT 0;
-- Whether the session was begun with a code or a passkey. Not known of earlier ones.
ALTER TABLE auth_sessions ADD COLUMN "secondFactor" BOOLEAN NOT NULL DEFAULT FALSE;
