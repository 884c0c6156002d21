/** Other services' contracts with values that no client of theirs sends: each is read, or an error of the caller. */
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseAddress } from '../../src/engine/address/parse.ts';
import { type Lab, type Member, request, startLab } from '../lab/service.ts';
import type { Json } from './compat-clients.ts';

let lab: Lab;
let owner: Member;
beforeAll(async () => {
  lab = await startLab();
  owner = await lab.member({ plan: 'starter', credits: 1000, rateLimit: 1000 });
});
afterAll(() => lab.close());

/** Deeper than what can be made a text again. */
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const NO_PRIMITIVE = '{"toString":1,"valueOf":1}';

let domains = 0;
/** Not known yet, so that its check has to wait and credits are held. */
const unknownAddress = (): string => `a@unknown-${domains++}.com`;

const get = (path: string) => request(lab.url, 'GET', `/compat/${path}`);
const post = (path: string, body: string) => request(lab.url, 'POST', `/compat/${path}`, body);

it.each([
  '1500.5',
  '1e400',
  '-1',
  '',
  'soon',
  '0x10',
  '١',
])('a time limit of %j is no reason to fail', async (limit) => {
  const timeout = encodeURIComponent(limit);
  const { key } = owner;
  const replies = [
    await get(`kickbox/v2/verify?email=${unknownAddress()}&timeout=${timeout}&apikey=${key}`),
    await get(`emailable/v1/verify?email=${unknownAddress()}&timeout=${timeout}&api_key=${key}`),
    await get(`zerobounce/v2/validate?email=${unknownAddress()}&timeout=${timeout}&api_key=${key}`),
    await get(`neverbounce/v4/single/check?email=${unknownAddress()}&timeout=${timeout}&key=${key}`),
  ];
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(replies.map(({ json }) => json.state ?? json.result ?? json.status)).toEqual([
    'undeliverable',
    'undeliverable',
    'invalid',
    'invalid',
  ]);
});

it.each([
  ...['2.0005', 'null', 'true', '[]', '{}'].map((timeout) => [timeout, timeout]),
  ['an object without a text', NO_PRIMITIVE],
  ['a list without a text', nested(7_000)],
])('nor is one of another type: %s', async (_name, timeout) => {
  const { key } = owner;
  const single = await post(
    'neverbounce/v4/single/check',
    `{"key":"${key}","email":"${unknownAddress()}","timeout":${timeout}}`,
  );
  expect(single.json).toMatchObject({ status: 'success', result: 'invalid' });
  const batch = await post(
    'zerobounce/v2/validatebatch',
    `{"api_key":"${key}","timeout":${timeout},"email_batch":[{"email_address":"${unknownAddress()}"}]}`,
  );
  expect(batch.json).toMatchObject({ email_batch: [{ status: 'invalid' }], errors: [] });
});

it.each([
  ['a number', '7'],
  ['an object', NO_PRIMITIVE],
  ['a list that cannot be written', nested(10_000)],
])('what is no address keeps no result of its batch: %s', async (_name, what) => {
  const email = unknownAddress();
  const { json } = await post(
    'zerobounce/v2/validatebatch',
    `{"api_key":"${owner.key}","email_batch":[{"email_address":"${email}"},{"email_address":${what},"ip_address":${what}}]}`,
  );
  expect(json.email_batch).toMatchObject([{ address: email, status: 'invalid' }]);
  expect(json.errors).toEqual([{ error: expect.stringContaining('email_address'), email_address: '' }]);
});

