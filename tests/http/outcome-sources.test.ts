/** Outcomes as providers report them. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../src/kernel/clock.ts';
import { OUTCOME_SOURCES_MAX, PROVIDER_BODY_BYTES } from '../../src/kernel/facts/limits.ts';
import {
  MAIL_OUTCOMES,
  type MailOutcome,
  OUTCOME_PROVIDER_FACTS,
  OUTCOME_PROVIDERS,
  type OutcomeProvider,
} from '../../src/kernel/facts/sent-mail.ts';
import {
  EVENT_BODIES,
  PROVIDER_SECRETS,
  SIGNED_CALLS,
  type SignedCall,
  SNS_HOST,
  snsCertificate,
  snsMessage,
  TOPIC,
} from '../lab/outcome-providers.ts';
import { type Receiver, startReceiver } from '../lab/receiver.ts';
import { type Lab, type Member, type Reply, request, startLab } from '../lab/service.ts';
import { type Client, of, signedIn } from './dashboard/client.ts';

let lab: Lab;
let sns: Receiver;

beforeAll(async () => {
  lab = await startLab({}, { net: { [SNS_HOST]: { A: ['127.0.0.1'] } } });
  sns = await startReceiver();
});
afterAll(async () => {
  await lab.close();
  await sns.close();
});

interface House {
  readonly member: Member;
  readonly admin: Client;
}
async function house(): Promise<House> {
  const member = await lab.member({});
  return { member, admin: await signedIn(lab, { account: member.account, role: 'admin' }) };
}

interface LiveSource {
  readonly id: string;
  readonly provider: OutcomeProvider;
  readonly secret: string;
  /** Path of its URL. */
  readonly path: string;
}
/** As an admin makes it, and enters the secret of a provider that makes its own. */
async function connect({ member, admin }: House, provider: OutcomeProvider): Promise<LiveSource> {
  const made = await admin.call('POST', of(member.account, '/outcome-sources'), { provider, name: `my ${provider}` });
  expect(made.status, made.text).toBe(201);
  const { source, secret } = made.json;
  const path = new URL(source.url).pathname;
  const theirs = PROVIDER_SECRETS[provider];
  if (theirs === null) return { id: source.id, provider, secret, path };
  expect([secret, source.has_secret]).toEqual([null, false]);
  const entered = await admin.call('POST', of(member.account, `/outcome-sources/${source.id}/roll`), {
    secret: theirs,
  });
  expect([entered.status, entered.json.secret, entered.json.source.has_secret]).toEqual([200, null, true]);
  return { id: source.id, provider, secret: theirs, path };
}
const listed = async ({ member, admin }: House) =>
  (await admin.call('GET', of(member.account, '/outcome-sources'))).json.sources;

let ids = 0;
const certificate = (name: Parameters<typeof snsCertificate>[0] = 'sns'): string => {
  sns.respond((reply) => reply.end(snsCertificate(name)));
  ids += 1;
  return `http://${SNS_HOST}:${sns.port}/SimpleNotificationService-${ids.toString(16).padStart(32, '0')}.pem`;
};

interface Attempt {
  readonly email?: string;
  readonly outcome?: MailOutcome;
  /** Of the event. */
  readonly at?: number;
  readonly signedAt?: number;
  readonly id?: string;
  readonly secret?: string;
}
function made({ provider, secret }: LiveSource, attempt: Attempt = {}): SignedCall {
  ids += 1;
  const { email = 'jane@good.com', outcome = 'bounced', at = Date.now() - ids * 1000 } = attempt;
  const { signedAt = Date.now(), id = `id-${ids}` } = attempt;
  const signing = { secret: attempt.secret ?? secret, id, at: signedAt, certificateUrl: certificate() };
  return SIGNED_CALLS[provider](EVENT_BODIES[provider]({ email, outcome, at }), signing);
}
const send = ({ path }: LiveSource, { body, headers }: SignedCall): Promise<Reply> =>
  request(lab.url, 'POST', path, body, { 'content-type': 'application/json', ...headers });
const refused = async (source: LiveSource, call: SignedCall) => {
  const { status, json } = await send(source, call);
  expect([source.provider, status, json.code]).toEqual([source.provider, 401, 'invalid_signature']);
};

it('are set up as the documentation says', () => {
  const rows = readFileSync(new URL('../../docs/outcomes.md', import.meta.url), 'utf8')
    .replaceAll('`', '')
    .split('\n');
  for (const { name, setting } of Object.values(OUTCOME_PROVIDER_FACTS))
    expect(rows.find((row) => row.startsWith(`| [${name}]`))?.split(' | ')[1]).toBe(setting);
});

