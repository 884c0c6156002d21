import fc from 'fast-check';
import { readSheet } from 'read-excel-file/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { POLICIES_MAX } from '../../src/kernel/facts/limits.ts';
import { POLICY_ACTIONS, SIGNALS } from '../../src/kernel/facts/policies.ts';
import { createKey } from '../../src/service/keys.ts';
import { type Lab, type Member, startLab } from '../lab/service.ts';

let lab: Lab;
let owner: Member;
beforeAll(async () => {
  lab = await startLab();
  owner = await lab.member({ credits: 100_000, rateLimit: 100_000 });
});
afterAll(() => lab.close());

const put = (name: string, body: unknown, member = owner) => member.call('PUT', `/v1/policies/${name}`, body);
const get = (name: string, member = owner) => member.call('GET', `/v1/policies/${name}`);
const nameOf = (policy: { name: string }) => policy.name;

describe('the policies of an account', () => {
  it('begin with the two that every account has', async () => {
    const member = await lab.member();
    const { status, json } = await member.call('GET', '/v1/policies');
    expect(status).toBe(200);
    expect(json.policies.map(nameOf)).toEqual(['signup', 'strict']);
    expect(json.policies[0]).toEqual({
      name: 'signup',
      built_in: true,
      signals: {
        disposable: 'reject',
        relay: 'accept',
        role: 'accept',
        free: 'accept',
        catch_all: 'accept',
        unknown: 'accept',
        full: 'accept',
        typo: 'review',
        tag: 'accept',
        seen_before: 'reject',
      },
      validation_type: 'mx',
      timeout_ms: 10_000,
      on_outage: 'accept',
      messages: {},
      created_at: null,
      changed_at: null,
    });
  });

  it('are created with 201, replaced with 200, shown, listed by name, and deleted', async () => {
    const member = await lab.member();
    const body = {
      signals: { disposable: 'reject', role: 'review' },
      validation_type: 'smtp',
      timeout_ms: 5_000,
      on_outage: 'review',
      messages: { disposable: { DE: ' Bitte eine dauerhafte Adresse. ', en: 'No disposable addresses.' } },
    };
    const created = await put('b2b_trial.2-x', body, member);
    expect(created.status).toBe(201);
    expect(created.json).toMatchObject({
      name: 'b2b_trial.2-x',
      built_in: false,
      signals: { disposable: 'reject', role: 'review', tag: 'accept' },
      messages: { disposable: { de: 'Bitte eine dauerhafte Adresse.', en: 'No disposable addresses.' } },
      warnings: [],
    });
    expect((await get('b2b_trial.2-x', member)).json).toEqual(created.json);
    const replaced = await put('b2b_trial.2-x', { signals: { tag: 'reject' } }, member);
    expect(replaced.status).toBe(200);
    expect(replaced.json).toMatchObject({
      signals: { disposable: 'accept', tag: 'reject' },
      validation_type: 'mx',
      messages: {},
      created_at: created.json.created_at,
    });
    await put('a', {}, member);
    const listed = await member.call('GET', '/v1/policies');
    expect(listed.json.policies.map(nameOf)).toEqual(['signup', 'strict', 'a', 'b2b_trial.2-x']);
    const gone = await member.call('DELETE', '/v1/policies/a');
    expect([gone.status, gone.json.status]).toEqual([200, 'success']);
    expect((await get('a', member)).status).toBe(404);
    expect((await member.call('DELETE', '/v1/policies/a')).status).toBe(404);
  });

  it('what one reply shows can be sent back under another name', async () => {
    const member = await lab.member();
    const { json } = await get('strict', member);
    const copy = await put('own', { ...json, on_outage: 'reject' }, member);
    expect(copy.status).toBe(201);
    expect(copy.json.signals).toEqual(json.signals);
    expect(copy.json).toMatchObject({ name: 'own', built_in: false, on_outage: 'reject' });
  });

  it.each(['signup', 'strict'])('%s cannot be changed or deleted', async (name) => {
    const changed = await put(name, {});
    const deleted = await owner.call('DELETE', `/v1/policies/${name}`);
    for (const { status, json } of [changed, deleted])
      expect([status, json.code, json.field]).toEqual([422, 'policy_built_in', 'name']);
    expect((await get(name)).json.built_in).toBe(true);
  });

  it.each([
    [{ signals: { disposible: 'reject' } }, 400, 'invalid_parameter', 'signals', /disposable, relay/],
    [{ signals: { disposable: 'block' } }, 400, 'invalid_parameter', 'signals', /"accept", "review" or "reject"/],
    [{ signals: null }, 400, 'invalid_parameter', 'signals', /signals can have/],
    [{ disposable: 'reject' }, 400, 'invalid_parameter', 'disposable', /Unknown field "disposable"/],
    [{ on_outtage: 'reject' }, 400, 'invalid_parameter', 'on_outtage', /did you mean "on_outage"/],
    [{ on_outage: 'block' }, 400, 'invalid_parameter', 'on_outage', /"accept", "review" or "reject"/],
    [{ validation_type: 'full' }, 400, 'invalid_parameter', 'validation_type', /"mx" or "smtp"/],
    [{ timeout_ms: 10 }, 400, 'invalid_parameter', 'timeout_ms', /1,000 to 30,000/],
    [{ messages: { outdated: { en: 'x' } } }, 400, 'invalid_parameter', 'messages', /messages can have/],
    [{ messages: { tag: 'x' } }, 400, 'invalid_parameter', 'messages', /for each language/],
    [{ messages: { tag: { english: 'x' } } }, 422, 'invalid_policy', 'messages.tag.english', /such as "en"/],
    [{ messages: { tag: { 'not a tag': 'x' } } }, 422, 'invalid_policy', 'messages.tag.not a tag', /such as "en"/],
    [{ messages: { tag: { en: 'x'.repeat(201) } } }, 422, 'invalid_policy', 'messages.tag.en', /1 to 200 characters/],
    [{ messages: { tag: { en: '  ' } } }, 422, 'invalid_policy', 'messages.tag.en', /1 to 200 characters/],
    [{ messages: { tag: { en: 'two\nlines' } } }, 422, 'invalid_policy', 'messages.tag.en', /plain text/],
    [{ messages: { tag: { en: 'nul\u0000' } } }, 422, 'invalid_policy', 'messages.tag.en', /plain text/],
    [{ messages: { tag: { en: 'a', EN: 'b' } } }, 422, 'invalid_policy', 'messages.tag.EN', /second text/],
    [
      { messages: { tag: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`de-x-${i}a`, 'x'])) } },
      422,
      'invalid_policy',
      'messages.tag',
      /more than 20 languages/,
    ],
  ])('%j is refused, and nothing is saved', async (body, status, code, field, error) => {
    const reply = await put('refused', body);
    expect([reply.status, reply.json.code, reply.json.field]).toEqual([status, code, field]);
    expect(reply.json.error).toMatch(error);
    expect((await get('refused')).status).toBe(404);
  });

  it.each(['Signup', 'a b', 'x'.repeat(65), 'ü', 'a%2Fb'])('a name cannot be %s', async (name) => {
    expect((await put(name, {})).status).toBe(404);
  });

  it(`are at most ${POLICIES_MAX}, also when they come at once; replacing one is none more`, async () => {
    const member = await lab.member({ rateLimit: 100_000 });
    const replies = await Promise.all(
      Array.from({ length: POLICIES_MAX + 5 }, (_, i) => put(`p${i}`, { signals: { tag: 'reject' } }, member)),
    );
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(POLICIES_MAX);
    const refused = replies.filter(({ status }) => status === 422);
    expect(refused).toHaveLength(5);
    expect(refused[0]!.json).toMatchObject({ code: 'too_many_policies', limit: POLICIES_MAX });
    const made = replies.find(({ status }) => status === 201)!.json.name;
    expect((await put(made, {}, member)).status).toBe(200);
  });

  it('are seen by no other account, nor by test mode', async () => {
    const [member, other] = [await lab.member(), await lab.member()];
    await put('mine', { signals: { tag: 'reject' } }, member);
    const test = await lab.testMember(member);
    for (const stranger of [other, test]) {
      expect((await get('mine', stranger)).status).toBe(404);
      expect((await stranger.call('DELETE', '/v1/policies/mine')).status).toBe(404);
      const used = await stranger.verify('a+b@good.com', { policy: 'mine' });
      expect([used.status, used.json.code, used.json.policies]).toEqual([
        422,
        'policy_not_found',
        ['signup', 'strict'],
      ]);
    }
    expect((await get('mine', member)).status).toBe(200);
  });

  it('leave their changes in the audit log, with what changed and who did it', async () => {
    const member = await lab.member();
    await put('own', { signals: { role: 'reject' } }, member);
    await put('own', { signals: { role: 'review' }, messages: { role: { en: 'Your own, please.' } } }, member);
    await put('own', { signals: { role: 'review' }, messages: { role: { en: 'Your own, please.' } } }, member);
    await member.call('DELETE', '/v1/policies/own');
    const entries = await lab.store.auditLog.list(member.account.id, { before: null, limit: 10 });
    const ours = entries.filter(({ action }) => action.startsWith('policy.')).reverse();
    expect(ours.map(({ action, target, actor }) => [action, target, actor.kind, actor.id])).toEqual([
      ['policy.created', 'own', 'key', member.keyId],
      ['policy.changed', 'own', 'key', member.keyId],
      ['policy.deleted', 'own', 'key', member.keyId],
    ]);
    expect(ours.map(({ detail }) => detail)).toEqual([
      { changes: { 'signals.role': { from: 'accept', to: 'reject' } } },
      {
        changes: {
          'signals.role': { from: 'reject', to: 'review' },
          'messages.role.en': { from: null, to: 'Your own, please.' },
        },
      },
      {
        changes: {
          'signals.role': { from: 'review', to: 'accept' },
          'messages.role.en': { from: 'Your own, please.', to: null },
        },
      },
    ]);
  });
});

