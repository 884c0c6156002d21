import { describe, expect, it } from 'vitest';
import { diagnosed, doctorLab, EGRESS, HELO, httpDateOf, type IllRow } from '../../../tests/lab/doctor.ts';
import { systemClock as clock, toIso } from '../../kernel/clock.ts';
import { type DoctorDeps, diagnose, type Finding, isFit, parseHttpDate } from './diagnose.ts';

const notPassed = (found: readonly Finding[]) =>
  found.flatMap(({ check, result }) => (result === 'pass' ? [] : [check]));

const listsOf = (daysAgo: number, problem: string | null = null): Partial<DoctorDeps> => ({
  lists: { version: toIso(clock.now() - daysAgo * 86_400_000).slice(0, 10), problem },
});
const dated = (offMs: number, age: string | null = null): Partial<DoctorDeps> => ({
  httpDate: () => Promise.resolve({ from: 'web.test', date: httpDateOf(clock.now() + offMs), age }),
});
const NO_CONTROLS = Object.fromEntries(
  ['gmail', 'outlook', 'yahoo', 'icloud'].map((n) => [`${n}.com`, { TXT: ['x'] }]),
);

describe('a healthy host', () => {
  it('passes every check, one line each, without a fix', async () => {
    const { all, of } = await diagnosed({});
    expect(all.filter(({ result }) => result !== 'pass')).toEqual([]);
    expect(all.map(({ check }) => check).join(' ')).toBe(
      'resolver port helo egress ptr spf blocklists lists store clock',
    );
    expect(all.every(({ fix, found }) => fix === null && found.endsWith('.'))).toBe(true);
    expect(isFit(all)).toBe(true);
    const seen = `This host connects from ${EGRESS} (as seen by mx.gmail.com); ${HELO} resolves to it.`;
    expect(of('egress')[0]!.found).toBe(seen);
  });
});

const ROWS: readonly IllRow[] = [
  {
    ill: 'a resolver that wildcards',
    zone: { '*.com': { A: ['192.0.2.1'] } },
    says: 'fail resolver',
    found: /does not return NXDOMAIN for a name that does not exist/,
    fix: /MAILVET_DNS_SERVERS/,
  },
  {
    ill: 'port closed',
    problem: 'port_closed',
    persona: null,
    says: 'fail port',
    found: /No mail server can be reached on port 9 .*ECONNREFUSED/,
    fix: /open outbound port 9/,
  },
  { ill: 'no control resolves', zone: NO_CONTROLS, says: 'skip port', found: /could be found/, fix: /resolver/ },
  {
    ill: 'refused by all',
    problem: 'refused_everywhere',
    persona: { banner: '554 5.7.1 Client host blocked' },
    says: 'fail port',
    found: /rejects this host: "554 5.7.1 Client host blocked"/,
    fix: /blocklists/,
  },
  {
    ill: 'something mute takes the connections',
    problem: 'port_intercepted',
    persona: { banner: 'drop' },
    says: 'fail port',
    found: /sends a banner/,
    fix: /provider/,
  },
  { ill: 'a list of 31 days', world: listsOf(31), says: 'warn lists', found: /31 days old/, fix: /disposable update/ },
  {
    ill: 'a list of 181 days',
    world: listsOf(181),
    says: 'fail lists',
    found: /181 days old/,
    fix: /disposable update/,
  },
  {
    ill: 'a torn download',
    world: listsOf(1, 'torn'),
    says: 'warn lists',
    found: /not in use: torn/,
    fix: /disposable update/,
  },
  {
    ill: 'a store that does not write',
    world: { store: () => Promise.reject(new Error('disk full.')) },
    says: 'fail store',
    found: /does not accept writes: disk full\.$/,
    fix: /free space/,
  },
  {
    ill: 'a store that has yet to be migrated',
    world: { store: () => Promise.resolve({ notReady: 'The store is at schema version 0; this Mailvet needs 9.' }) },
    says: 'warn store',
    found: /needs 9\.$/,
    fix: /mailvet migrate/,
  },
  {
    ill: 'a store that others read',
    world: {
      store: () => {
        const loose = { path: '/data/mailvet.db', mode: '0644', fix: "chmod 0600 '/data/mailvet.db'" };
        return Promise.resolve({ name: 'SQLite, version 1', looseModes: [loose], clock: { aheadMs: 0, stepMs: 0 } });
      },
    },
    says: 'warn store',
    found: /^It accepts writes .* Other users .* \/data\/mailvet\.db \(mode 0644\)\.$/,
    fix: /chmod 0600/,
  },
  { ill: 'a clock a minute off', world: dated(60_000), says: 'warn clock', found: /(59|60) s behind/, fix: /NTP/ },
  {
    ill: 'ten minutes off',
    world: dated(-600_000),
    says: 'fail clock',
    found: /60[01] s ahead of that of web/,
    fix: /NTP/,
  },
  {
    ill: "another clock than the store's",
    world: { store: () => Promise.resolve({ name: 'x', looseModes: [], clock: { aheadMs: -61_000, stepMs: 0 } }) },
    says: 'fail store',
    found: /61 s behind that of the store/,
    fix: /NTP/,
  },
  {
    ill: 'a clock that was set ahead',
    world: {
      store: () => Promise.resolve({ name: 'x', looseModes: [], clock: { aheadMs: 0, stepMs: 2_678_400_000 } }),
    },
    says: 'warn store',
    found: /2678400 s ahead of the last time it was used/,
    fix: /downtime/,
  },
  {
    ill: 'no web',
    world: { httpDate: () => Promise.reject(new Error('offline')) },
    says: 'warn clock',
    found: /could not be compared/,
    fix: /NTP/,
  },
];

