/** Verifications of the log, looked up with a key. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, type Member, startLab } from '../lab/service.ts';
import { of, signedIn } from './dashboard/client.ts';

let lab: Lab;
let who: Member;
beforeAll(async () => {
  lab = await startLab();
  who = await lab.member({ rateLimit: 100_000 });
});
afterAll(() => lab.close());

const find = (query = '', member = who) => member.call('GET', `/v1/verifications${query}`);
const emailsOf = async (query: string) =>
  (await find(query)).json.verifications.map(({ email }: Record<string, unknown>) => email);

describe('a verification', () => {
  it('is what was answered then, with its evidence', async () => {
    const { json } = await who.call('POST', '/v1/verify?evidence=1', { email: 'a@null-mx.com', policy: 'signup' });
    const { status, json: found, headers } = await find(`/${json.id}`);
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(found).toEqual(json);
    expect(found.evidence).toBeDefined();
    expect((await find(`?query=${json.id}`)).json).toMatchObject({
      verifications: [{ id: json.id, email: 'a@null-mx.com', decision: 'reject', key: { id: who.keyId } }],
      next: null,
      searched_to: null,
      warnings: [],
    });
  });

  it('is not found for another account, a key of test mode, after its erasure, and if there is none', async () => {
    const { id } = (await who.verify('erased@null-mx.com')).json;
    const other = await lab.member();
    const test = await lab.testMember(who);
    for (const member of [other, test]) {
      expect((await find(`/${id}`, member)).json.code).toBe('not_found');
      expect((await find(`?query=${id}`, member)).json.verifications).toEqual([]);
    }
    expect((await find(`/${id}`)).status).toBe(200);
    const person = await signedIn(lab, { account: who.account, role: 'admin' });
    await person.call('POST', of(who.account, '/log/erase'), { email: 'erased@null-mx.com' });
    expect((await find(`/${id}`)).status).toBe(404);
    expect(await emailsOf('?email=erased@null-mx.com')).toEqual([]);
    expect((await find('/ver_none')).status).toBe(404);
  });

  it('needs a key with the scope `log`', async () => {
    const verifier = await lab.member({ scopes: ['verify'] });
    expect((await find('', verifier)).json).toMatchObject({ code: 'scope_missing', scope: 'log' });
    expect((await find('/ver_1', verifier)).json).toMatchObject({ code: 'scope_missing', scope: 'log' });
  });
});

describe('a search', () => {
  it('is by address, part of one, reason, deliverability, decision and time', async () => {
    const own = await lab.member({ rateLimit: 100_000 });
    const search = async (query: string) =>
      (await find(query, own)).json.verifications.map(({ email }: Record<string, unknown>) => email);
    const before = new Date(Date.now() - 60_000).toISOString();
    for (const email of ['a@null-mx.com', 'b@null-mx.com', 'a@good.com', 'x@mailinator.com'])
      expect((await own.verify(email, { policy: 'signup' })).status).toBe(200);
    expect((await own.verify('')).status).toBe(400);
    expect(await search('')).toEqual(['x@mailinator.com', 'a@good.com', 'b@null-mx.com', 'a@null-mx.com']);
    expect(await search('?email=A@')).toEqual(['a@good.com', 'a@null-mx.com']);
    expect(await search('?query=null-mx')).toEqual(['b@null-mx.com', 'a@null-mx.com']);
    expect(await search('?reason=disposable_domain')).toEqual(['x@mailinator.com']);
    expect(await search('?deliverability=not_checked')).toEqual(['a@good.com']);
    expect(await search('?decision=accept')).toEqual(['a@good.com']);
    expect(await search(`?since=${before}&reason=null_mx`)).toEqual(['b@null-mx.com', 'a@null-mx.com']);
    expect(await search(`?until=${before}`)).toEqual([]);
    expect((await find('?status=bad', own)).json.warnings).toEqual([
      expect.stringMatching(/Unknown parameter "status"/),
    ]);
  });

  it('has links to its pages, which have every row once', async () => {
    const own = await lab.member({ rateLimit: 100_000 });
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.unshift((await own.verify(`p${i}@null-mx.com`)).json.id);
    const seen: string[] = [];
    let path: string | undefined = '/v1/verifications?query=null-mx&limit=2';
    while (path !== undefined) {
      const { json, headers } = await own.call('GET', path);
      seen.push(...json.verifications.map(({ id }: Record<string, unknown>) => id));
      const links = headers.get('link') ?? '';
      expect(links).toContain('</v1/verifications?query=null-mx&limit=2>; rel="first"');
      path = /<([^>]*)>; rel="next"/.exec(links)?.[1];
      expect(path === undefined).toBe(json.next === null);
    }
    expect(seen).toEqual(ids);
  });

  it.each([
    'cursor=x',
    'cursor=-1',
    'limit=0',
    'since=yesterday',
    'reason=none_such',
    'decision=maybe',
  ])('of %s is refused', async (query) => {
    const { status, json } = await find(`?${query}`);
    expect([status, query.startsWith(json.field)]).toEqual([400, true]);
  });
});
