/** MAILVET_STORE_ADDRESSES=hash: verdicts without addresses, on disk and in dumps. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Lab, type Member, startLab } from '../lab/service.ts';
import { ENGINE } from '../lab/stores.ts';

let lab: Lab;
let who: Member;
const ALL = ['verify', 'lists', 'filters', 'log', 'privacy'] as const;
beforeAll(async () => {
  lab = await startLab({ MAILVET_STORE_ADDRESSES: 'hash' });
  who = await lab.member({ rateLimit: 100_000, scopes: ALL });
});
afterAll(() => lab.close());

/** In which of its forms the files of the store, or a dump of the database, have the text. */
function onDisk(text: string): boolean {
  if (ENGINE === 'postgres')
    return execFileSync('pg_dump', ['--data-only', lab.databaseUrl], { maxBuffer: 2 ** 28 }).includes(text);
  const path = lab.databaseUrl.slice('sqlite:'.length);
  return ['', '-wal'].some((end) => existsSync(path + end) && readFileSync(path + end).includes(text));
}
const log = async (query: string) => (await who.call('GET', `/v1/verifications?${query}`)).json.verifications;

it('keeps the verdict, and neither the address nor a part of it', async () => {
  const email = 'Private.Person+tagged@good.com';
  const sent = await who.verify(email, { scope: 'signup', policy: 'signup' }, { 'idempotency-key': 'k1' });
  expect(sent.json).toMatchObject({ email, local_part: 'Private.Person+tagged', tag: 'tagged', domain: 'good.com' });
  const typo = await who.verify('other.person@gmial.com');
  expect(typo.json.did_you_mean).toBe('other.person@gmail.com');
  const [typed, kept] = await log('limit=2');
  for (const part of ['rivate.', 'tagged', 'ther.person']) expect([part, onDisk(part)]).toEqual([part, false]);
  expect(onDisk(kept.email)).toBe(true);
  const of = async ({ id }: { id: string }) => (await who.call('GET', `/v1/verifications/${id}`)).json;
  const {
    email: hash,
    canonical_email,
    local_part,
    tag,
    normalized_email,
    did_you_mean,
    decision,
    ...rest
  } = await of(kept);
  const none = [local_part, tag, normalized_email, did_you_mean, (await of(typed)).did_you_mean];
  expect([hash, canonical_email]).toEqual([kept.email, expect.stringMatching(/^hash:/)]);
  expect(hash).toMatch(/^hash:[\w-]{43}$/);
  expect(none).toEqual([null, null, null, null, null]);
  expect(sent.json).toMatchObject(rest);
  expect(decision).toMatchObject({ action: sent.json.decision.action, message: null });
});

it('answers a repeated request as before', async () => {
  const send = () => who.verify('again.person+x@good.com', { scope: 'signup' }, { 'idempotency-key': 'again' });
  const first = await send();
  const second = await send();
  expect(second.headers.get('idempotency-replayed')).toBe('true');
  expect(second.json).toEqual(first.json);
  expect(onDisk('again.person')).toBe(false);
});

it('finds a whole address, without regard to case, and no part of one', async () => {
  const { json } = await who.verify('find.person@good.com');
  expect((await log('email=FIND.person@good.com')).map(({ id }: { id: string }) => id)).toEqual([json.id]);
  for (const part of ['find.person', 'find.person@good.co', 'xfind.person@good.com'])
    expect([part, await log(`email=${encodeURIComponent(part)}`)]).toEqual([part, []]);
});

it('exports and erases by the address, and by its mailbox', async () => {
  await who.verify('held.person@good.com');
  await who.verify('Held.Person+two@good.com');
  const held = async (canonical: boolean) => {
    const reply = await who.call('POST', '/v1/privacy/export', { email: 'held.person@good.com', canonical });
    return reply.json.held.verifications?.length ?? 0;
  };
  expect([await held(false), await held(true)]).toEqual([1, 2]);
  const erase = (canonical: boolean) =>
    who.call('POST', '/v1/privacy/erase', { email: 'HELD.person@good.com', canonical });
  expect((await erase(false)).json.tables).toMatchObject({ verifications: 1 });
  expect((await erase(true)).json.tables).toMatchObject({ verifications: 1 });
  expect(await held(true)).toBe(0);
});

it('keeps the addresses of a list with its file, and none in the log', async () => {
  const csv = 'email\nlisted.person@good.com\nnobody.person@null-mx.com\n';
  const { json: list } = await who.call('POST', '/v1/lists?name=people', csv, { 'content-type': 'text/csv' });
  const done = async () => expect((await who.call('GET', `/v1/lists/${list.id}`)).json.status).toBe('completed');
  await vi.waitFor(done, { timeout: 30_000, interval: 100 });
  const { json } = await who.call('GET', `/v1/lists/${list.id}/rows`);
  expect(json.rows.map(({ email }: { email: string }) => email)).toEqual(csv.trim().split('\n').slice(1));
  const kept = await log('limit=2');
  expect(kept.map(({ email }: { email: string }) => email.slice(0, 5))).toEqual(['hash:', 'hash:']);
  expect((await log('email=listed.person@good.com')).length).toBe(1);
});