describe.each(OUTCOME_PROVIDERS)('%s', (provider) => {
  it('reports each kind of outcome', async () => {
    const own = await house();
    const source = await connect(own, provider);
    for (const outcome of MAIL_OUTCOMES) {
      const reply = await send(source, made(source, { outcome }));
      const expected = outcome === 'bounced' ? 'absent' : outcome;
      expect([reply.status, reply.json.results], reply.text).toEqual([200, [{ result: 'recorded', class: expected }]]);
    }
    expect((await listed(own))[0].received).toBe(MAIL_OUTCOMES.length);
    expect((await listed(own))[0].last_received_at).not.toBeNull();
  });

  it('refuses what it did not sign, or long ago, or has no secret for yet', async () => {
    const own = await house();
    const source = await connect(own, provider);
    const isShown = OUTCOME_PROVIDER_FACTS[provider].secretOf === 'us';
    // Mailgun and SNS have their signatures in the body.
    const isInBody = provider === 'ses' || provider === 'mailgun';
    await refused(source, { body: isInBody ? '{}' : made(source).body, headers: {} });
    const good = made(source);
    await refused({ ...source, path: source.path.replace(source.id, 'out_nothing') }, good);
    const other = OUTCOME_PROVIDERS[(OUTCOME_PROVIDERS.indexOf(provider) + 1) % OUTCOME_PROVIDERS.length]!;
    await refused({ ...source, path: source.path.replace(`/${provider}/`, `/${other}/`) }, good);
    if (provider !== 'ses' && provider !== 'sendgrid') {
      const wrong = provider === 'resend' ? `whsec_${Buffer.alloc(24, 8).toString('base64')}` : 'x'.repeat(32);
      await refused(source, made(source, { secret: wrong }));
    }
    if (isShown) return;
    await refused(source, made(source, { signedAt: Date.now() - 30 * HOUR_MS }));
    await refused(source, made(source, { signedAt: Date.now() + HOUR_MS }));
    const { admin, member } = own;
    const later = await admin.call('POST', of(member.account, '/outcome-sources'), { provider, name: 'later' });
    await refused({ ...source, path: new URL(later.json.source.url).pathname }, made(source));
  });

  it('counts nothing twice, and takes a signature for no other body', async () => {
    const own = await house();
    const source = await connect(own, provider);
    const call = made(source, { id: `again-${provider}` });
    const [first, again] = [await send(source, call), await send(source, call)];
    expect(first.json).toMatchObject({ recorded: 1, duplicates: 0 });
    const isShown = OUTCOME_PROVIDER_FACTS[provider].secretOf === 'us';
    // Of what is signed, the first reply is repeated; what is not signed is read again.
    if (isShown) expect(again.json).toMatchObject({ recorded: 0, duplicates: 1 });
    else expect([again.status, again.text]).toEqual([200, first.text]);
    expect((await listed(own))[0].received).toBe(1);
    if (!isShown) await refused(source, { ...call, body: call.body.replace('jane@good.com', 'eve@good.com') });
  });

  it('is let in with an old secret for a while, and not once it is removed', async () => {
    const own = await house();
    const { admin, member } = own;
    const source = await connect(own, provider);
    const path = of(member.account, `/outcome-sources/${source.id}`);
    const next = provider === 'ses' ? `${TOPIC}-2` : (PROVIDER_SECRETS[provider] ?? undefined);
    const rolled = await admin.call('POST', `${path}/roll`, { ...(next && { secret: next }), grace_seconds: 3_600 });
    expect([rolled.status, rolled.json.source.previous_secret_until !== null]).toEqual([200, true]);
    expect((await send(source, made(source))).status).toBe(200);
    expect((await admin.call('DELETE', path)).status).toBe(200);
    await refused(source, made(source));
    expect(await listed(own)).toEqual([]);
  });

  it('survives bodies of any form', async () => {
    const own = await house();
    const source = await connect(own, provider);
    const odd: unknown[] = [null, 1, 'x', [], {}, [null], { event: {} }, { data: { to: 'x' } }];
    for (const event of odd) {
      ids += 1;
      const signing = { secret: source.secret, id: `odd-${ids}`, at: Date.now(), certificateUrl: certificate() };
      const { status, json, text } = await send(source, SIGNED_CALLS[provider](event, signing));
      expect([status, json.results], text).toEqual([200, []]);
    }
    const large = 'x'.repeat(PROVIDER_BODY_BYTES + 1);
    expect((await send(source, { body: large, headers: {} })).status).toBe(413);
  });
});