describe('POST /v1/verify with a policy', () => {
  it('is decided; without one, the decision is null', async () => {
    expect((await owner.verify('someone@good.com')).json.decision).toBe(null);
    expect((await owner.verify('someone@good.com', { policy: 'signup' })).json.decision).toEqual({
      action: 'accept',
      because: [],
      message: null,
    });
    expect((await owner.verify('someone@mailinator.com', { policy: 'signup' })).json.decision).toEqual({
      action: 'reject',
      because: ['disposable'],
      message: 'Use a permanent email address.',
    });
  });

  it.each(['signup', 'strict', 'all-accepted'])('rejects what is undeliverable: %s', async (policy) => {
    await put('all-accepted', {});
    for (const email of ['someone@null-mx.com', 'a..b@good.com', 'someone@nowhere-at-all.com'])
      expect((await owner.verify(email, { policy })).json.decision).toMatchObject({
        action: 'reject',
        because: expect.arrayContaining(['undeliverable']),
        message: 'This email address cannot receive mail.',
      });
  });

  it('stores the decision with the verification', async () => {
    const { json } = await owner.verify('someone@mailinator.com', { policy: 'signup' });
    const stored = await lab.store.verifications.get(owner.account.id, json.id);
    expect(stored!.decision).toBe('reject');
    expect(JSON.parse(stored!.body)).toEqual(json);
    const without = await owner.verify('someone@mailinator.com');
    expect((await lab.store.verifications.get(owner.account.id, without.json.id))!.decision).toBe(null);
  });

  it('checks as the policy says, unless the request says it itself', async () => {
    await put('deep', { validation_type: 'smtp', timeout_ms: 1_000 });
    const requested = async (more: object) => {
      const { json } = await owner.verify('someone@no-mail.com', { policy: 'deep', ...more });
      return (await lab.store.verifications.get(owner.account.id, json.id))!.requested;
    };
    expect(await requested({})).toBe('smtp');
    expect(await requested({ validation_type: 'mx' })).toBe('mx');
    const test = await lab.testMember(owner);
    await put('quick', { timeout_ms: 1_000 }, test);
    const slow = { policy: 'quick' };
    expect((await test.verify('slow+1500@example.com', slow)).json.reason).toBe('dns_failure');
    expect((await test.verify('slow+1500@example.com', { ...slow, timeout_ms: 5_000 })).json.reason).toBe(null);
  });

  it('chooses the language of the message by the field `language`, not by the header of the caller', async () => {
    await put('polyglot', {
      signals: { disposable: 'reject' },
      messages: { disposable: { en: 'No.', de: 'Nein.', fr: 'Non.' } },
    });
    const said = async (more: object, headers = {}) => {
      const reply = await owner.verify('someone@mailinator.com', { policy: 'polyglot', ...more }, headers);
      return reply.json.decision.message;
    };
    expect(await said({})).toBe('No.');
    expect(await said({}, { 'accept-language': 'de' })).toBe('No.');
    expect(await said({ language: 'de-AT' })).toBe('Nein.');
    expect(await said({ language: 'es, fr;q=0.8, de;q=0.5' })).toBe('Non.');
    const long = await owner.verify('a@good.com', { policy: 'polyglot', language: 'x'.repeat(201) });
    expect([long.status, long.json.field]).toEqual([400, 'language']);
  });

  it('a name that there is not is 422 with those there are, and costs nothing', async () => {
    const member = await lab.member({ credits: 5 });
    await put('own', {}, member);
    const { status, json } = await member.verify('a@good.com', { policy: 'oen' });
    expect([status, json.code, json.field]).toEqual([422, 'policy_not_found', 'policy']);
    expect(json.policies).toEqual(['signup', 'strict', 'own']);
    expect(json.error).toContain('"oen"');
    expect((await lab.store.accounts.get(member.account.id))!.balance).toBe(5);
    const wrong = await member.verify('a@good.com', { policy: 'No Such' });
    expect([wrong.status, wrong.json.code, wrong.json.field]).toEqual([400, 'invalid_parameter', 'policy']);
  });

  it('tells nothing of the policies to whoever may not verify', async () => {
    const member = await lab.member();
    await put('own', {}, member);
    const narrow = await createKey(lab.store, member.account.id, { name: 'n', allowIps: [], scopes: ['usage'] });
    const authorization = `Bearer ${narrow.value}`;
    const known = await member.call('POST', '/v1/verify', { email: 'a@good.com', policy: 'own' }, { authorization });
    const unknown = await member.call('POST', '/v1/verify', { email: 'a@good.com', policy: 'x' }, { authorization });
    for (const { status, json } of [known, unknown]) {
      expect([status, json.code]).toEqual([403, 'scope_missing']);
      expect(json).not.toHaveProperty('policies');
      expect(json).not.toHaveProperty('decision');
    }
    const nobody = { authorization: `Bearer mv_live_${'x'.repeat(32)}` };
    const refused = await member.call('POST', '/v1/verify', { email: 'a@good.com', policy: 'own' }, nobody);
    expect([refused.status, refused.json.code]).toEqual([401, 'invalid_api_key']);
  });

  it('an Idempotency-Key replays the decision, and the unknown name', async () => {
    const key = { 'idempotency-key': 'decided' };
    const member = await lab.member();
    await put('own', { signals: { role: 'reject' } }, member);
    const first = await member.verify('info@good.com', { policy: 'own' }, key);
    await put('own', {}, member);
    const again = await member.verify('info@good.com', { policy: 'own' }, key);
    expect(again.text).toBe(first.text);
    expect(again.json.decision.action).toBe('reject');
    const unknown = { 'idempotency-key': 'unknown' };
    expect((await member.verify('a@good.com', { policy: 'none' }, unknown)).status).toBe(422);
    const replayed = await member.verify('a@good.com', { policy: 'none' }, unknown);
    expect([replayed.status, replayed.headers.get('idempotency-replayed')]).toEqual([422, 'true']);
  });

  it('follows each signal that a mailbox check finds', async () => {
    const test = await lab.testMember(owner);
    await put('each', { signals: Object.fromEntries(SIGNALS.map((signal) => [signal, 'review'])) }, test);
    const because = async (email: string) => {
      const { json } = await test.verify(email, { policy: 'each', validation_type: 'smtp' });
      return [json.decision.action, ...json.decision.because];
    };
    expect(await because('deliverable@example.com')).toEqual(['accept']);
    expect(await because('risky@example.com')).toEqual(['review', 'disposable']);
    expect(await because('relay@example.com')).toEqual(['review', 'relay']);
    expect(await because('role@example.com')).toEqual(['review', 'role']);
    expect(await because('free@example.com')).toEqual(['review', 'free']);
    expect(await because('catch_all@example.com')).toEqual(['review', 'catch_all']);
    expect(await because('greylisted@example.com')).toEqual(['review', 'unknown']);
    expect(await because('mailbox_full_temporarily@example.com')).toEqual(['review', 'full']);
    expect(await because('typo_alive@example.com')).toEqual(['review', 'typo']);
    expect(await because('deliverable+news@example.com')).toEqual(['review', 'tag']);
    expect(await because('mailbox_full@example.com')).toEqual(['reject', 'undeliverable']);
  });
});

