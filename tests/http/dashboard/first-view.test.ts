/** What the service renders into the HTML of a page: whose data it is, and that nothing in it can become markup. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Person, person } from '../../lab/person.ts';
import { type Lab, type Member, request, startLab } from '../../lab/service.ts';

const HOSTILE = '</script><script>alert(1)</script><img src=x onerror=alert(2)>" onload="alert(3)__CSP_NONCE__';

let lab: Lab;
let owned: Member;
let owner: Person;
beforeAll(async () => {
  lab = await startLab();
  owned = await lab.member({ credits: 4321 });
  owner = await person(lab, { account: owned.account.id });
  // The thread takes its time to start; until then, pages are sent without.
  while (!(await pageOf(owner, '/')).text.includes('data-first-view="'));
});
afterAll(() => lab.close());

/** The script of pages with a session is loaded with the first. */
const FRAME = /<link rel="modulepreload" [^>]*frame-[^>]*>/;
const pageOf = (who: Pick<Person, 'call'>, path: string) => who.call('GET', path, undefined, { accept: 'text/html' });
const rootOf = (html: string): string => /<div id="root"[\s\S]*?(?=<script type="application)/.exec(html)?.[0] ?? '';
const knownOf = (html: string): [string[], unknown][] =>
  JSON.parse(/<script type="application\/json" id="known">(.*?)<\/script>/.exec(html)![1]!).data;

describe('the HTML of the overview', () => {
  it('has its content for whoever is signed in, and the data that it was made of', async () => {
    await owned.verify('jane@good.com');
    const { status, headers, text } = await pageOf(owner, '/');
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(text).toContain(`<html data-account="${owned.account.id}" `);
    expect(rootOf(text)).toContain('data-first-view');
    expect(rootOf(text)).toMatch(/aria-label="Key figures".*Verifications.*>1</);
    expect(rootOf(text)).toContain('4,320');
    expect(text).toMatch(FRAME);
    const keys = knownOf(text).map(([key]) => key.join(' '));
    expect(keys).toEqual(expect.arrayContaining(['session', `account ${owned.account.id} overview`]));
    expect(keys.every((key) => key === 'session' || key.startsWith(`account ${owned.account.id} `))).toBe(true);
  });

  it('is that of the account in the path: of nobody else, and nothing for strangers', async () => {
    const [other, test] = [await lab.member({ credits: 777_777 }), await lab.testMember(owned)];
    const stranger = await pageOf(owner, `/accounts/${other.account.id}`);
    expect(stranger.status).toBe(200);
    expect(stranger.text).not.toContain('777,777');
    expect(stranger.text).not.toContain('data-first-view="');
    const inTestMode = await pageOf(owner, `/accounts/${test.account.id}`);
    expect(inTestMode.text).toContain(`data-account="${test.account.id}"`);
    expect(rootOf(inTestMode.text)).not.toContain('4,320');
  });

  it('has nothing for a visitor without a session, or with one that is none', async () => {
    for (const cookie of ['', 'mailvet.session_token=made.up']) {
      const { status, text, headers } = await request(lab.url, 'GET', '/', undefined, { cookie });
      expect([status, text.includes('data-first-view="'), text.includes('id="known"')]).toEqual([200, false, false]);
      expect(headers.get('set-cookie') ?? '').not.toContain('made.up');
    }
  });

  it('does not mix what is rendered at the same time', async () => {
    const people = await Promise.all(
      [1, 2].map(async (n) => {
        const { account } = await lab.member({ credits: 5_000_000 + n });
        return { n, who: await person(lab, { account: account.id }) };
      }),
    );
    const pages = await Promise.all(
      [...people, ...people].map(async ({ n, who }) => ({ n, text: (await pageOf(who, '/')).text })),
    );
    const shown = pages.map(({ n, text }) => [n, [...new Set(text.match(/5,000,00\d/g))]]);
    expect(shown).toEqual(pages.map(({ n }) => [n, [`5,000,00${n}`]]));
  });

  it('leaves nothing of one user in what is rendered for the next', async () => {
    const others = await Promise.all(
      [1, 2].map(async () => {
        const { account } = await lab.member();
        return { account, who: await person(lab, { account: account.id }) };
      }),
    );
    const [first, second] = others;
    const before = await pageOf(first!.who, `/accounts/${first!.account.id}`);
    expect(rootOf(before.text)).toContain(first!.account.id);
    // Without an account in the path, and without a session.
    const after = [await pageOf(second!.who, '/'), await request(lab.url, 'GET', '/reset-password')];
    for (const { text } of after) {
      expect(text).toContain('data-first-view="');
      expect(text).not.toContain(first!.account.id);
    }
  });

  it('shows names as they are, whatever is in them', async () => {
    const account = await lab.store.accounts.create({ name: HOSTILE, plan: 'premium', rateLimit: null, credits: 1 });
    const who = await person(lab, { account: account.id, name: HOSTILE });
    const { text } = await pageOf(who, '/');
    expect(text).toContain('&lt;img src=x onerror=alert(2)&gt;');
    for (const markup of ['<img', '<script>alert', 'onload="alert']) expect(text).not.toContain(markup);
    const [, session] = knownOf(text).find(([key]) => key[0] === 'session')!;
    expect(session).toMatchObject({ user: { name: HOSTILE }, accounts: [{ name: HOSTILE }] });
  });
});

describe('the HTML of the sign-in page', () => {
  it('has the form, the same for everybody, with nothing of the request', async () => {
    const ask = (query: string, headers: Record<string, string>) =>
      request(lab.url, 'GET', `/sign-in${query}`, undefined, headers);
    const plain = await ask('', {});
    expect(rootOf(plain.text)).toMatch(/<form.*name="email".*name="password".*>Sign in</);
    expect(plain.text).not.toMatch(FRAME);
    expect((await request(lab.url, 'GET', '/docs/verify')).text).not.toMatch(FRAME);
    const other = await ask('?next=%2Fevil%22%3E', { 'user-agent': 'evil', 'x-forwarded-for': '203.0.113.9' });
    const nonceOf = (html: string) => /name="csp-nonce" content="([^"]+)"/.exec(html)![1]!;
    expect(nonceOf(other.text)).not.toBe(nonceOf(plain.text));
    expect(other.text.replaceAll(nonceOf(other.text), '')).toBe(plain.text.replaceAll(nonceOf(plain.text), ''));
  });

  it('has none for who is signed in', async () => {
    expect((await pageOf(owner, '/sign-in')).text).not.toContain('data-first-view="');
  });
});