describe('an unhealthy host', () => {
  it.each(ROWS)('$ill: $says', async ({ says, found, fix, problem = null, ...illness }) => {
    const { all, of } = await diagnosed(illness);
    const [result, check] = says.split(' ') as [Finding['result'], Finding['check']];
    const expected = { result, found: expect.stringMatching(found), fix: expect.stringMatching(fix) };
    expect(of(check)).toEqual([{ check, ...expected, problem }]);
    expect(all.filter((f) => f.result !== 'pass' && f.fix === null)).toEqual([]);
    expect(isFit(all)).toBe(result !== 'fail');
  });

  it('reports one fault in one line', async () => {
    expect(notPassed((await diagnosed({ world: dated(-600_000) })).all)).toEqual(['clock']);
  });

  it('without a resolver nothing hangs, and dependent checks say why', async () => {
    const lab = await doctorLab();
    await lab.dns.pause('silent');
    const all = await diagnose(lab.world);
    await lab.close();
    expect(notPassed(all)).toEqual(['resolver', 'port', 'helo', 'egress', 'ptr', 'spf', 'blocklists']);
    expect(all[0]).toMatchObject({ result: 'fail', found: expect.stringMatching(/No DNS resolver answers/) });
    expect(all.find(({ check }) => check === 'ptr')).toMatchObject({
      result: 'skip',
      fix: 'Repair the DNS resolver first.',
    });
  });

  it('a check that throws or hangs is a warning and does not affect others', async () => {
    const { of } = await diagnosed({
      world: { probeGreeting: () => Promise.reject(new TypeError('a defect')), store: () => new Promise(() => {}) },
    });
    expect(of('port')[0]).toMatchObject({ result: 'warn', found: 'Unknown: a defect.' });
    expect(of('store')[0]).toMatchObject({ result: 'warn', found: 'Unknown: it took longer than 2.4 s.' });
    expect(of('lists')[0]!.result).toBe('pass');
  });
});

describe('the Date header of a reply', () => {
  it('is parsed according to RFC 9110', () => {
    expect(parseHttpDate('Sun, 06 Nov 1994 08:49:37 GMT')).toBe(784_111_777_000);
    for (const text of ['', 'Sunday, 06-Nov-94 08:49:37 GMT', '1994-11-06', 'Sun, 06 Foo 1994 08:49:37 GMT']) {
      expect(parseHttpDate(text)).toBeNull();
    }
  });

  it('from a cache, aged or rewritten, is not reported as clock drift', async () => {
    for (const offMs of [-900_000, 0]) {
      expect((await diagnosed({ world: dated(offMs, '900') })).of('clock')[0]!.result).toBe('pass');
    }
  });
});
