/** A verification for an account with 100,000 filters, against one for an account with 10. */
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

/** Emails, domains and IPs in turn; none of them matches a request. */
const mixed = (n: number): Filter[] =>
  Array.from({ length: n }, (_, i): Filter => {
    if (i % 3 === 0) return { filterType: 'email', value: `blocked${i}@${DOMAINS[i % DOMAINS.length]}`, reason: null };
    if (i % 3 === 1) return { filterType: 'domain', value: `blocked${i}.example.com`, reason: null };
    const octets = `10.${(i >> 16) & 255}.${(i >> 8) & 255}`;
    const value = i % 2 === 0 ? `${octets}.${i & 255}` : `172.${16 + ((i >> 13) & 15)}.${(i >> 5) & 255}.0/24`;
    return { filterType: 'ip_address', value, reason: null };
  });

/** Every request has a different client_ip, so that IP filters are looked up every time. */
const bodies = emails(4096).map((email, i) => ({ email, client_ip: `198.51.${i >> 8}.${i & 255}` }));

export const filters: Bench = {
  name: 'filters',
  title: 'Filters',
  async run() {
    ensureBuilt();
    const ground = await prepareGround();
    const [many, few, none] = [await ground.account(), await ground.account(), await ground.account()];
    await ground.withStore(async (store) => {
      await store.filters.addMany(many.id, mixed(MANY));
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
    const run = { many: as(many.key), few: as(few.key), none: as(none.key) };
    await interleave(WARM_UP_ROUNDS, run);
    const samples = await interleave(ROUNDS, run);
    await loader.end();
    await service.stop();
    await ground.clear();
    return {
      how:
        `POST /v1/verify for an account with ${MANY.toLocaleString('en-US')} filters (emails, domains, IPs and CIDRs ` +
        `in equal parts) relative to one with ${FEW}, and that relative to one with none; no filter matches, every request ` +
        `has a different client_ip. SQLite, ${CONNECTIONS} connections, ${ROUNDS} rounds of ${SECONDS} s.`,
      figures: [
        ...compare(`${MANY.toLocaleString('en-US')} filters relative to ${FEW}`, samples.many, samples.few, AIM),
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
