/** An account after a month of use, for the screenshots and for tests of every page. */

import { setTimeout } from 'node:timers/promises';
import type { VerdictGroup } from '../../src/kernel/facts/calibration.ts';
import { createKey } from '../../src/service/keys.ts';
import type { Account, AccountId, NewOutcome } from '../../src/store/store.ts';
import type { Zone } from './dns.ts';
import { type Person, person } from './person.ts';
import { type Lab, type Reply, request } from './service.ts';
import type { Persona } from './smtp.ts';
import { TestClock } from './stores.ts';

/** Reserved names (RFC 6761 §6.2). */
export const COMPANIES: Zone = {
  'fabrikam.test': {
    MX: [
      [10, 'mx1.fabrikam.test'],
      [20, 'mx2.fabrikam.test'],
    ],
  },
  'mx1.fabrikam.test': { A: ['127.0.0.1'] },
  'mx2.fabrikam.test': { A: ['127.0.0.1'] },
  'contoso.test': { MX: [[10, 'mail.contoso.test']] },
  'mail.contoso.test': { A: ['127.0.0.1'] },
  'northwind.test': { MX: [[5, 'aspmx.l.google.com']] },
  'parked.test': { TXT: ['v=spf1 -all'] },
};

/** The mail server behind all of them. */
export const POST_OFFICE: Persona = {
  banner: '220 mx1.fabrikam.test ESMTP',
  capabilities: ['PIPELINING', '8BITMIME', 'SIZE 52428800', 'ENHANCEDSTATUSCODES'],
  mailboxes: ['ada.lind', 'good', 'orders'],
};

/** Options that the service needs: callers are identified by the proxy header. */
export const ENVIRONMENT = { MAILVET_TRUSTED_PROXIES: '127.0.0.0/8' };

export interface MonthOfUse {
  readonly account: Account;
  readonly owner: Person;
  readonly admin: Person;
  readonly member: Person;
  /** The value of the key without an IP allowlist. */
  readonly key: string;
  readonly keyId: string;
}

const ADDRESSES = [
  ['ada.lind@fabrikam.test', 'mx'],
  ['orders@contoso.test', 'mx'],
  ['j.okafor@northwind.test', 'mx'],
  ['ada.lind@fabrikam.test', 'smtp'],
  ['someone@gmial.test', 'mx'],
  ['m.haddad@contoso.test', 'mx'],
  ['buyer@mailinator.com', 'mx'],
  ['l.novak@fabrikam.test', 'mx'],
  ['orders@contoso.test', 'smtp'],
  ['no.such.person@fabrikam.test', 'smtp'],
  ['k.tamm@northwind.test', 'mx'],
  ['info@parked.test', 'mx'],
  ['accounts@contoso.test', 'mx'],
  ['press@bulk-senders.com', 'mx'],
  ['t.berg@northwind.test', 'mx'],
  ['not an address', 'mx'],
  ['s.moreau@fabrikam.test', 'mx'],
] as const;

const HOUR = 3_600_000;
/** Some minutes, in hours. No two things happen at once, so that pages always list them in the same order. */
const MINUTES = 0.06;
const OFFICE = '203.0.113.24';

/**
 * Each time is a millisecond after the one before, for up to a second after the clock was set: what is done in
 * succession is listed in that order.
 */
export class TickingClock extends TestClock {
  #of = this.time;
  #ticks = 0;
  override now(): number {
    this.#ticks = this.time === this.#of ? Math.min(this.#ticks + 1, 999) : 0;
    this.#of = this.time;
    return this.time + this.#ticks;
  }
}

