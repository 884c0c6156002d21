/** The canonical form under which filters for addresses and domains are stored and looked up. */
import { type DomainOptions, parseDomain } from './domain.ts';
import type { Faulty } from './faults.ts';
import { type Address, type ParseOptions, parseAddress } from './parse.ts';

export type Canonical = { readonly ok: true; readonly value: string } | Faulty;

/**
 * `text` → lower-case local part in NFC + "@" + ASCII domain, or the fault of `parseAddress`. The caller
 * trims. The tag is kept: a filter for `a+b@…` matches only that address.
 */
export function canonicalEmail(text: string, options: ParseOptions = {}): Canonical {
  const parsed = parseAddress(text, options);
  return parsed.ok ? { ok: true, value: canonicalAddress(parsed.address) } : parsed;
}

/**
 * The canonical form of a parsed address. Redundant quotes are removed (`"a"@b` is `a@b`, RFC 5321 §4.1.2), so that
 * quoting does not bypass a filter.
 */
export function canonicalAddress(address: Pick<Address, 'localPart' | 'quoted' | 'domain' | 'needsSmtputf8'>): string {
  const local = address.quoted ? unquoted(address.localPart) : address.localPart;
  return `${folded(local, address.needsSmtputf8)}@${address.domain}`;
}

/** ASCII has one form; to look for it anyway costs as much as all the rest. */
const folded = (local: string, wide: boolean): string =>
  wide ? local.normalize('NFC').toLowerCase().normalize('NFC') : local.toLowerCase();

const NEEDS_QUOTES = /^$|^\.|\.$|\.\.|[\s"(),:;<>@[\\\]]/;

function unquoted(localPart: string): string {
  const content = localPart.slice(1, -1).replace(/\\([\s\S])/g, '$1');
  return NEEDS_QUOTES.test(content) ? `"${content.replace(/["\\]/g, '\\$&')}"` : content;
}

/**
 * `text` → ASCII lower case, or the fault. Accepts a public suffix (`co.uk`) and alone a TLD that the lists have
 * (`ru`), but no other names without a dot. Does not trim.
 */
export function canonicalDomain(
  text: string,
  options: Pick<DomainOptions, 'allowReserved' | 'allowUnknownTld'> = {},
): Canonical {
  const domain = parseDomain(text, 0, { ...options, allowTld: true });
  return domain.ok ? { ok: true, value: domain.ascii } : domain;
}

/**
 * Every domain filter value that matches `domain`: itself and its parents up to the TLD, nearest first.
 * `domain`: lower-case ASCII; at most 127 values.
 */
export function parentDomains(domain: string): readonly string[] {
  const covering = [domain];
  for (let dot = domain.indexOf('.'); dot >= 0; dot = domain.indexOf('.', dot + 1))
    covering.push(domain.slice(dot + 1));
  return covering;
}
