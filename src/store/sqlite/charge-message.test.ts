import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Level } from '../../kernel/facts/plans.ts';
import type { PolicyAction } from '../../kernel/facts/policies.ts';
import type { Via } from '../../kernel/log-origins.ts';
import type { AccountId, AdmissionRequest, Settlement, VerificationRecord } from '../store.ts';
import { batchWriter, type Decision, readBatch } from './charge-message.ts';

const ACCOUNT = 'acc_1' as AccountId;
const HEAD = { node: 'node_1', now: 5, known: 28 };
const RULE = { id: 7, filterType: 'email', value: 'jane@mail.example', expiresAt: null } as const;
const [BLOCKS, ALLOWS] = [{ ...RULE, action: 'block' } as const, { ...RULE, action: 'allow' } as const];

const FIELDS = {
  keyHash: fc.constantFrom('hash', 'hash', 'hash', 'other', { account: ACCOUNT }),
  scope: fc.constantFrom<AdmissionRequest['scope'][]>('verify', 'verify', null),
  ip: fc.constantFrom('192.0.2.1', '192.0.2.1', '192.0.2.2'),
  invalid: fc.constantFrom(false, false, true),
  idempotency: fc.constantFrom(null, null, { route: 'POST /v1/verify', key: 'k', fingerprint: 'f' }),
  verifies: fc.constantFrom(true, true, true, false),
  level: fc.constantFrom<Level[]>('mx', 'mx', 'smtp'),
  test: fc.constantFrom(false, false, true),
  filterEmail: fc.constantFrom('jane@mail.example', 'omar@mail.example', null),
  mailbox: fc.constantFrom('jane@mail.example', null),
  domains: fc.constantFrom(['mail.example', 'example'], []),
  mxHosts: fc.constantFrom(null, [], ['mx1.mail.example', 'mx2.mail.example']),
  clientIp: fc.constantFrom('192.0.2.1', '192.0.2.1', null),
  holdMs: fc.constantFrom(35_000, 35_000, 40_000),
  seen: fc.constantFrom(null, null, { scope: 'signup', mailbox: 'jane@mail.example', spelling: 'Jane@mail.example' }),
  filter: fc.constantFrom(null, null, null, BLOCKS, ALLOWS),
  decided: fc.constantFrom(true, true, true, false),
  id: fc.constantFrom('ver_1', 'ver_2', 'ver_3'),
  email: fc.constantFrom('jane@mail.example', 'Omar@mail.example'),
  validationType: fc.constantFrom<Level[]>('mx', 'mx', 'smtp'),
  status: fc.constantFrom<VerificationRecord['status'][]>('good', 'good', 'bad'),
  deliverability: fc.constantFrom<VerificationRecord['deliverability'][]>('deliverable', 'deliverable', 'risky'),
  reason: fc.constantFrom<VerificationRecord['reason'][]>(null, null, 'catch_all'),
  credits: fc.constantFrom(1, 1, 0),
  recordIp: fc.constantFrom('192.0.2.1', '192.0.2.1', null),
  durationMs: fc.constantFrom(0, 3),
  body: fc.constantFrom('{}', '{"a":1}'),
  via: fc.constantFrom<(Via | null)[]>(null, null, 'zerobounce'),
  filterId: fc.constantFrom(null, null, 7),
  decision: fc.constantFrom<(PolicyAction | null)[]>(null, null, 'review'),
  decisionIfSeen: fc.constantFrom(null, null, { action: 'reject', because: [], message: null } as const),
};
const drawn = fc.record(FIELDS);
type Drawn = typeof drawn extends fc.Arbitrary<infer D> ? D : never;

/** A request and what was decided of it. */
function chargeOf(d: Drawn) {
  const { email, validationType, status, deliverability, reason, credits, durationMs, body, via, filterId } = d;
  const judged = { validationType, status, deliverability, reason, credits };
  const record: VerificationRecord = {
    ...{ id: d.id, email, requested: d.level, ...judged, clientIp: d.recordIp, durationMs, body, via },
    ...{ filterId, decision: d.decision, decisionIfSeen: d.decisionIfSeen },
  };
  const decision: Decision | null = d.verifies ? { filter: d.filter, record: d.decided ? record : null } : null;
  const request: AdmissionRequest = {
    ...{ keyHash: d.keyHash, scope: d.scope, ip: d.ip, invalid: d.invalid, idempotency: d.idempotency },
    verify: decision && {
      ...{ id: d.id, level: d.level, test: d.test, holdMs: d.holdMs, seen: d.seen },
      filterKeys: {
        ...{ email: d.filterEmail, mailbox: d.mailbox, domains: d.domains },
        ...{ ip: d.clientIp, mxHosts: d.mxHosts },
      },
      decide: () => decision.record,
    },
  };
  return { request, decision };
}

const SETTLEMENT: Settlement = {
  caller: { accountId: ACCOUNT, keyId: 'key_1', plan: 'premium', test: false },
  ...{ holdId: 'ver_9', record: null, idempotency: null, seen: null },
};

/** Each is like the one before, but for its own values and at most one other. */
const batches = fc
  .tuple(drawn, fc.array(fc.tuple(drawn, fc.constantFrom('', '', 'settle', ...Object.keys(FIELDS))), { maxLength: 30 }))
  .map(([first, all]) => {
    let last = first;
    return all.map(([next, change]) => {
      if (change === 'settle') return SETTLEMENT;
      const { id, email, durationMs, body } = next;
      const changed = Object.fromEntries(Object.entries(next).filter(([name]) => name === change));
      last = { ...last, id, email, durationMs, body, ...changed };
      return chargeOf(last);
    });
  });

/** Without its functions, with what `decide` returns. */
const plain = ({ verify, ...admit }: AdmissionRequest, filter: Decision['filter']) => ({
  ...admit,
  verify: verify && { ...verify, decide: verify.decide(filter) },
});

test('a batch arrives as it was sent, whatever its requests have in common', () => {
  let short = 0;
  fc.assert(
    fc.property(batches, (sent) => {
      const batch = batchWriter(HEAD);
      for (const one of sent) {
        if ('request' in one) batch.admit(one.request, one.decision);
        else batch.settle(one);
      }
      short += batch.values.filter((value) => value === 'like').length;
      const { requests, ...head } = readBatch(structuredClone(batch.values));
      expect(head).toEqual(HEAD);
      const filters = sent.map((one) => ('request' in one ? (one.decision?.filter ?? null) : null));
      const arrived = requests.map((one, i) =>
        one.kind === 'admit' ? plain(one.admit, filters[i] ?? null) : one.settle,
      );
      expect(arrived).toEqual(sent.map((one, i) => ('request' in one ? plain(one.request, filters[i] ?? null) : one)));
    }),
    { numRuns: 300 },
  );
  expect(short).toBeGreaterThan(20);
});
