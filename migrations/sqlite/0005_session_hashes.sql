-- Sessions are now found by the hash of their token. Earlier rows hold the token itself: they end, and their users sign
-- in again.
DELETE FROM auth_sessions;