describe('Amazon SNS', () => {
  const TYPE = { 'content-type': 'text/plain; charset=UTF-8' };
  it('is believed only with a certificate of its own, from its own host, for the topic of the account', async () => {
    const source = await connect(await house(), 'ses');
    const event = JSON.stringify(EVENT_BODIES.ses({ email: 'jane@good.com', outcome: 'delivered', at: Date.now() }));
    const call = (certificateUrl: string, more = {}) => {
      ids += 1;
      const signing = { secret: '', id: `sns-${ids}`, at: Date.now(), certificateUrl };
      return { body: snsMessage({ Type: 'Notification', Message: event, ...more }, signing), headers: TYPE };
    };
    const asked = sns.received.length;
    for (const url of [
      'not a URL',
      `http://sns.eu-west-1.amazonaws.com.evil.test:${sns.port}/SimpleNotificationService-1.pem`,
      `http://127.0.0.1:${sns.port}/SimpleNotificationService-1.pem`,
      `http://sns.us-east-1.amazonaws.com:${sns.port}/SimpleNotificationService-1.pem`,
      `http://${SNS_HOST}:${sns.port}/other.pem`,
      `http://x@${SNS_HOST}:${sns.port}/SimpleNotificationService-1.pem`,
      `http://${SNS_HOST}:${sns.port}/SimpleNotificationService-1.pem?x`,
    ])
      await refused(source, call(url));
    await refused(source, call(certificate(), { TopicArn: `${TOPIC}-of-another` }));
    expect(sns.received.length).toBe(asked);
    await refused(source, call(certificate('cert')));
    await refused(source, call(certificate('sns-chain')));
    const changed = call(certificate());
    await refused(source, { ...changed, body: changed.body.replace('jane@good.com', 'eve@good.com') });
    expect((await send(source, call(certificate()))).status).toBe(200);
  });

  it('is asked to confirm a subscription to that topic, at its own address', async () => {
    const source = await connect(await house(), 'ses');
    const signing = { secret: '', id: 'confirm-1', at: Date.now(), certificateUrl: certificate() };
    const fields = {
      Type: 'SubscriptionConfirmation',
      Message: 'You have chosen to subscribe',
      Token: '2336412f37',
      SubscribeURL: `http://127.0.0.1:${sns.port}/elsewhere`,
    };
    const { status, json } = await send(source, { body: snsMessage(fields, signing), headers: TYPE });
    expect([status, json.results]).toEqual([200, []]);
    const { method, path } = sns.received.at(-1)!;
    expect([method, path]).toEqual([
      'GET',
      `/?Action=ConfirmSubscription&TopicArn=${encodeURIComponent(TOPIC)}&Token=2336412f37`,
    ]);
  });
});

it('connects as many providers as an account may have, with secrets that can be theirs', async () => {
  const { member, admin } = await house();
  const path = of(member.account, '/outcome-sources');
  const create = (provider: string) => admin.call('POST', path, { provider, name: 'one' });
  expect(await create('smoke')).toMatchObject({ status: 400, json: { field: 'provider' } });
  for (const provider of ['ses', 'sendgrid', 'mailgun', 'resend']) {
    const { json } = await create(provider);
    for (const secret of [undefined, 'short-one-', 'arn:aws:sns:nowhere']) {
      const rolled = await admin.call('POST', `${path}/${json.source.id}/roll`, secret === undefined ? {} : { secret });
      if (provider === 'mailgun' && secret !== undefined) expect(rolled.status).toBe(200);
      else expect([provider, rolled.status, rolled.json.field]).toEqual([provider, 400, 'secret']);
    }
  }
  for (let n = 4; n < OUTCOME_SOURCES_MAX; n++) expect((await create('brevo')).status).toBe(201);
  expect((await create('brevo')).json.code).toBe('too_many_outcome_sources');
  const stranger = await house();
  const [{ id }] = await listed({ member, admin });
  const theirs = of(stranger.member.account, `/outcome-sources/${id}`);
  expect((await stranger.admin.call('DELETE', theirs)).status).toBe(404);
  expect((await stranger.admin.call('POST', `${theirs}/roll`, {})).status).toBe(404);
});
