import { isIP } from 'node:net';

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/**
 * Whether a name may stand in EHLO: a qualified host name (RFC 5321 §2.3.5), neither `localhost` nor an IP literal nor
 * one label alone, which strict servers refuse and which no PTR record can match.
 */
export function isQualifiedName(name: string): boolean {
  const labels = name.split('.');
  if (name.length > 253 || labels.length < 2 || !labels.every((label) => LABEL.test(label))) return false;
  const top = labels.at(-1)?.toLowerCase() ?? '';
  return isIP(name) === 0 && !/^\d+$/.test(top) && top !== 'localhost' && top !== 'localdomain';
}

const DOT_ATOM = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i;

/** The MAIL FROM address without brackets; empty for `<>`, the null sender. Null if invalid. */
export function parseSender(text: string): string | null {
  const inner = text.startsWith('<') && text.endsWith('>') ? text.slice(1, -1) : text;
  if (inner === '') return text === '<>' ? '' : null;
  const at = inner.lastIndexOf('@');
  const local = inner.slice(0, at);
  if (at < 1 || local.length > 64 || !DOT_ATOM.test(local)) return null;
  const domain = inner.slice(at + 1);
  return domain.length <= 253 && domain.split('.').every((label) => LABEL.test(label)) ? inner : null;
}

/**
 * The sender for a recipient's domain: never that domain itself, because its server would treat the mail as forged
 * (SPF, "sender must authenticate"); the null sender is used instead.
 */
export function senderFor(sender: string, recipientDomain: string): string {
  const domain = sender.slice(sender.lastIndexOf('@') + 1);
  return domain.toLowerCase() === recipientDomain.toLowerCase() ? '' : sender;
}
