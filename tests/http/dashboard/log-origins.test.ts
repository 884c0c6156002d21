/** How the log tells apart through which contract a call came. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Lab, type Member, startLab } from '../../lab/service.ts';
import { type Client, of, signedIn } from './client.ts';

let lab: Lab;
let member: Member;
let ada: Client;

const mcp = (email: string) =>
  member.call(
    'POST',
    '/mcp',
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'verify_email', arguments: { email } } },
    { accept: 'application/json, text/event-stream' },
  );
const kickbox = (email: string) => member.call('GET', `/compat/kickbox/v2/verify?email=${encodeURIComponent(email)}`);
/** At the root. */
const neverbounce = (email: string) => member.call('POST', '/v4/single/check', { key: member.key, email });

beforeAll(async () => {
  lab = await startLab({ MAILVET_COMPAT: 'neverbounce' });
  member = await lab.member();
  ada = await signedIn(lab, { account: member.account, role: 'admin' });
  // Decided within the admission, and after a hold.
  for (const email of ['bob@mailinator.com', 'cy@good.com']) {
    await member.verify(`own-${email}`);
    expect((await kickbox(`kickbox-${email}`)).status).toBe(200);
    expect((await neverbounce(`neverbounce-${email}`)).json.status).toBe('success');
    expect((await mcp(`mcp-${email}`)).status).toBe(200);
  }
  const list = (await member.call('POST', '/v1/lists', { emails: ['list@mailinator.com'] })).json;
  await vi.waitFor(
    async () => expect((await member.call('GET', `/v1/lists/${list.id}`)).json.status).toBe('completed'),
    { timeout: 30_000 },
  );
});
afterAll(() => lab.close());

const search = async (query: Record<string, string>) => {
  return (await ada.call('GET', `${of(member.account, '/log')}?${new URLSearchParams(query)}`)).json;
};
type Json = ReturnType<JSON['parse']>;

it.each([
  ['api', ['own-bob', 'own-cy'], [null, null]],
  ['mcp', ['mcp-bob', 'mcp-cy'], ['mcp', 'mcp']],
  [
    'compat',
    ['kickbox-bob', 'kickbox-cy', 'neverbounce-bob', 'neverbounce-cy'],
    ['kickbox', 'kickbox', 'neverbounce', 'neverbounce'],
  ],
  ['list', ['list'], [null]],
  ['dashboard', [], []],
])('the origin %s', async (origin, names, vias) => {
  const { entries } = await search({ origin });
  const found: [string, string | null][] = entries.map(({ email, via }: Json) => [email.split('@')[0], via]);
  found.sort(([a], [b]) => (a < b ? -1 : 1));
  expect(found).toEqual(names.map((name, i) => [name, vias[i]]));
});

it('of rejected requests, too', async () => {
  const poor = await lab.member({ credits: 0 });
  const bob = await signedIn(lab, { account: poor.account });
  expect((await poor.verify('a@good.com')).status).toBe(402);
  expect((await poor.call('GET', '/compat/kickbox/v2/verify?email=a@good.com')).status).toBe(403);
  const rejectedOf = async (origin: string) => {
    const { json } = await bob.call('GET', `${of(poor.account, '/log')}?${new URLSearchParams({ origin })}`);
    return json.rejected.map(({ route, via }: Json) => [route, via]);
  };
  await expect
    .poll(() => rejectedOf('compat'), { timeout: 30_000 })
    .toEqual([['GET /compat/kickbox/v2/verify', 'kickbox']]);
  expect(await rejectedOf('api')).toEqual([['POST /v1/verify', null]]);
  expect(await rejectedOf('mcp')).toEqual([]);
});
