/**
 * The name that passkeys are bound to (WebAuthn §4, RP ID): the host of the public address; `localhost` for a loopback
 * address, which is how a browser on this machine can name it; null for other IP addresses, which cannot be one.
 */
export function relyingParty(publicUrl: string): string | null {
  const { hostname } = new URL(publicUrl);
  if (/^127\./.test(hostname) || hostname === '[::1]') return 'localhost';
  return /^[\d.]+$|^\[/.test(hostname) ? null : hostname;
}