/** `days` of use up to the clock's time; without a clock, everything happens now. */
export async function createMonthOfUse(lab: Lab, past?: { clock: TestClock; days: number }): Promise<MonthOfUse> {
  const { clock, days } = past ?? { clock: null, days: 0 };
  const end = clock?.time ?? 0;
  const at = (hoursAgo: number) => {
    if (clock) clock.time = end - hoursAgo * HOUR;
  };
  at(days * 24);
  const { store } = lab;
  const account = await store.accounts.create({ name: 'Fabrikam', plan: 'premium', rateLimit: null, credits: 25_000 });
  const people = { account: account.id } as const;
  const owner = await person(lab, { ...people, name: 'Ada Lind', email: 'ada@fabrikam.test', operator: true });
  const admin = await person(lab, { ...people, name: 'Joy Okafor', email: 'joy@fabrikam.test', role: 'admin' });
  const member = await person(lab, { ...people, name: 'Karl Tamm', email: 'karl@fabrikam.test', role: 'member' });
  const by = { kind: 'user', id: owner.id, name: owner.email, ip: OFFICE } as const;
  const keyOf = (name: string, allowIps: string[]) => createKey(store, account.id, { name, allowIps }, by);

  const old = await keyOf('Newsletter 2025', []);
  at(days * 24 - 0.5);
  const shop = await keyOf('Web shop', ['198.51.100.0/24', '203.0.113.24']);
  at(days * 24 - 0.6);
  const crm = await keyOf('CRM import', []);
  const filters = [
    ['bulk-senders.com', 'Complaints in March'],
    ['throw-away.net', null],
    ['198.51.100.128/25', 'Old office'],
    ['chargebacks@mail-orders.net', 'Asked never to be written to'],
  ] as const;
  const call = (key: string, path: string, body: unknown, from = OFFICE): Promise<Reply> =>
    request(lab.url, 'POST', path, body, { authorization: `Bearer ${key}`, 'x-forwarded-for': from });
  for (const [n, [value, reason]] of filters.entries()) {
    at(days * 24 - 0.7 - n * MINUTES);
    const { status, text } = await call(crm.value, '/v1/filters', { value, reason });
    if (status !== 201) throw new Error(text);
  }
  const verify = async (turn: number, key: string, from: string) => {
    const [email, validation_type] = ADDRESSES[turn % ADDRESSES.length]!;
    await call(key, '/v1/verify', { email, validation_type }, from);
  };

  let turn = 0;
  for (let hour = days * 24 - 1; hour > 0; hour--) {
    at(hour);
    for (let left = busyness(hour); left > 0; left--) {
      turn += 1;
      at(hour + left * MINUTES);
      const early = hour > (days - 9) * 24 && turn % 5 === 0;
      if (turn % 4 === 0) await verify(turn * 7, crm.value, '192.0.2.80');
      else if (early) await verify(turn * 7, old.value, '192.0.2.81');
      else await verify(turn * 7, shop.value, '198.51.100.17');
    }
    at(hour);
    if (hour % 61 === 0) await call(crm.value, '/v1/verify', { address: 'misspelt parameter' });
  }
  at(days > 0 ? 36 : 0);
  await store.keys.revoke(old.key.id, by);
  await keyOf('Staging', []);
  const invitation = { email: 'sam@fabrikam.test', role: 'member', tokenHash: 'f'.repeat(64) } as const;
  await store.members.invite(account.id, { ...invitation, expiresAt: (clock?.time ?? Date.now()) + 168 * HOUR }, by);
  await store.accounts.grant(account.id, 5_000, 'Invoice 2026-114', { ...by, kind: 'operator' });
  for (let n = 0; n < ADDRESSES.length; n++) {
    at(past ? (ADDRESSES.length - 1 - n) * MINUTES : 0);
    await verify(n, n % 3 === 0 ? crm.value : shop.value, '198.51.100.17');
  }
  return { account, owner, admin, member, key: crm.value, keyId: crm.key.id };
}

