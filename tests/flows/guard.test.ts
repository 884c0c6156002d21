/**
 * What the guard in TypeScript has of its own, against the service in test mode, where the address selects the result;
 * client-cases.test.ts runs what all guards do.
 */
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { emailGuard } from '../../sdk/src/express.ts';
import { type GuardOptions, guard } from '../../sdk/src/index.ts';
import { guardRoute } from '../../sdk/src/next.ts';
import { emailGuard as zodGuard } from '../../sdk/src/zod.ts';
import { parseAddress } from '../../src/engine/address/parse.ts';
import { trimBlanks } from '../../src/kernel/blanks.ts';
import { type Lab, type Member, startLab } from '../lab/service.ts';

let lab: Lab;
let owner: Member;
let test: Member;
beforeAll(async () => {
  lab = await startLab();
  owner = await lab.member({ plan: 'enterprise' });
  test = await lab.testMember(owner);
});
afterAll(() => lab.close());

const errors: unknown[] = [];
afterEach(() => errors.splice(0));
const made = (more: Partial<GuardOptions> = {}) =>
  guard({ url: lab.url, key: test.key, timeout: 30_000, onError: (error) => errors.push(error), ...more });

const ADDRESS = (name: string) => `${name}@example.com`;

describe('a policy', () => {
  const put = (name: string, body: object, member = test) => member.call('PUT', `/v1/policies/${name}`, body);

  it('answers in any language, however long the header is', async () => {
    await put('strictly', { signals: { role: 'reject' } });
    const check = made({ policy: 'strictly' });
    expect(await check(ADDRESS('role'), { language: 'x'.repeat(5_000) })).toMatchObject({ code: 'role' });
    expect(errors).toEqual([]);
  });

  it('says the level', async () => {
    await put('deep', { signals: { catch_all: 'review' }, validation_type: 'smtp' });
    const outcome = await made({ policy: 'deep' })(ADDRESS('catch_all'));
    expect(outcome).toMatchObject({ ok: true, code: 'review', email: ADDRESS('catch_all') });
    expect(outcome.result).toMatchObject({ validation_type: 'smtp', decision: { because: ['catch_all'] } });
  });

  it('decides by whether the mailbox was seen in the scope of the guard, in any spelling', async () => {
    const check = made({ policy: 'signup', scope: 'guarded' });
    expect(await check('s.een+1@gmail.com')).toMatchObject({ ok: true, code: 'accepted' });
    expect(await check('seen@googlemail.com')).toMatchObject({ ok: false, code: 'seen_before' });
    expect(await made({ policy: 'signup', scope: 'elsewhere' })('seen@gmail.com')).toMatchObject({ ok: true });
    expect(await made({ policy: 'signup' })('seen@gmail.com')).toMatchObject({ ok: true, result: { seen: null } });
    const plain = made({ scope: 'plain' });
    for (const before of [false, true])
      expect(await plain(ADDRESS('ada'))).toMatchObject({ ok: true, result: { seen: { before } } });
    for (const scope of ['', 'Sign up', 'x'.repeat(65)])
      expect(() => made({ scope })).toThrow(/^scope must be a short name/);
    expect(errors).toEqual([]);
  });

  it('does not take a user who keeps an address for someone who was there before', async () => {
    const check = made({ policy: 'signup', scope: 'kept' });
    expect(await check(ADDRESS('typo_alive'))).toMatchObject({ code: 'did_you_mean' });
    expect(await check(ADDRESS('typo_alive'))).toMatchObject({ ok: true, code: 'review' });
    expect(await made({ policy: 'signup', scope: 'kept' })(ADDRESS('typo_alive'), { confirmed: true })).toMatchObject({
      ok: false,
      code: 'seen_before',
    });
  });

  it('with an option of the guard throws, also where an adapter has no environment', () => {
    const own = { policy: 'signup', role: 'accept' } as const;
    expect(() => zodGuard({ url: undefined, key: undefined, ...own })).toThrow(/^policy and role cannot be combined/);
  });

  it('goes with undefined options', () => {
    expect(() => made({ policy: 'signup', role: undefined, messages: undefined })).not.toThrow();
  });

  it('gets the language of the request from the adapters', async () => {
    await put('polite', { signals: { role: 'reject' }, messages: { role: { en: 'No.', fr: 'Non.' } } });
    const json = vi.fn();
    const guarded = emailGuard({ url: lab.url, key: test.key, policy: 'polite' });
    const request = { body: { email: ADDRESS('role') }, headers: { 'accept-language': 'fr-CA' } };
    await guarded(request, { status: () => ({ json }) }, () => undefined);
    expect(json).toHaveBeenCalledWith(expect.objectContaining({ code: 'role', error: 'Non.' }));
    const POST = guardRoute({ url: lab.url, key: test.key, policy: 'polite' }, () => Response.json({}));
    const headers = { 'content-type': 'application/json', 'accept-language': 'fr' };
    const asked = new Request('http://form', { method: 'POST', headers, body: JSON.stringify(request.body) });
    const reply = await POST(asked, null);
    expect(reply.status).toBe(422);
    expect(await reply.json()).toMatchObject({ error: 'Non.' });
  });
});

