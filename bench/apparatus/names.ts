/** Addresses to verify, and a zone in which their domains accept mail. The mx level never connects. */
import type { Zone } from '../../tests/lab/dns.ts';

const PROVIDERS = [
  'gmail.com',
  'yahoo.com',
  'outlook.com',
  'hotmail.com',
  'icloud.com',
  'aol.com',
  'gmx.de',
  'web.de',
  'proton.me',
  'mail.ru',
  'orange.fr',
  'libero.it',
  'comcast.net',
  'live.com',
  'yandex.ru',
  'fastmail.com',
];
const COMPANIES = Array.from({ length: 48 }, (_, i) => `${['north', 'river', 'stone', 'field'][i % 4]}works${i}.com`);

/** A third at free providers, the rest at domains on no list. */
export const DOMAINS: readonly string[] = [...PROVIDERS, ...COMPANIES];
/** Under it every name has mail servers (RFC 4592). */
export const WILDCARD = 'wildcard-names.com';

/**
 * Addresses of mail servers of one operator each, on loopback; under each domain every name is served by one of them.
 */
export const SHARED_HOSTS = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5'];
export const sharedDomain = (host: number): string => `shared-host-${host}.com`;

/** Public addresses, so that they count as routable. */
const HOST = { A: ['9.9.9.10', '9.9.9.11'], AAAA: ['2620:fe::10'], ttl: 3600 };

export const ZONE: Zone = {
  ...Object.fromEntries(
    DOMAINS.flatMap((domain) => [
      [domain, { MX: [10, 20].map((n) => [n, `mx${n}.${domain}`] as const), ttl: 3600 }],
      [`mx10.${domain}`, HOST],
      [`mx20.${domain}`, HOST],
    ]),
  ),
  [`*.${WILDCARD}`]: { MX: [[10, `mx.${WILDCARD}`]], ttl: 3600 },
  [`mx.${WILDCARD}`]: HOST,
  ...Object.fromEntries(
    SHARED_HOSTS.flatMap((address, i) => [
      [`*.${sharedDomain(i)}`, { MX: [[10, `mx.${sharedDomain(i)}`] as const], ttl: 3600 }],
      [`mx.${sharedDomain(i)}`, { A: [address], ttl: 3600 }],
    ]),
  ),
};

const FIRST = ['jane', 'omar', 'li', 'anna', 'pedro', 'sven', 'mary', 'ines'];

/** `n` different addresses, spread over the domains. */
export const emails = (n: number): string[] =>
  Array.from({ length: n }, (_, i) => `${FIRST[i % FIRST.length]}.doe${i}@${DOMAINS[i % DOMAINS.length]}`);
