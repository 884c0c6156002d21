/** The one spelling under which an address or a domain is kept in, and looked up on, a list of filters. */
import { type DomainOptions, parseDomain } from './domain.ts';
import type { Faulty } from './faults.ts';
import { type Address, type ParseOptions, parseAddress } from './parse.ts';

export type Canonical = { readonly ok: true; readonly value: string } | Faulty;

/**
 * `text` → lower-case local part in NFC + "@" + ASCII domain, or the fault of `parseAddress`. Not trimmed: the caller
 * does that. The tag stays: a filter for `a+b@…` is about that address alone.
 */
export function canonicalEmail(text: string, options: ParseOptions = {}): Canonical {
  const parsed = parseAddress(text, options);
  return parsed.ok ? { ok: true, value: canonicalAddress(parsed.address) } : parsed;
}

/**
 * The canonical form of an address that is parsed already. Quotes that change nothing go (`"a"@b` is `a@b`,
 * RFC 5321 §4.1.2), so that quoting is no way around a filter.
 */
export function canonicalAddress(address: Pick<Address, 'localPart' | 'quoted' | 'domain'>): string {
  const local = address.quoted ? unquoted(address.localPart) : address.localPart;
  return `${local.normalize('NFC').toLowerCase().normalize('NFC')}@${address.domain}`;
}

const NEEDS_QUOTES = /^$|^\.|\.$|\.\.|[\s"(),:;<>@[\\\]]/;

function unquoted(localPart: string): string {
  const content = localPart.slice(1, -1).replace(/\\([\s\S])/g, '$1');
  return NEEDS_QUOTES.test(content) ? `"${content.replace(/["\\]/g, '\\$&')}"` : content;
}

/**
 * `text` → ASCII lower case, or the fault. A public suffix (`co.uk`) or an existing TLD alone (`ru`) is a domain to
 * put on a list; other names without a dot, and TLDs that do not exist, are not. Not trimmed.
 */
export function canonicalDomain(text: string, options: Pick<DomainOptions, 'allowReserved'> = {}): Canonical {
  const domain = parseDomain(text, 0, { ...options, allowTld: true });
  return domain.ok ? { ok: true, value: domain.ascii } : domain;
}

/**
 * Every value of a domain filter that covers `domain`: itself and its parents down to the TLD, nearest first.
 * `domain`: lower-case ASCII; at most 127 values.
 */
export function parentDomains(domain: string): readonly string[] {
  const covering = [domain];
  for (let dot = domain.indexOf('.'); dot >= 0; dot = domain.indexOf('.', dot + 1))
    covering.push(domain.slice(dot + 1));
  return covering;
}
