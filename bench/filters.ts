/** A verification for an account with 100,000 filters, against one for an account with 10. */
import { DAY_MS } from '../src/kernel/clock.ts';
import type { Filters } from '../src/store/store.ts';
import { type LoadSample, posts, startLoader } from './apparatus/load.ts';
import { interleave, median, medianRatio } from './apparatus/measure.ts';
import { DOMAINS, emails } from './apparatus/names.ts';
import { type Bench, type Figure, number, ratio } from './apparatus/results.ts';
import { ensureBuilt, prepareGround, startService, verifyOnce } from './apparatus/service.ts';

const CONNECTIONS = 64;
const ROUNDS = 9;
const SECONDS = 1.2;
const WARM_UP_ROUNDS = 3;
const MANY = 100_000;
const FEW = 10;
const AIM = 1.1;

type Filter = Parameters<Filters['addMany']>[1][number];

const KINDS: readonly ((i: number) => Pick<Filter, 'filterType' | 'value'> & Partial<Filter>)[] = [
  (i) => ({ filterType: 'email', value: `blocked${i}@${DOMAINS[i % DOMAINS.length]}` }),
  (i) => ({ filterType: 'domain', value: `blocked${i}.example.com` }),
  (i) => ({ filterType: 'ip_address', value: i % 2 === 0 ? `10.${byte(i, 16)}.${byte(i, 8)}.${byte(i, 0)}` : cidr(i) }),
];
/** Beside those that every version had. */
const NEWER_KINDS: typeof KINDS = [
  (i) => ({ filterType: 'email', value: `allowed${i}@${DOMAINS[i % DOMAINS.length]}`, action: 'allow' }),
  (i) => ({ filterType: 'domain', value: `allowed${i}.example.com`, expiresAt: Date.now() + YEAR_MS }),
  (i) => ({ filterType: 'ip_address', value: `11.${byte(i, 16)}.${byte(i, 8)}.${byte(i, 0)}`, action: 'allow' }),
  (i) => ({ filterType: 'email', value: `mailbox${i}@${DOMAINS[i % DOMAINS.length]}`, match: 'mailbox' }),
  (i) => ({ filterType: 'mx_host', value: i % 2 === 0 ? `mx${i}.example.com` : `*.mx${i}.example.com` }),
];
const YEAR_MS = 365 * DAY_MS;
const byte = (i: number, shift: number): number => (i >> shift) & 255;
const cidr = (i: number): string => `172.${16 + ((i >> 13) & 15)}.${byte(i, 5)}.0/24`;

/** The kinds in turn; none of them matches a request. */
const mixed = (n: number, kinds = KINDS): Filter[] =>
  Array.from({ length: n }, (_, i) => {
    const kind = kinds[i % kinds.length]!(i);
    return { reason: null, action: 'block', match: 'exact', expiresAt: null, ...kind };
  });

/** Every request has a different client_ip, so that IP filters are looked up every time. */
const bodies = emails(4096).map((email, i) => ({ email, client_ip: `198.51.${i >> 8}.${i & 255}` }));

export const filters: Bench = {
  name: 'filters',
  title: 'Filters',
  async run() {
    ensureBuilt();
    const ground = await prepareGround();
    const [many, few, none, every] = [
      await ground.account(),
      await ground.account(),
      await ground.account(),
      await ground.account(),
    ];
    await ground.withStore(async (store) => {
      await store.filters.addMany(many.id, mixed(MANY));
      await store.filters.addMany(every.id, mixed(MANY, [...KINDS, ...NEWER_KINDS]));
      await store.filters.addMany(few.id, mixed(FEW));
    });
    const service = await startService(ground);
    for (const domain of DOMAINS) await verifyOnce(service.port, few.key, `jane@${domain}`);
    const loader = await startLoader();
    const as = (key: string) => {
      const requests = posts('/v1/verify', key, bodies);
      return () =>
        loader.run(service.pid, { port: service.port, connections: CONNECTIONS, requests, seconds: SECONDS });
    };
    const run = { many: as(many.key), few: as(few.key), none: as(none.key), every: as(every.key) };
    await interleave(WARM_UP_ROUNDS, run);
    const samples = await interleave(ROUNDS, run);
    await loader.end();
    await service.stop();
    await ground.clear();
    return {
      how:
        `POST /v1/verify for an account with ${MANY.toLocaleString('en-US')} filters (emails, domains, IPs and CIDRs ` +
        `in equal parts) relative to one with ${FEW}, and that relative to one with none; no filter matches, every request ` +
        `has a different client_ip. Every kind: those, and filters that allow, expire, or are of mailboxes and of mail ` +
        `hosts, in equal parts. SQLite, ${CONNECTIONS} connections, ${ROUNDS} rounds of ${SECONDS} s.`,
      figures: [
        ...compare(`${MANY.toLocaleString('en-US')} filters relative to ${FEW}`, samples.many, samples.few, AIM),
        ...compare(`${MANY.toLocaleString('en-US')} of every kind relative to ${FEW}`, samples.every, samples.few, AIM),
        ...compare(`${FEW} filters relative to none`, samples.few, samples.none, null),
      ],
    };
  },
};

function compare(what: string, ours: LoadSample[], floor: LoadSample[], aim: number | null): Figure[] {
  const row = (name: string, field: 'p50' | 'cpuMicros', unit: string): Figure => {
    const [a, b] = [ours.map((s) => s[field]), floor.map((s) => s[field])];
    const value = medianRatio(a, b);
    return {
      what: `${what}: ${name}`,
      value: `${number(median(a))} ${unit}`,
      floor: `${number(median(b))} ${unit}`,
      ratio: ratio(value),
      ...(aim === null ? {} : { aim: { text: `≤ ${aim}`, met: value <= aim } }),
    };
  };
  return [row('latency, median', 'p50', 'ms'), row('CPU of the server per request', 'cpuMicros', 'µs')];
}
