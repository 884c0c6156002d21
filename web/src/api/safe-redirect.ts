/** A path on this origin to go to after signing in; guards against open redirects. */
export function safeRedirect(next: unknown): string {
  if (typeof next !== 'string' || !next.startsWith('/') || next.startsWith('/sign-in')) return '/';
  // Parsed as browsers do: `//host`, `/\host` and a tab between the slashes all point to another host.
  const { origin } = location;
  return URL.canParse(next, origin) && new URL(next, origin).origin === origin ? next : '/';
}
