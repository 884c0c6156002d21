/**
 * The name that passkeys are bound to (WebAuthn §4, RP ID): the host of the public URL; `localhost` for a loopback
 * address; null for other IP addresses, which are not allowed.
 */
export function relyingParty(publicUrl: string): string | null {
  const { hostname } = new URL(publicUrl);
  if (/^127\./.test(hostname) || hostname === '[::1]') return 'localhost';
  return /^[\d.]+$|^\[/.test(hostname) ? null : hostname;
}