/** Temporary files without a name that this process has open. */
const temporaryFiles = (): string[] =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`);
      return /mailvet-\w+\/upload \(deleted\)$/.test(target) ? [target] : [];
    } catch {
      // Closed meanwhile.
      return [];
    }
  });

it.runIf(existsSync('/proc/self/fd'))('a bulk job that is not JSON leaves no file open', async () => {
  const before = temporaryFiles();
  const addresses = JSON.stringify(Array.from({ length: 60_000 }, (_, i) => `somebody-${i}@good.com`));
  const { status } = await request(lab.url, 'POST', '/compat/reacher/v1/bulk', `{"input":${addresses},x}`, {
    'x-reacher-secret': owner.key,
  });
  expect(status).toBe(400);
  expect(temporaryFiles()).toEqual(before);
});

const CHARACTERS = "abz09._-!#$%&'*/=?^{|}~`";
const word = fc.string({ unit: fc.constantFrom(...CHARACTERS), minLength: 1, maxLength: 5 });

/** How clients write an address into a query or a form, and the pluses in it. */
const SPELLINGS: readonly ((email: string) => string)[] = [
  // As it is: only what would end the parameter is encoded, and what would not be an address otherwise.
  (email) => email.replace(/[%&#?^{|}`]/g, encodeURIComponent),
  (email) => encodeURI(email).replace(/[&#]/g, encodeURIComponent),
  encodeURIComponent,
  (email) => encodeURIComponent(email).replaceAll('%2B', '+'),
];

it('a plus of an address arrives as one, in every query and form', async () => {
  const { key } = await lab.testMember(owner);
  const form = (path: string, body: string) =>
    request(lab.url, 'POST', `/compat/${path}`, body, { 'content-type': 'application/x-www-form-urlencoded' });
  /** The address that was judged, by each route that takes one in a query or a form. */
  const routes: readonly ((email: string) => Promise<{ json: Json }>)[] = [
    (email) => get(`kickbox/v2/verify?apikey=${key}&email=${email}`),
    (email) => get(`emailable/v1/verify?email=${email}&api_key=${key}`),
    (email) => get(`zerobounce/v2/validate?email=${email}&api_key=${key}`),
    (email) => get(`neverbounce/v4/single/check?email=${email}&key=${key}&address_info=1`),
    (email) => post(`neverbounce/v4.2/single/check?email=${email}&key=${key}&address_info=1`, ''),
    (email) => form('emailable/v1/verify', `email=${email}&api_key=${key}`),
    (email) => form('neverbounce/v4/single/check', `key=${key}&address_info=1&email=${email}`),
  ];
  const judged = async (one: (typeof routes)[number], sent: string) => {
    const { json } = await one(sent);
    return json.address_info?.normalized ?? json.email ?? json.address;
  };
  const address = fc.array(word, { minLength: 2, maxLength: 4 }).map((words) => `${words.join('+')}@example.com`);
  await fc.assert(
    fc.asyncProperty(address, fc.constantFrom(...SPELLINGS), fc.constantFrom(...routes), async (email, spell, one) => {
      if (!parseAddress(email).ok) return;
      expect(await judged(one, spell(email))).toBe(email.toLowerCase());
    }),
    {
      numRuns: 100,
      examples: routes.map((one): [string, (typeof SPELLINGS)[number], (typeof routes)[number]] => [
        'help+me@example.com',
        SPELLINGS[0]!,
        one,
      ]),
    },
  );
  for (const one of routes) {
    // Blanks around it, as a form sends them, and a plus at its beginning.
    expect((await judged(one, '+ada%40example.com+')).trim()).toBe('ada@example.com');
    expect(await judged(one, '+ada@example.com')).toBe('+ada@example.com');
    // A blank is none where it may be one: in quotes, or after a name.
    expect(await judged(one, '%22a+b%22%40example.com')).toContain('"a b"');
  }
});

it('a search for an address finds its plus, and says how it was read', async () => {
  await owner.call('POST', '/v1/filters', { value: 'help+me@plus.com' });
  const found = await owner.call('GET', '/v1/filters?query=help+me@plus.com');
  expect(found.json.filters).toMatchObject([{ value: 'help+me@plus.com' }]);
  expect(found.json.warnings).toEqual(['query was read as "help+me@plus.com": write + as %2B.']);
  // A form encodes the at sign, and means blanks.
  expect((await owner.call('GET', '/v1/filters?query=help+me%40plus.com')).json.filters).toEqual([]);
});