describe('a form that is sent twice at once', () => {
  const suggestion = 'typo@gmail.com';

  it('is answered with the same offer, and with the verdict only after it', async () => {
    const check = made();
    for (const email of [ADDRESS('typo'), 'typo@example.org']) {
      const offers = await Promise.all([check(email), check(email), check(email.toUpperCase()), check(` ${email}`)]);
      expect(offers.map(({ code, suggestion: offer }) => [code, offer?.toLowerCase()])).toEqual(
        offers.map(() => ['did_you_mean', suggestion]),
      );
      expect(await check(email)).toMatchObject({ code: 'undeliverable' });
    }
    // From two places, which filters may tell apart.
    const ips = ['203.0.113.8', '203.0.113.9', undefined];
    const offers = await Promise.all(ips.map((clientIp) => check('typo@example.net', { clientIp })));
    expect(offers.map(({ code }) => code)).toEqual(['did_you_mean', 'did_you_mean', 'did_you_mean']);
  });

  it('is answered with the offer however the answers overtake each other', async () => {
    // Of the first request, the reply comes last.
    let calls = 0;
    const slow: typeof fetch = async (...args) => {
      const wait = calls++ === 0 ? 300 : 0;
      const reply = await fetch(...args);
      await new Promise((resolve) => setTimeout(resolve, wait));
      return reply;
    };
    const check = made({ fetch: slow });
    const late = check(ADDRESS('typo'), { clientIp: '203.0.113.8' });
    expect(await check(ADDRESS('typo'))).toMatchObject({ code: 'did_you_mean' });
    expect(await late).toMatchObject({ code: 'did_you_mean' });
  });

  it('is one call and one charge', async () => {
    const live = await lab.member({ plan: 'enterprise', credits: 100 });
    const check = made({ key: live.key });
    await Promise.all(Array.from({ length: 8 }, () => check('ada@good.com')));
    expect((await live.call('GET', '/v1/usage')).json.totals.requests).toBe(1);
  });

  it('goes on where one of them is given up', async () => {
    const check = made();
    const reason = new Error('gone');
    const abort = new AbortController();
    const [gone, stays] = [check(ADDRESS('ada'), { signal: abort.signal }), check(ADDRESS('ada'))];
    abort.abort(reason);
    await expect(gone).rejects.toBe(reason);
    expect(await stays).toMatchObject({ code: 'accepted' });
  });

  it('gets 422 and 422 from middleware', async () => {
    const middleware = emailGuard({ url: lab.url, key: test.key });
    const send = async () => {
      const said: unknown[] = [];
      const response = { status: (code: number) => ({ json: (body: unknown) => said.push(code, body) }) };
      await middleware({ body: { email: 'typo@example.com' } }, response, () => said.push(200));
      return said[0];
    };
    expect(await Promise.all([send(), send()])).toEqual([422, 422]);
    expect(await send()).toBe(422); // Kept by its user, and undeliverable.
  });
});

describe('the address to store', () => {
  const blanks = fc.string({
    unit: fc.constantFrom(' ', '\n', '\u00a0', '\u200b', '\u200e', '\u202a', '\u202c', '\u2060', '\ufeff', '\u3000'),
    maxLength: 3,
  });
  const wide = (text: string) =>
    text.replace(/[a-z]/gi, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0));
  const domain = fc.constantFrom(
    'example.com',
    wide('example') + '.com',
    'example。com',
    'EXAMPLE．com',
    'ｅxample.Com',
  );

  it.each([
    ['with a verdict', {}, 'accepted'],
    ['without one', { url: 'http://127.0.0.1:9' }, 'unverified'],
  ] as const)('is what was judged, %s', async (_, more, code) => {
    const check = made(more);
    await fc.assert(
      fc.asyncProperty(blanks, fc.constantFrom('Ada', 'ada+x', "o'hara"), domain, blanks, async (a, local, name, b) => {
        const outcome = await check(`${a}${local}@${name}${b}`);
        expect(outcome).toMatchObject({ ok: true, code, email: `${local}@example.com` });
      }),
      { numRuns: 60 },
    );
    expect(await check('a\u200bda@example.com')).toMatchObject({ code: 'invalid_address', email: null });
  });

  it('is what middleware leaves in the body', async () => {
    const body = { email: '\u202aada@ＥＸＡＭＰＬＥ．com\u202c\u00a0', name: 'Ada' };
    await emailGuard({ url: lab.url, key: test.key })({ body }, { status: vi.fn() }, vi.fn());
    expect(body).toEqual({ email: ADDRESS('ada'), name: 'Ada' });
  });
});

describe('what is not an address', () => {
  it.each([[undefined], ['x'.repeat(1 << 20)]])('is rejected (%#)', async (email) => {
    expect(await made()(email)).toMatchObject({ ok: false, code: 'invalid_address', result: null });
    expect(errors).toEqual([]);
  });

  it('never passes as an outage, whatever the text', async () => {
    const check = made({ suggestions: 'ignore' });
    const texts = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 330 }),
      fc.string({ unit: 'grapheme', maxLength: 330 }),
    );
    await fc.assert(
      fc.asyncProperty(texts, fc.string({ unit: 'binary' }), async (email, clientIp) => {
        expect((await check(email, { clientIp })).code).not.toBe('unverified');
      }),
      { numRuns: 200 },
    );
  });
});

