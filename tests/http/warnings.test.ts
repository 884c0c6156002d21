import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { hasWarnings } from '../../src/http/route.ts';
import { V1_ROUTES } from '../../src/http/routes.ts';
import { type Lab, type Member, startLab } from '../lab/service.ts';

let lab: Lab;
let member: Member;
beforeAll(async () => {
  lab = await startLab();
  member = await lab.member({ credits: 100_000, rateLimit: 100_000 });
});
afterAll(() => lab.close());

const warningsOf = async (method: string, path: string, body?: unknown): Promise<string[]> => {
  const reply = await member.call(method, path, body);
  expect(reply.status, reply.text).toBeLessThan(300);
  return reply.json.warnings;
};

const coded = (message: string) => ({ code: 'unknown_field', message });

describe('what a request has beyond the contract is served, and named in warnings', () => {
  it('fields of POST /v1/verify, by their spelling and by what they are called elsewhere', async () => {
    const email = 'a@good.com';
    expect(await warningsOf('POST', '/v1/verify', { email })).toEqual([]);
    expect(await warningsOf('POST', '/v1/verify', { email, level: 'smtp' })).toEqual([
      'Unknown field "level"; did you mean "validation_type"?',
    ]);
    const sent = { email, validationType: 'mx', timeout: 3, clientip: '::1', color: 1 };
    expect(await warningsOf('POST', '/v1/verify', sent)).toEqual([
      'Unknown field "validationType"; did you mean "validation_type"?',
      'Unknown field "timeout"; did you mean "timeout_ms"?',
      'Unknown field "clientip"; did you mean "client_ip"?',
      'Unknown field "color".',
    ]);
  });

  it('parameters of a query', async () => {
    expect(await warningsOf('POST', '/v1/verify?evidences=1', { email: 'a@good.com' })).toEqual([
      'Unknown parameter "evidences"; did you mean "evidence"?',
    ]);
    expect(await warningsOf('GET', '/v1/usage')).toEqual([]);
    expect(await warningsOf('GET', '/v1/usage?groupby=day')).toEqual([
      'Unknown parameter "groupby"; did you mean "group_by"?',
    ]);
    expect(await warningsOf('GET', '/v1/filters?limit=5')).toEqual([
      'Unknown parameter "limit"; did you mean "per_page"?',
    ]);
    expect(await warningsOf('GET', '/v1/lists?state=ready')).toHaveLength(1);
  });

  it('parameters of what takes none', async () => {
    const list = await member.call('POST', '/v1/lists?start=false', { emails: ['a@good.com'] });
    const unknown = ['Unknown parameter "dry_run".'];
    const path = `/v1/lists/${list.json.id}`;
    expect(await warningsOf('GET', path)).toEqual([]);
    // Lists have warnings about their file as well, so that theirs have codes.
    expect(await warningsOf('GET', `${path}?dry_run=true`)).toEqual(unknown.map(coded));
    expect(await warningsOf('POST', `${path}/start?dry_run=true`)).toEqual(unknown.map(coded));
    expect(await warningsOf('GET', '/v1/webhooks?dry_run=true')).toEqual(unknown);
    const webhook = await member.call('POST', '/v1/webhooks', {
      url: 'http://mx.good.com/x',
      events: ['list.completed'],
    });
    const hook = `/v1/webhooks/${webhook.json.id}`;
    expect(await warningsOf('GET', `${hook}?dry_run=true`)).toEqual(unknown);
    expect(await warningsOf('POST', `${hook}/rotate-secret?dry_run=true`)).toEqual(unknown);
    const ping = await member.call('POST', `${hook}/test?dry_run=true`);
    expect(ping.json.warnings).toEqual(unknown);
    expect(await warningsOf('POST', `/v1/deliveries/${ping.json.id}/replay?dry_run=true`)).toEqual(unknown);
    expect(await warningsOf('DELETE', `${hook}?dry_run=true`)).toEqual(unknown);
    await vi.waitFor(() => warningsOf('DELETE', `${path}?dry_run=true`).then((some) => expect(some).toEqual(unknown)));
  });

  it('an Idempotency-Key of whatever else changes something without it', async () => {
    const once = { 'idempotency-key': 'once' };
    const { json: filter } = await member.call('POST', '/v1/filters', { value: 'once.com' }, once);
    expect(filter.warnings).toEqual([]);
    const removed = await member.call('DELETE', `/v1/filters/${filter.id}`, undefined, once);
    expect(removed.json.warnings).toEqual(['Idempotency-Key does not apply to this request.']);
    expect((await member.call('GET', '/v1/usage', undefined, once)).json.warnings).toEqual([]);
  });

  it('a period of usage without the series that it would be of', async () => {
    expect(await warningsOf('GET', '/v1/usage?from=2026-11-01&to=2026-11-02&form=1')).toEqual([
      'Unknown parameter "form"; did you mean "from"?',
      'Parameter "from" changes nothing without "group_by".',
      'Parameter "to" changes nothing without "group_by".',
    ]);
    expect(await warningsOf('GET', '/v1/usage?from=2026-11-01&group_by=day')).toEqual([]);
    expect(await warningsOf('GET', '/v1/usage?from=&to=')).toEqual([]);
  });

  it('in every reply but documents', () => {
    const others = V1_ROUTES.filter((row) => !hasWarnings(row)).map(({ path }) => path);
    // They are sent as they are read.
    expect(others).toEqual(['/v1/lists/:id/results', '/v1/filters/export', '/v1/privacy/export']);
  });

  it('fields of filters, flat and wrapped, and of uploads', async () => {
    expect(await warningsOf('POST', '/v1/filters', { value: 'one.com' })).toEqual([]);
    expect(await warningsOf('POST', '/v1/filters', { value: 'two.com', note: 'x' })).toEqual([
      'Unknown field "note"; did you mean "reason"?',
    ]);
    expect(await warningsOf('POST', '/v1/filters', { filter: { value: 'three.com', typ: 1 }, more: 1 })).toEqual([
      'Unknown field "more".',
      'Unknown field "typ"; did you mean "filter_type"?',
    ]);
    const beside = await member.call('POST', '/v1/filters', { filter: { value: 'four.com' }, reason: 'r' });
    expect([beside.json.reason, beside.json.warnings]).toEqual(['r', []]);
    expect(await warningsOf('POST', '/v1/lists?start=false', { emails: ['a@good.com'], levels: 'mx' })).toEqual([
      coded('Unknown field "levels"; did you mean "validation_type"?'),
    ]);
    expect(await warningsOf('POST', '/v1/lists?start=false&named=x', { emails: ['a@good.com'] })).toEqual([
      coded('Unknown parameter "named"; did you mean "name"?'),
    ]);
  });

  it('a stranger cannot make the reply large', async () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`${'x'.repeat(15)}${i}`, 1]));
    const warnings = await warningsOf('POST', '/v1/verify', { email: 'a@good.com', ...many });
    expect(warnings).toHaveLength(11);
    expect(warnings.at(-1)).toBe('490 more unknown fields are not listed.');
    const [long] = await warningsOf('POST', '/v1/verify', { email: 'a@good.com', ['\u0000"'.repeat(2000)]: 1 });
    expect(long?.length).toBeLessThan(300);
  });
});

describe('POST /v1/filters', () => {
  it('an action that filters do not have is 422, and nothing is blocked', async () => {
    for (const action of ['quarantine', 'unblock', 7, null]) {
      const reply = await member.call('POST', '/v1/filters', { value: 'ok.com', action });
      expect([reply.status, reply.json.code, reply.json.field]).toEqual([422, 'invalid_filter', 'action']);
      expect(reply.json.error).toMatch(/block/);
    }
    // Beside the wrapper it is meant as well.
    const beside = await member.call('POST', '/v1/filters', { filter: { value: 'ok.com' }, action: 'quarantine' });
    expect([beside.status, beside.json.field]).toEqual([422, 'action']);
    expect((await member.call('GET', '/v1/filters?query=ok.com')).json.pagination.total_count).toBe(0);
    expect((await member.call('POST', '/v1/filters', { value: 'bad.com', action: 'block' })).status).toBe(201);
  });
});
