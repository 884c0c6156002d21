import { createHash } from 'node:crypto';

/**
 * Fingerprint of a reply: code, enhanced code and words without digits and ids. Replies that differ only in
 * addresses, hosts, times or session ids share it. `plain` is the text after `takeOutEchoes`. 12 hex digits.
 */
export function fingerprintOf(code: number, enhanced: string | null, plain: string): string {
  const words = plain.replace(/\S*\d\S*|\b_\w+/g, '#').replace(/(?:# ?)+/g, '# ');
  return createHash('sha256')
    .update(`${code} ${enhanced ?? ''} ${words}`)
    .digest('hex')
    .slice(0, 12);
}