describe("the user's IP address", () => {
  it('is left out where it is long', async () => {
    // Patterns that try each place of it anew take minutes.
    const clientIp = ':'.repeat(500_000);
    expect(await made()(ADDRESS('undeliverable'), { clientIp })).toMatchObject({ ok: false, code: 'undeliverable' });
  });
});

describe('without a verdict', () => {
  it('accepts whatever the service would take for an address', async () => {
    const check = made({ url: 'http://127.0.0.1:9' });
    const label = fc.string({
      unit: fc.constantFrom('a', 'é', '-', '。', '界', '\u200d', '.'),
      minLength: 1,
      maxLength: 8,
    });
    const local = fc.string({
      unit: fc.constantFrom('a', '+', "'", '"', '\\', ' ', '@', 'é', '.'),
      minLength: 1,
      maxLength: 8,
    });
    const blanks = fc.string({ unit: fc.constantFrom(' ', '\u200b', '\u00a0', '\u202e'), maxLength: 2 });
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(blanks, local, label, blanks, async (before, name, domain, after) => {
        const email = `${before}${name}@${domain}.com${after}`;
        if (!parseAddress(trimBlanks(email)).ok) return;
        taken += 1;
        expect([email, (await check(email)).code]).toEqual([email, 'unverified']);
      }),
      {
        numRuns: 2000,
        examples: [
          ['', '"a b"', 'example', ''],
          ['\u200b ', 'a', 'é。b', ' \u200b'],
        ],
      },
    );
    expect(taken).toBeGreaterThan(20);
  });

  it('offers nothing where a reply has no suggestion', async () => {
    const reply = () => Promise.resolve(Response.json({ deliverability: 'unknown' }));
    expect(await made({ fetch: reply })(ADDRESS('ada'))).toMatchObject({ ok: true, suggestion: null });
  });

  it('writes a line to the console, without the key and the address', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {});
    try {
      await guard({ url: 'http://127.0.0.1:9', key: 'mv_live_secret' })('ada@good.com');
      expect(log.mock.calls).toEqual([[expect.stringMatching(/^mailvet: .*unverified \(unreachable\): /)]]);
      expect(log.mock.calls[0]?.[0]).not.toMatch(/mv_live|ada/);
    } finally {
      log.mockRestore();
    }
  });

  it("rejects with the reason of the caller's signal", async () => {
    const reason = new Error('enough');
    await expect(made()(ADDRESS('ada'), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(errors).toEqual([]);
  });
});

it.each([
  [{ url: undefined }, /^url is missing/],
  [{ dispossable: 'accept' }, /^guard has no option dispossable; it has url, key, /],
  [{ timeout: Number.NaN }, /^timeout must be/],
])('throws at once for %j', (more, message) => {
  const options: object = { url: 'http://localhost', key: 'k', ...more };
  expect(() => Reflect.apply(guard, undefined, [options])).toThrow(message);
});

it.each(['clientIP', 'ip', 'validationType'])('rejects a check with the option %s', async (name) => {
  const check: Promise<unknown> = Reflect.apply(made(), undefined, [ADDRESS('ada'), { [name]: 'x' }]);
  await expect(check).rejects.toThrow(`A check has no option ${name}; it has clientIp, language, confirmed, signal.`);
});

describe('adapters that are made without the environment, as by a build', () => {
  const nothing = { url: undefined, key: undefined };
  const request = () => new Request('http://a/', { method: 'POST', body: '{"email":"ada@good.com"}' });

  it('fail at the first request, naming what is missing', async () => {
    const next = vi.fn();
    await emailGuard(nothing)({ body: { email: 'ada@good.com' } }, { status: vi.fn() }, next);
    expect(next.mock.calls).toEqual([[expect.objectContaining({ message: expect.stringMatching(/^url is missing/) })]]);
    const route = guardRoute({ url: lab.url, key: undefined }, () => new Response('accepted'));
    await expect(route(request(), null)).rejects.toThrow(/^key is missing/);
    const refined = zodGuard(nothing)('ada@good.com', { issues: [], addIssue: vi.fn() });
    await expect(refined).rejects.toThrow(/^url is missing/);
  });

  it('still check their other options at once', () => {
    const options: object = { ...nothing, dispossable: 'accept' };
    for (const adapter of [emailGuard, guardRoute, zodGuard])
      expect(() => Reflect.apply(adapter, undefined, [options])).toThrow(/^guard has no option dispossable/);
  });
});

it('hands what a function of the caller throws to Express, of which version 4 awaits nothing', async () => {
  const reason = new Error('no address');
  const clientIp = () => {
    throw reason;
  };
  const [next, status] = [vi.fn(), vi.fn()];
  await emailGuard({ url: lab.url, key: test.key, clientIp })({ body: {} }, { status }, next);
  expect(next.mock.calls).toEqual([[reason]]);
});
