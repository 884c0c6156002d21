import { createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';

let shared: SecureContext | null = null;
/**
 * One context for all sessions (each costs some 50 KB). Opportunistic TLS: used because servers require it;
 * certificates are recorded and not enforced (RFC 7435), so old protocol versions are better than clear text.
 */
export const secureContext = (): SecureContext => {
  shared ??= createSecureContext({ minVersion: 'TLSv1', ciphers: 'DEFAULT:@SECLEVEL=0' });
  return shared;
};

/** Protocol and certificate, for the transcript. */
export function describeTls(socket: TLSSocket): string {
  const certificate = socket.getPeerCertificate() ?? {};
  const { subject, issuer, valid_from: from, valid_to: to, fingerprint256: print } = certificate;
  const name = (party: { CN?: string | string[]; O?: string | string[] } | undefined) =>
    String(party?.CN ?? party?.O ?? 'nobody').replace(/[^\x20-\x7e]/g, '?');
  const verified = socket.authorized ? 'verified' : 'not verified';
  return `${socket.getProtocol() ?? 'TLS'} ${socket.getCipher().name}; certificate of ${name(subject)} by ${name(issuer)}, ${from} to ${to}, SHA-256 ${print}, ${verified}`;
}
