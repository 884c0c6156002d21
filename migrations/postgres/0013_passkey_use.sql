-- When a passkey was last used; null: not since this is recorded.
ALTER TABLE auth_passkeys ADD COLUMN "lastUsedAt" TIMESTAMPTZ;
