import fc from 'fast-check';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, expect, expectTypeOf, it } from 'vitest';
import { ErrorReply } from '../../src/contract/errors.ts';
import { FilterAddedReply, FilterPageReply } from '../../src/contract/filters.ts';
import { UsageReply } from '../../src/contract/usage.ts';
import { VerifyReply, VerifyRequest } from '../../src/contract/verify.ts';
import type { Beyond, ReplyBody } from '../../src/http/route.ts';
import type { VerificationReply } from '../../src/service/verify.ts';
import { type Lab, type Member, type Reply, startLab } from '../lab/service.ts';

/** Fuzzes the API against its schema: every response matches the document and is never a 500. */
let lab: Lab;
let member: Member;
beforeAll(async () => {
  lab = await startLab();
  member = await lab.member({ credits: 1_000_000, rateLimit: 1_000_000 });
});
afterAll(() => lab.close());

// Checked by the compiler.
it('what the engine reports has the fields of the contract, all of them and no others', () => {
  expectTypeOf<VerificationReply>().toExtend<ReplyBody<typeof VerifyReply>>();
  expectTypeOf<Beyond<VerificationReply, VerifyReply>>().toBeNever();
});

const isError = Compile(ErrorReply);
const isVerifyRequest = Compile(VerifyRequest);
const CASES = 2000;

const email = fc.oneof(
  fc.constantFrom('a@good.com', 'a@mailinator.com', 'a@null-mx.com', 'x@nowhere-at-all.com', 'a..b@good.com'),
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.emailAddress().map((text) => `${text.split('@')[0]}@good.com`),
);
const anything = fc.anything({ withNullPrototype: false, withObjectString: true, maxDepth: 3 }).map((v) => toJson(v));
const body = fc.oneof(
  { weight: 4, arbitrary: fc.record({ email }, { requiredKeys: ['email'] }) },
  {
    weight: 4,
    arbitrary: fc.record(
      {
        email: fc.oneof(email, anything),
        validation_type: fc.oneof(fc.constantFrom('mx', 'smtp', 'MX', ''), anything),
        client_ip: fc.oneof(fc.ipV4(), fc.ipV6(), fc.string({ maxLength: 20 }), anything),
        timeout_ms: fc.oneof(fc.integer({ min: 0, max: 40_000 }), anything),
        __proto__: anything,
      },
      { requiredKeys: [] },
    ),
  },
  { weight: 1, arbitrary: anything },
);

function toJson(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value) ?? 'null');
  } catch {
    return null;
  }
}

function holds(reply: Reply, check: { Check(value: unknown): boolean }): void {
  if (reply.status < 300) expect(check.Check(reply.json), reply.text).toBe(true);
  else expect(isError.Check(reply.json), reply.text).toBe(true);
  expect(reply.status, reply.text).toBeLessThan(500);
}

it(`POST /v1/verify: ${CASES} bodies, 2xx only for valid ones`, async () => {
  const isReply = Compile(VerifyReply);
  await fc.assert(
    fc.asyncProperty(fc.array(body, { minLength: 20, maxLength: 20 }), async (bodies) => {
      await Promise.all(
        bodies.map(async (sent) => {
          const reply = await member.call('POST', '/v1/verify', sent);
          holds(reply, isReply);
          if (reply.status < 300) expect(isVerifyRequest.Check(sent), JSON.stringify(sent)).toBe(true);
          else expect([400, 413, 422]).toContain(reply.status);
        }),
      );
    }),
    { numRuns: CASES / 20 },
  );
  expect(await lab.store.accounts.audit()).toEqual([]);
});

it('POST and GET /v1/filters, GET /v1/usage: arbitrary text in every position', async () => {
  const [isFilter, isList, isUsage] = [Compile(FilterAddedReply), Compile(FilterPageReply), Compile(UsageReply)];
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.domain(),
    fc.ipV4(),
    fc.ipV6(),
    fc.emailAddress(),
  );
  const query = fc.dictionary(
    fc.constantFrom('page', 'per_page', 'query', 'filter_type', 'group_by', 'from', 'to'),
    fc.oneof(fc.string({ maxLength: 20 }), fc.integer().map(String), fc.constantFrom('email', 'day', '2026-01-01')),
  );
  await fc.assert(
    fc.asyncProperty(text, anything, query, async (value, reason, params) => {
      holds(await member.call('POST', '/v1/filters', { value, reason }), isFilter);
      const search = new URLSearchParams(params);
      holds(await member.call('GET', `/v1/filters?${search}`), isList);
      holds(await member.call('GET', `/v1/usage?${search}`), isUsage);
    }),
    { numRuns: 200 },
  );
});