describe('where there is no verdict', () => {
  const outage = (action: string) => ({
    action,
    because: ['outage'],
    message: action === 'accept' ? null : 'This email address could not be checked. Try again later.',
  });

  it('the error has the decision of `on_outage`: credits, rate, plan', async () => {
    const poor = await lab.member({ credits: 0 });
    await put('closed', { on_outage: 'reject' }, poor);
    const broke = await poor.verify('a@good.com', { policy: 'closed' });
    expect([broke.status, broke.json.code, broke.json.decision]).toEqual([
      402,
      'insufficient_credits',
      outage('reject'),
    ]);
    expect((await poor.verify('a@good.com', { policy: 'signup' })).json.decision).toEqual(outage('accept'));
    expect((await poor.verify('a@good.com')).json).not.toHaveProperty('decision');
    const slow = await lab.member({ rateLimit: 1 });
    await slow.verify('a@good.com');
    const limited = await slow.verify('a@good.com', { policy: 'strict' });
    expect([limited.status, limited.json.decision]).toEqual([429, outage('review')]);
    const starter = await lab.member({ plan: 'starter' });
    const small = await starter.verify('a@good.com', { policy: 'strict', validation_type: 'smtp' });
    expect([small.status, small.json.decision]).toEqual([402, outage('review')]);
  });

  it('the error has it when our own resolver is down, and nothing is charged', async () => {
    const member = await lab.member({ credits: 10 });
    await put('strictly', { on_outage: 'reject' }, member);
    await lab.dns.pause('closed');
    const down = await member.verify('a@unseen-by-this-policy.com', { policy: 'strictly' });
    expect([down.status, down.json.code, down.json.decision]).toEqual([
      503,
      'verification_unavailable',
      outage('reject'),
    ]);
    // What needs no resolver is decided as ever.
    expect((await member.verify('b@mailinator.com', { policy: 'signup' })).json.decision.action).toBe('reject');
    await lab.dns.resume();
    expect((await lab.store.accounts.get(member.account.id))!).toMatchObject({ balance: 9, locked: 0 });
  });

  it('the error has it when a test key asks for one', async () => {
    const test = await lab.testMember(owner);
    const { status, json } = await test.verify('verification_unavailable@example.com', { policy: 'strict' });
    expect([status, json.code, json.decision]).toEqual([503, 'verification_unavailable', outage('review')]);
    const overloaded = await test.verify('overloaded@example.com', { policy: 'signup' });
    expect([overloaded.status, overloaded.json.decision]).toEqual([503, outage('accept')]);
  });

  it('an error of the request has none', async () => {
    for (const more of [{ timeout_ms: 1 }, { client_ip: 'x' }]) {
      const { status, json } = await owner.verify('a@good.com', { policy: 'strict', ...more });
      expect(status).toBe(400);
      expect(json).not.toHaveProperty('decision');
    }
  });
});

