/** What the client in TypeScript has of its own; client-cases.test.ts runs what all clients do. */
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
  it('does not take a variable that is not set for a whole scope, as from JavaScript', async () => {
    const { seen } = client(await lab.member());
    for (const email of [undefined, null])
      await expect(seen.forget({ scope: 'signup', email: email as never })).rejects.toThrow(TypeError);
  });

  it('iterates over filters while one is added', async () => {
    const { filters } = client(await lab.member());
    const made: number[] = [];
    for (let n = 1; n <= 7; n += 1) made.push((await filters.add({ value: `f${n}-lab.com`, reason: null })).id);
    const walked: number[] = [];
    for await (const filter of filters.all({ per_page: 3 })) {
      walked.push(filter.id);
      // Shifts the following filters by one; none may appear twice.
      if (walked.length === 2) await filters.add({ value: 'late-lab.com' });
    }
    expect(walked).toEqual(made.toReversed());
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

  it('aborts on the signal', async () => {
    const reason = new Error('enough');
    const call = client(await lab.member()).usage({}, { signal: AbortSignal.abort(reason) });
    await expect(call).rejects.toBe(reason);
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

  it('stops waiting when the signal aborts', async () => {
    const url = await stand((_, reply) => reply.writeHead(503).end(JSON.stringify({ ...OVERLOADED, retry_after: 20 })));
    const control = new AbortController();
    setTimeout(() => control.abort(new Error('enough')), 50);
    const call = createMailvet({ url, key: 'k', retries: 1 }).usage({}, { signal: control.signal });
    await expect(call).rejects.toThrow('enough');
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

  it.each([
    [{ url: undefined, key: 'k' }, /^url is missing: set it to the address of the service, such as https:/],
    [{ url: 'http://localhost', key: undefined }, /^key is missing: set it to an API key/],
    [{ url: 'http://localhost', key: 'k', retry: 3 }, /^createMailvet has no option retry; it has url, key, /],
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
