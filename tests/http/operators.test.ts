import { connect } from 'node:net';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { V1_ROUTES } from '../../src/http/routes.ts';
import { type Lab, request, startLab } from '../lab/service.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab({ MAILVET_METRICS_TOKEN: 'metrics-token-for-the-tests' });
});
afterAll(() => lab.close());
const get = (path: string, headers = {}) => request(lab.url, 'GET', path, undefined, headers);

describe('operator endpoints', () => {
  it('/healthz and /readyz need no key', async () => {
    expect((await get('/healthz')).json).toEqual({ status: 'ok' });
    const ready = await get('/readyz');
    expect([ready.status, ready.json.status]).toEqual([200, 'ready']);
    expect(ready.json.details.lists.disposable_domains).toBeGreaterThan(15_000);
  });

  it('/metrics requires its token and has counters', async () => {
    expect((await get('/metrics')).status).toBe(401);
    const member = await lab.member();
    await member.verify('a@good.com');
    const { status, text } = await get('/metrics', { authorization: 'Bearer metrics-token-for-the-tests' });
    expect(status).toBe(200);
    expect(text).toMatch(/mailvet_verifications_total\{status="good",reason="none",level="mx"\} 1/);
    expect(text).not.toContain('good.com');
  });

  it('/metrics is 404 unless enabled', async () => {
    const plain = await startLab();
    expect((await request(plain.url, 'GET', '/metrics')).status).toBe(404);
    await plain.close();
  });

  it('/openapi.json describes every endpoint', async () => {
    const { json } = await get('/openapi.json');
    expect(json.openapi).toBe('3.1.0');
    const paths = V1_ROUTES.map(({ path }) => path.replaceAll(/:(\w+)/g, '{$1}'));
    expect(new Set(Object.keys(json.paths))).toEqual(new Set(paths));
  });

  it('/openapi.json passes the recommended lint rules', async () => {
    const { text: source } = await get('/openapi.json');
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source, config, absoluteRef: '/openapi.json' });
    // Without a public URL the server is a loopback address.
    const serious = problems.filter((p) => p.ruleId !== 'no-server-example.com');
    expect(serious.map((p) => `${p.ruleId}: ${p.message}`)).toEqual([]);
  });

  it('every reply has a request id: a well-formed one from the caller, else ours', async () => {
    expect((await get('/healthz', { 'x-request-id': 'abc-123' })).headers.get('x-request-id')).toBe('abc-123');
    expect((await get('/healthz', { 'x-request-id': 'not well-formed' })).headers.get('x-request-id')).toMatch(/^req_/);
    // It is logged, and keys are not.
    const key = `mv_live_${'x'.repeat(32)}`;
    expect((await get('/healthz', { 'x-request-id': key })).headers.get('x-request-id')).toMatch(/^req_/);
    expect((await get('/nowhere')).headers.get('x-request-id')).toMatch(/^req_/);
  });

  it('a worker serves only operator endpoints', async () => {
    const worker = await startLab({ MAILVET_ROLE: 'worker' });
    expect((await request(worker.url, 'GET', '/readyz')).status).toBe(200);
    expect((await (await worker.member()).verify('a@good.com')).status).toBe(404);
    await worker.close();
  });

  it('404 and 405 are JSON, 405 with Allow', async () => {
    const nowhere = await get('/v1/nowhere');
    expect([nowhere.status, nowhere.json.code]).toEqual([404, 'not_found']);
    const wrong = await request(lab.url, 'PUT', '/v1/verify');
    expect([wrong.status, wrong.json.code, wrong.headers.get('allow')]).toEqual([405, 'method_not_allowed', 'POST']);
    const { headers } = await request(lab.url, 'PUT', '/v1/filters/3');
    expect(headers.get('allow')?.split(', ').sort()).toEqual(['DELETE', 'GET', 'HEAD', 'PATCH']);
    expect((await get('/%ff')).status).toBe(404);
  });

  it('invalid HTTP gets an error of the same shape', async () => {
    const { port } = new URL(lab.url);
    const reply = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), '127.0.0.1', () => socket.write('NONSENSE\r\n\r\n'));
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('error', reject);
      socket.on('close', () => resolve(text));
    });
    expect(reply).toMatch(/^HTTP\/1\.1 400 /);
    expect(JSON.parse(reply.split('\r\n\r\n')[1]!)).toMatchObject({
      error: expect.any(String),
      code: 'malformed_request',
    });
  });
});
