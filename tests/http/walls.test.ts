import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRaw, statusIn } from '../lab/raw-connection.ts';
import { type Lab, request, startLab } from '../lab/service.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab.close());

describe('/readyz', () => {
  it('checks at most once a second, however many ask', async () => {
    const asked = lab.dns.queries.length;
    const begun = performance.now();
    const replies = await Promise.all(Array.from({ length: 200 }, () => request(lab.url, 'GET', '/readyz')));
    expect(replies.every(({ status }) => status === 200)).toBe(true);
    const seconds = Math.ceil((performance.now() - begun) / 1000);
    expect(lab.dns.queries.length - asked).toBeLessThanOrEqual(5 * seconds);
  });
});

describe('two Host headers', () => {
  it.each(['/healthz', '/v1/usage', '/sign-in'])('are refused for %s', async (path) => {
    const connection = await openRaw(lab.url);
    connection.socket.write(`GET ${path} HTTP/1.1\r\nhost: lab\r\nhost: other\r\n\r\n`);
    await connection.closed;
    expect(statusIn(connection.received())).toBe(400);
  });
});

describe('?evidence=1', () => {
  it('is part of what an Idempotency-Key is bound to', async () => {
    const member = await lab.member();
    const key = { 'idempotency-key': 'evidence' };
    const body = { email: 'a@good.com' };
    expect((await member.call('POST', '/v1/verify', body, key)).status).toBe(200);
    const other = await member.call('POST', '/v1/verify?evidence=1', body, key);
    expect([other.status, other.json.code]).toEqual([422, 'idempotency_key_reused']);
    expect((await member.call('POST', '/v1/verify', body, key)).status).toBe(200);
  });
});