/** Requests in an hour: more by day, fewer at weekends, and never quite the same. */
function busyness(hoursAgo: number): number {
  const daysAgo = Math.floor(hoursAgo / 24);
  const hour = 24 - (hoursAgo % 24);
  const byHour = hour >= 7 && hour <= 19 ? 5 : 1;
  const byDay = daysAgo % 7 === 1 || daysAgo % 7 === 2 ? 0.3 : 0.7 + noise(daysAgo) * 0.6;
  return Math.round(byHour * byDay * (0.5 + noise(hoursAgo)));
}

/** Deterministic noise from 0 to 1. */
const noise = (n: number): number => (Math.imul(n + 1, 0x9e3779b1) >>> 16) / 0xffff;

const NEWSLETTER = ['ada.lind', 'orders', 'good', 'k.tamm', 's.moreau', 'l.novak', 'no.such.person', 'orders'];

/** A list of companies' addresses at the level `smtp`, once it is finished; its id. */
export async function verifiedList({ url }: Pick<Lab, 'url'>, key: string): Promise<string> {
  const headers = { authorization: `Bearer ${key}` };
  const emails = [
    ...NEWSLETTER.flatMap((name) => [`${name}@fabrikam.test`, `${name}@contoso.test`]),
    'buyer@mailinator.com',
    'j.okafor@northwind.test',
    'info@parked.test',
    'anna..b@contoso.test',
    '',
  ];
  const body = { emails, name: 'newsletter-november.csv', validation_type: 'smtp', retry_minutes: 0 };
  const { id } = (await request(url, 'POST', '/v1/lists', body, headers)).json;
  for (;;) {
    const { json } = await request(url, 'GET', `/v1/lists/${id}`, undefined, headers);
    if (json.status === 'completed') return id;
    await setTimeout(200);
  }
}

/** Verdicts, how many of them have an outcome, how many bounced, and the confidence that their replies had. */
const MEASURED: readonly (readonly [VerdictGroup, sent: number, bounced: number, predicted: number | null])[] = [
  [{ deliverability: 'deliverable', reason: null, level: 'smtp', provider: 'google' }, 620, 3, 996],
  [{ deliverability: 'deliverable', reason: null, level: 'smtp', provider: null }, 410, 4, 989],
  [{ deliverability: 'unknown', reason: null, level: 'mx', provider: 'outlook.com' }, 240, 22, 902],
  [{ deliverability: 'risky', reason: 'catch_all', level: 'smtp', provider: null }, 160, 40, 742],
  [{ deliverability: 'risky', reason: 'catch_all', level: 'smtp', provider: 'mimecast' }, 90, 31, 610],
  [{ deliverability: 'undeliverable', reason: 'mailbox_not_found', level: 'smtp', provider: null }, 61, 60, null],
  [{ deliverability: 'unknown', reason: 'smtp_timeout', level: 'smtp', provider: null }, 12, 2, null],
];

/** What became of mail to addresses that the log has no more, until `end`, ms. */
export async function createOutcomes({ store }: Pick<Lab, 'store'>, account: AccountId, end: number): Promise<void> {
  const outcomes = MEASURED.flatMap(([group, sent, bounced, predicted], kind) =>
    Array.from({ length: sent }, (_, n): NewOutcome => {
      const isBounce = n < bounced;
      const name = `${kind}-${n}`;
      const said = { code: isBounce ? '550 5.1.1' : null, template: isBounce ? 'user unknown' : null };
      const isAlive = group.deliverability === 'deliverable';
      const found = isAlive ? { rule: 'accepted', reply: '250 2.1.5' } : { rule: 'absent.words', reply: '550 5.1.1' };
      return {
        mailbox: `${name}@contoso.test`,
        domain: 'contoso.test',
        class: isBounce ? 'absent' : 'delivered',
        at: end - (kind * 1000 + n) * 60_000,
        source: 'newsletter',
        ...said,
        verdict: { verificationId: `ver_${name}`, group, predicted, ...found },
      };
    }),
  );
  await store.outcomes.record(account, outcomes, { origin: 'api' }, null);
}
