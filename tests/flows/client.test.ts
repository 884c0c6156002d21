import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createMailvet, MailvetError, type MailvetOptions } from '../../sdk/src/index.ts';
import { type Lab, type Member, startLab } from '../lab/service.ts';

const ROOT = join(import.meta.dirname, '../..');

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab.close());

const client = (member: Member, more: Partial<MailvetOptions> = {}) =>
  createMailvet({ url: lab.url, key: member.key, ...more });

/** The error of a failed call. */
async function refusal(call: Promise<unknown>): Promise<MailvetError> {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof MailvetError)) throw new Error('not refused by a MailvetError', { cause: error });
  return error;
}

describe('against the service', () => {
  it('verifies, with evidence on request', async () => {
    const member = await lab.member();
    const verdict = await client(member).verify({ email: 'a@mailinator.com' });
    expect(verdict).toMatchObject({ status: 'bad', reason: 'disposable_domain', credits_used: 1 });
    expect(verdict.evidence).toBe(undefined);
    const seen = await client(member).verify({ email: 'a@good.com', validation_type: 'mx' }, { evidence: true });
    expect(seen.evidence?.mail_hosts).toMatchObject([{ host: 'mx.good.com', priority: 10 }]);
  });

  it('says whether a mailbox was seen before, and forgets it', async () => {
    const mailvet = client(await lab.member());
    const verify = async (email: string) => (await mailvet.verify({ email, scope: 'signup' })).seen;
    expect(await verify('jane@good.com')).toMatchObject({ before: false, count: 1 });
    expect(await verify('jane+2@good.com')).toMatchObject({ before: true, count: 2, same_spelling: false });
    expect(await mailvet.seen.forget({ scope: 'trial', email: 'jane@good.com' })).toMatchObject({ forgotten: 0 });
    expect(await mailvet.seen.forget({ scope: 'signup', email: 'JANE+3@good.com' })).toMatchObject({ forgotten: 1 });
    for (const email of ['jane@good.com', 'joe@good.com']) expect(await verify(email)).toMatchObject({ before: false });
    // As from JavaScript: a variable that is not set must not cost the whole scope.
    for (const email of [undefined, '', null])
      await expect(mailvet.seen.forget({ scope: 'signup', email: email as never })).rejects.toThrow(TypeError);
    expect(await mailvet.seen.forgetScope('signup')).toMatchObject({ forgotten: 2 });
  });

  it('returns the usage, grouped on request', async () => {
    const member = await lab.member({ credits: 50 });
    await client(member).verify({ email: 'a@good.com' });
    expect((await client(member).usage()).credits).toMatchObject({ remaining: 49, used: 1 });
    expect((await client(member).usage({ group_by: 'key' })).series).toMatchObject([{ group: member.keyId }]);
  });

  it('adds, lists, iterates over and removes filters', async () => {
    const { filters } = client(await lab.member());
    const made: number[] = [];
    for (let n = 1; n <= 7; n += 1) made.push((await filters.add({ value: `f${n}-lab.com`, reason: null })).id);
    expect((await filters.list({ query: 'f3-', per_page: 5 })).filters).toMatchObject([{ value: 'f3-lab.com' }]);
    const walked: number[] = [];
    for await (const filter of filters.all({ per_page: 3 })) {
      walked.push(filter.id);
      // Shifts the following filters by one; none may appear twice.
      if (walked.length === 2) await filters.add({ value: 'late-lab.com' });
    }
    expect(walked).toEqual(made.toReversed());
    expect(await filters.remove(made[0]!)).toMatchObject({ status: 'success' });
    expect(await refusal(filters.remove(made[0]!))).toMatchObject({ status: 404, code: 'not_found' });
    const none: unknown[] = [];
    for await (const filter of filters.all({ query: 'nowhere' })) none.push(filter);
    expect(none).toEqual([]);
  });

  it('throws the complete error', async () => {
    const member = await lab.member({ plan: 'starter' });
    const mailvet = client(member);
    const { id } = await mailvet.filters.add({ value: 'taken-lab.com' });
    const { warnings: _, ...changed } = await mailvet.filters.change(id, { action: 'allow', reason: 'ours' });
    expect(changed).toMatchObject({ id, action: 'allow', reason: 'ours' });
    expect(await mailvet.filters.get(id)).toMatchObject(changed);
    expect(await refusal(mailvet.filters.add({ value: 'taken-lab.com' }))).toMatchObject({
      status: 422,
      code: 'filter_exists',
      requestId: expect.stringMatching(/^req_/),
      details: { existing_id: id },
    });
    expect(await refusal(mailvet.verify({ email: '' }))).toMatchObject({
      status: 400,
      field: 'email',
      retryAfter: null,
    });
    expect(await refusal(mailvet.verify({ email: 'a@good.com', validation_type: 'smtp' }))).toMatchObject({
      status: 402,
      code: 'plan_upgrade_required',
      details: { upgrade_required: 'premium' },
    });
    const wrong = await refusal(createMailvet({ url: lab.url, key: 'mv_live_wrong' }).usage());
    expect(wrong).toMatchObject({ status: 401, code: 'invalid_api_key' });
    expect(`${wrong.stack} ${JSON.stringify(wrong)}`).not.toContain('mv_live_wrong');
  });

  it('charges once per idempotency key', async () => {
    const member = await lab.member({ credits: 5 });
    const mailvet = client(member);
    const once = { idempotencyKey: 'order 17' };
    const [first, second] = [
      await mailvet.verify({ email: 'a@good.com' }, once),
      await mailvet.verify({ email: 'a@good.com' }, once),
    ];
    expect(second).toEqual(first);
    expect((await mailvet.usage()).credits.remaining).toBe(4);
    expect(await refusal(mailvet.verify({ email: 'b@good.com' }, once))).toMatchObject({
      code: 'idempotency_key_reused',
    });
  });

  it('throws a rate limit error immediately if waiting would exceed the timeout', async () => {
    const mailvet = client(await lab.member({ rateLimit: 1 }), { retries: 3, timeout: 900 });
    await mailvet.usage();
    const began = performance.now();
    const error = await refusal(mailvet.usage());
    expect(error).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
    expect(error.retryAfter).toBeGreaterThan(0);
    expect(performance.now() - began).toBeLessThan(800);
  });

  it('aborts on the signal and on the timeout', async () => {
    const mailvet = client(await lab.member());
    const reason = new Error('enough');
    await expect(mailvet.usage({}, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const slow = refusal(mailvet.verify({ email: 'a@silent.com' }, { timeout: 50 }));
    expect(await slow).toMatchObject({ status: 0, code: 'timeout' });
  });
});

describe('behind a proxy, and without a service', () => {
  let server: Server | null = null;
  afterEach(() => server?.close());
  async function stand(listener: RequestListener): Promise<string> {
    const made = createServer(listener);
    server = made;
    await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(made.address() as AddressInfo).port}/base`;
  }
  const OVERLOADED = { error: 'Later.', code: 'overloaded', request_id: 'req_x', retry_after: 0.05 };

  it('retries up to the limit', async () => {
    let asked = 0;
    const url = await stand((request, reply) => {
      asked += 1;
      expect(request.url).toBe('/base/v1/usage');
      reply.writeHead(asked < 3 ? 503 : 200).end(JSON.stringify(asked < 3 ? OVERLOADED : { plan: 'starter' }));
    });
    expect(await createMailvet({ url, key: 'k', retries: 2 }).usage()).toEqual({ plan: 'starter' });
    expect(asked).toBe(3);
    asked = 0;
    expect(await refusal(createMailvet({ url, key: 'k', retries: 1 }).usage())).toMatchObject({ code: 'overloaded' });
    expect(asked).toBe(2);
    asked = 0;
    expect(await refusal(createMailvet({ url, key: 'k' }).usage())).toMatchObject({ code: 'overloaded' });
    expect(asked).toBe(1);
  });

  it('stops waiting when the signal aborts', async () => {
    const url = await stand((_, reply) => reply.writeHead(503).end(JSON.stringify({ ...OVERLOADED, retry_after: 20 })));
    const control = new AbortController();
    setTimeout(() => control.abort(new Error('enough')), 50);
    const call = createMailvet({ url, key: 'k', retries: 1 }).usage({}, { signal: control.signal });
    await expect(call).rejects.toThrow('enough');
  });

  it('does not retry errors of a proxy, and reports an unexpected reply', async () => {
    let asked = 0;
    const url = await stand((_, reply) => {
      asked += 1;
      reply.writeHead(503, { 'retry-after': '0' }).end('<h1>Unavailable</h1>');
    });
    const error = await refusal(createMailvet({ url, key: 'k', retries: 5 }).usage());
    expect(error).toMatchObject({ status: 503, code: 'unexpected_reply', requestId: null });
    expect(asked).toBe(1);
  });

  it('does not follow redirects, which would leak the key', async () => {
    const seen: (string | undefined)[] = [];
    const url = await stand((request, reply) => {
      seen.push(request.url);
      reply.writeHead(302, { location: '/elsewhere' }).end();
    });
    expect(await refusal(createMailvet({ url, key: 'k' }).usage())).toMatchObject({
      status: 302,
      code: 'redirected',
      message: expect.stringContaining('Set url to the final address'),
    });
    expect(seen).toEqual(['/base/v1/usage']);
  });

  it('reports an unreachable service', async () => {
    const url = await stand((_, reply) => reply.end());
    await new Promise((resolve) => server?.close(resolve));
    expect(await refusal(createMailvet({ url, key: 'k' }).usage())).toMatchObject({
      status: 0,
      code: 'unreachable',
      message: expect.stringContaining('(ECONNREFUSED)'),
    });
  });

  it.each(['/v1', '/v1/', '/', ''])('takes a url with %j at its end', async (end) => {
    const seen: (string | undefined)[] = [];
    const url = await stand((request, reply) => {
      seen.push(request.url);
      reply.end('{}');
    });
    await createMailvet({ url: url + end, key: 'k' }).usage();
    expect(seen).toEqual(['/base/v1/usage']);
  });

  it.each([
    [{ url: 'verify.example.net', key: 'k' }, /url must be/],
    [{ url: 'file:///etc', key: 'k' }, /url must be/],
    [
      { url: 'http://localhost', key: 'secret value' },
      /^key must be an API key: mv_live_… or mv_test_… without spaces\.$/,
    ],
    [{ url: 'http://localhost', key: '' }, /key must be/],
    [{ url: undefined, key: 'k' }, /^url is missing: set it to the address of the service, such as https:/],
    [{ url: '', key: 'k' }, /url must be/],
    [{ url: 'http://localhost', key: undefined }, /^key is missing: set it to an API key/],
    [{ url: 'http://localhost', key: 'k', retry: 3 }, /^createMailvet has no option retry; it has url, key, /],
    [{ url: 'http://localhost', key: 'k', retries: -1 }, /retries must be/],
    [{ url: 'http://localhost', key: 'k', timeout: Number.NaN }, /timeout must be/],
  ])('rejects %o', (options, message) => {
    expect(() => createMailvet(options)).toThrow(message);
  });

  it('waits for as long as it may, also for longer than a timer can last', async () => {
    const { key } = await lab.member({ credits: 10 });
    const client = createMailvet({ url: lab.url, key, timeout: Number.POSITIVE_INFINITY });
    expect(await client.usage()).toMatchObject({ credits: { remaining: 10 } });
    expect(await client.usage({}, { timeout: 2 ** 31 })).toMatchObject({ credits: { remaining: 10 } });
    await expect(client.usage({}, { timeout: 0 })).rejects.toThrow(/^timeout must be/);
  });
});

describe('the built package', () => {
  it('runs the example of its README', async () => {
    const example = /```js\n(.*?)```/s.exec(readFileSync(join(ROOT, 'sdk/README.md'), 'utf8'))?.[1] ?? '';
    const { key } = await lab.member({ credits: 10 });
    const ran = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', example], {
      cwd: ROOT,
      env: { MAILVET_URL: lab.url, MAILVET_KEY: key },
    });
    const stdout = 'bad risky disposable_domain\n9\ndomain customer.example.com\ndomain example.org\n';
    expect(ran).toEqual({ stdout, stderr: '' });
  });
});