describe('a list with a policy', () => {
  const EMAILS = ['deliverable@example.com', 'risky@example.com', 'role@example.com', 'undeliverable@example.com'];
  const ACTIONS = ['accept', 'reject', 'review', 'reject'];
  const ended = async (member: Member, id: string) => {
    await expect
      .poll(async () => (await member.call('GET', `/v1/lists/${id}`)).json.status, { timeout: 20_000 })
      .toBe('completed');
  };
  const file = async (member: Member, id: string, format: string) => {
    const path = `${lab.url}/v1/lists/${id}/results?format=${format}`;
    return fetch(path, { headers: { authorization: `Bearer ${member.key}` } });
  };

  it('has its decision in rows, in every format of the results, and in the log', async () => {
    const test = await lab.testMember(await lab.member());
    await put('listed', { signals: { disposable: 'reject', role: 'review' } }, test);
    const made = await test.call('POST', '/v1/lists', { emails: EMAILS, policy: 'listed' });
    expect([made.status, made.json.policy, made.json.validation_type]).toEqual([201, 'listed', 'mx']);
    const { id } = made.json;
    await ended(test, id);
    const { json } = await test.call('GET', `/v1/lists/${id}/rows`);
    expect(json.rows.map((row: { decision: string }) => row.decision)).toEqual(ACTIONS);
    const csv = (await (await file(test, id, 'csv')).text()).trim().split('\r\n');
    const column = csv[0]!.split(',').indexOf('mailvet_decision');
    expect(csv.slice(1).map((line) => line.split(',')[column])).toEqual(ACTIONS);
    const lines = (await (await file(test, id, 'jsonl')).text()).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).decision)).toEqual(ACTIONS);
    const sheet = await readSheet(Buffer.from(await (await file(test, id, 'xlsx')).arrayBuffer()));
    expect(sheet.slice(1).map((row) => row[sheet[0]!.indexOf('mailvet_decision')])).toEqual(ACTIONS);
    const found = { email: null, id: null, reason: null, keyId: null, status: null, before: null, limit: 10 };
    const rejected = await lab.store.verifications.search(test.account.id, { ...found, decision: ['reject'] });
    expect(rejected.items.map(({ email }) => email).sort()).toEqual(['risky@example.com', 'undeliverable@example.com']);
  });

  it('keeps the rules as they were at the upload, also for those that it starts later', async () => {
    const test = await lab.testMember(await lab.member());
    await put('fleeting', { signals: { role: 'review' }, validation_type: 'smtp' }, test);
    const upload = { emails: ['role@example.com'], policy: 'fleeting', start: false };
    const { json: list } = await test.call('POST', '/v1/lists', upload);
    expect([list.status, list.validation_type]).toEqual(['ready', 'smtp']);
    await put('fleeting', { signals: { role: 'reject' } }, test);
    await test.call('DELETE', '/v1/policies/fleeting');
    await test.call('POST', `/v1/lists/${list.id}/start`);
    await ended(test, list.id);
    const { json } = await test.call('GET', `/v1/lists/${list.id}/rows`);
    expect(json.rows[0].decision).toBe('review');
    expect((await test.call('GET', `/v1/lists/${list.id}`)).json.policy).toBe('fleeting');
  });

  it('has none without one, and a name that there is not makes no list', async () => {
    const test = await lab.testMember(await lab.member());
    const { json: list } = await test.call('POST', '/v1/lists', { emails: ['role@example.com'] });
    expect(list.policy).toBe(null);
    await ended(test, list.id);
    expect((await test.call('GET', `/v1/lists/${list.id}/rows`)).json.rows[0].decision).toBe(null);
    const before = (await test.call('GET', '/v1/lists')).json.pagination.total_count;
    const refused = await test.call('POST', '/v1/lists', { emails: ['a@example.com'], policy: 'nope' });
    expect([refused.status, refused.json.code, refused.json.policies]).toEqual([
      422,
      'policy_not_found',
      ['signup', 'strict'],
    ]);
    const wrong = await test.call('POST', '/v1/lists', { emails: ['a@example.com'], policy: 7 });
    expect([wrong.status, wrong.json.field]).toEqual([400, 'policy']);
    expect((await test.call('GET', '/v1/lists')).json.pagination.total_count).toBe(before);
  });
});

describe('property', () => {
  it('the verdict is the same whatever the policy', async () => {
    const emails = [
      'a@good.com',
      'info+x@good.com',
      'a@mailinator.com',
      'a@null-mx.com',
      'a..b@good.com',
      'a@lame.com',
    ];
    const action = fc.constantFrom(...POLICY_ACTIONS);
    const signals = fc.dictionary(fc.constantFrom(...SIGNALS), action, { maxKeys: SIGNALS.length });
    const verdictOf = ({ id, duration_ms, verified_at, decision, ...verdict }: Record<string, unknown>) => verdict;
    await fc.assert(
      fc.asyncProperty(signals, action, fc.constantFrom(...emails), async (chosen, on_outage, email) => {
        expect((await put('any', { signals: chosen, on_outage })).status).toBeLessThan(300);
        const [bare, decided] = await Promise.all([owner.verify(email), owner.verify(email, { policy: 'any' })]);
        expect(verdictOf(decided.json)).toEqual(verdictOf(bare.json));
        expect(POLICY_ACTIONS).toContain(decided.json.decision.action);
      }),
      { numRuns: 40 },
    );
  });
});
