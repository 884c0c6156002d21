import { expect, it, onTestFinished } from 'vitest';
import { type Zone, zone } from '../../../tests/lab/dns.ts';
import { createEngine } from '../../engine/create.ts';
import { loadDomainData } from '../../engine/data/domain-data.ts';
import type { EngineDeps } from '../../engine/verify.ts';
import { systemClock as clock } from '../../kernel/clock.ts';
import { accountId } from '../../store/rows.ts';
import type { ListOutcome, RunningList } from '../../store/store.ts';
import { createListVerifier } from './verify-list.ts';

const ACCOUNT = accountId('acc_1');
const LIST: RunningList = {
  policy: null,
  test: false,
  id: 'lst_1',
  account: ACCOUNT,
  keyId: 'key_1',
  clientIp: null,
  level: 'smtp',
  addresses: 3,
  done: 0,
};
const NET: Zone = {
  'one.com': { MX: [[1, 'mx.one.com']] },
  'mx.one.com': { A: ['127.0.0.1'] },
  'two.com': { MX: [[1, 'mx.one.com']] },
};
const ALL_HERE = {
  enter: () => Promise.resolve(true),
  leave: () => undefined,
  others: () => [],
  round: () => Promise.resolve(),
  stop: () => Promise.resolve(),
};

/** What is reported of each address, and the faults. `faulty`: replaces parts of the engine. */
async function outcomesOf(emails: readonly string[], faulty: (engine: EngineDeps) => Partial<EngineDeps>) {
  const dns = await zone(NET);
  const lists = loadDomainData();
  const engine = createEngine({
    dnsServers: dns.servers,
    dnsControlNames: [],
    allowPrivateNetworks: true,
    domainData: () => lists,
    smtp: null,
    clock,
  });
  onTestFinished(async () => {
    await engine.close();
    await dns.close();
  });
  const verifier = createListVerifier({
    engine: { ...engine, ...faulty(engine) },
    operators: ALL_HERE,
    matchFilters: () => Promise.resolve(null),
    outcomes: { recall: () => null },
    keepAs: null,
    singleCalls: () => 0,
  });
  const works = emails.map((email, i) => ({
    list: LIST.id,
    account: ACCOUNT,
    block: 0,
    address: i + 1,
    email,
    attempts: 0,
    egress: null,
  }));
  const reported = new Map<string, ListOutcome>();
  const failures: unknown[] = [];
  const to = {
    report: (outcome: ListOutcome) => void reported.set(outcome.work.email, outcome),
    failed: (error: unknown) => void failures.push(error),
    allUnderWay: () => undefined,
    room: () => Promise.resolve(),
  };
  const never = new AbortController().signal;
  await verifier.verify(LIST, works, to, { signal: never, breakOff: never });
  const reasons = emails.map((email) => {
    const outcome = reported.get(email);
    return outcome?.record == null ? null : [outcome.record.reason, (outcome.retryMs ?? 0) > 0];
  });
  return { reasons, failures };
}

const FAULT = new TypeError('A fault of the engine.');

it('an address whose mailbox check fails by a fault of ours is asked about again; the others have their results', async () => {
  const { reasons, failures } = await outcomesOf(['a@one.com', 'bad@one.com', 'c@two.com'], ({ mailbox }) => ({
    mailbox: {
      check: (subject, limit) =>
        subject.address.localPart === 'bad' ? Promise.reject(FAULT) : mailbox.check(subject, limit),
    },
  }));
  const unasked = ['smtp_unverifiable', true];
  expect(reasons).toEqual([unasked, ['smtp_temporary_failure', true], unasked]);
  expect(failures).toEqual([FAULT]);
});

it('so is a domain whose look-up does', async () => {
  const { reasons, failures } = await outcomesOf(['a@one.com', 'b@one.com', 'c@two.com'], ({ resolver }) => ({
    resolver: {
      ...resolver,
      ask: (name, type, limit) => (name === 'one.com' ? Promise.reject(FAULT) : resolver.ask(name, type, limit)),
    },
  }));
  const failed = ['dns_failure', true];
  expect(reasons).toEqual([failed, failed, ['smtp_unverifiable', true]]);
  expect(failures).toEqual([FAULT]);
});
