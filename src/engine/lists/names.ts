import { domainToASCII } from 'node:url';
import { getDomain } from 'tldts';

// Names here are host names: no URL parsing. Private suffixes (dynv6.net, github.io) count, because subdomains there
// belong to different customers.
const PSL = { allowPrivateDomains: true, extractHostname: false, validateHostname: false, detectIp: false } as const;

/** The registrable domain (public suffix plus one label), or null for a public suffix and for a single label. */
export const registrableOf = (name: string): string | null => getDomain(name, PSL);

const LABELS = /^(?=.{4,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])$/;

/** A domain name in lower-case ASCII (IDNA A-labels) with two labels or more, or null when `text` is not one. */
export function asciiName(text: string): string | null {
  const lower = text.toLowerCase();
  if (LABELS.test(lower)) return lower;
  if (lower.length > 253 || !/[^\u0000-\u007f]/.test(lower)) return null;
  const ascii = domainToASCII(lower);
  return LABELS.test(ascii) ? ascii : null;
}

/** `name` without its first label, or null when fewer than two labels would remain. */
export function parentOf(name: string): string | null {
  const dot = name.indexOf('.');
  return dot === -1 || name.indexOf('.', dot + 1) === -1 ? null : name.slice(dot + 1);
}

/** `name` itself or the nearest parent (of two labels or more) in `known`, or null. */
export function nearest(name: string, known: { has(name: string): boolean }): string | null {
  for (let rest: string | null = name; rest !== null; rest = parentOf(rest)) if (known.has(rest)) return rest;
  return null;
}

/** Whether `entry` applies to `name`: it is not a public suffix, and not above the registrable domain. */
export function speaksFor(entry: string, name: string): boolean {
  const registrable = registrableOf(name);
  return registrable !== null && entry.length >= registrable.length;
}
