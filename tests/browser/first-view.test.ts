/**
 * What the first view costs and lets through: its scripts, its content policy, its cookies, and what other sites can
 * do.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeBrowser } from '../lab/browser.ts';
import { type Person, person } from '../lab/person.ts';
import { type Lab, type Member, request, startLab } from '../lab/service.ts';
import { transferred } from '../lab/transfer.ts';
import { button, fillIn, heading } from './steps.ts';

// Fonts and charts, which come by themselves, are not counted.
const MOST_KB = 200;

describeBrowser('the first view', (browser) => {
  let lab: Lab;
  let api: Member;
  let owner: Person;
  beforeAll(async () => {
    lab = await startLab();
    api = await lab.member({ credits: 100 });
    owner = await person(lab, { account: api.account.id });
  });
  afterAll(() => lab.close());

  it(`has at most ${MOST_KB} KB of script beside the charts, which come by themselves`, async () => {
    await api.verify('jane@good.com');
    const { page, requests } = await browser.visit(lab.url, { as: owner });
    await page.locator('main canvas').first().waitFor();
    await page.waitForLoadState('networkidle');
    const first = requests.map(({ url }) => url).filter((url) => url.endsWith('.js'));
    const isChart = (url: string) => /plot/i.test(url);
    expect(first.filter(isChart).length).toBeGreaterThan(0);
    const { bytes, codings } = await transferred(first.filter((url) => !isChart(url)));
    expect(first.length).toBeGreaterThan(2);
    expect(codings).toEqual(new Set(['gzip']));
    expect(bytes / 1000).toBeLessThanOrEqual(MOST_KB);
    expect(bytes / 1000).toBeGreaterThan(50);
  });

  it('lets through scripts and styles of our own only, and cannot be framed', async () => {
    const { headers, text } = await request(lab.url, 'GET', '/');
    const policy = new Map(
      headers
        .get('content-security-policy')!
        .split('; ')
        .map((part) => part.split(/ (.*)/) as [string, string]),
    );
    expect(policy.get('default-src')).toBe("'none'");
    expect(policy.get('script-src')).toMatch(/^'self'( 'sha256-[\w+/]{43}='){2}$/);
    expect(policy.get('style-src')).toMatch(/^'self' 'nonce-[\w+/=]{22,}'$/);
    for (const [name, value] of [
      ['connect-src', "'self'"],
      ['form-action', "'self'"],
      ['frame-ancestors', "'none'"],
      ['base-uri', "'none'"],
    ])
      expect(policy.get(name!)).toBe(value);
    const nonce = /'nonce-([^']+)'/.exec(policy.get('style-src')!)![1]!;
    expect(text).toContain(nonce);
    expect((await request(lab.url, 'GET', '/')).text).not.toContain(nonce);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('the policy is in force: what is injected into the page does not run', async () => {
    const { page, unwatch } = await browser.visit(`${lab.url}/sign-in`);
    await heading(page, 'Sign in').waitFor();
    unwatch();
    const blocked: string[] = [];
    page.on('console', (message) => blocked.push(message.text()));
    await page.evaluate(`{
      const script = document.createElement('script');
      script.textContent = 'window.injected = true';
      document.head.append(script);
      document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="window.injected = true">');
    }`);
    await expect.poll(() => blocked.filter((text) => /content security policy/i.test(text)).length).toBeGreaterThan(1);
    expect(await page.evaluate('window.injected')).toBeUndefined();
  });

  it('keeps the session where no script can read it', async () => {
    const { page, context } = await browser.visit(lab.url, { as: owner });
    await heading(page, 'Overview').waitFor();
    expect(await page.evaluate('document.cookie')).toBe('');
    const fresh = await browser.visit(`${lab.url}/sign-in`);
    await fillIn(fresh.page, { Email: owner.email, Password: owner.password });
    await button(fresh.page, 'Sign in').click();
    await heading(fresh.page, 'Overview').waitFor();
    const cookies = await fresh.context.cookies();
    expect(cookies.length).toBeGreaterThan(0);
    for (const cookie of cookies) expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
    // Another one at every sign-in.
    const tokens = new Set([...cookies, ...(await context.cookies())].map(({ value }) => value));
    expect(tokens.size).toBeGreaterThan(1);
  });

  describe('another site', () => {
    let site: Server;
    let origin: string;
    let html = '';
    beforeAll(async () => {
      site = createServer((_request, reply) => void reply.setHeader('content-type', 'text/html').end(html));
      await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
      // Another site, not only another origin: ports make no difference to cookies.
      origin = `http://localhost:${(site.address() as AddressInfo).port}`;
    });
    afterAll(() => void site.close());

    const keysOf = async () => (await lab.store.keys.list(api.account.id)).length;

    /** Somebody who is signed in here visits there. */
    async function visitor() {
      const { page, unwatch } = await browser.visit(lab.url, { as: owner });
      await heading(page, 'Overview').waitFor();
      unwatch();
      await page.goto(origin);
      return page;
    }

    it('can do nothing with a form', async () => {
      const path = `${lab.url}/dashboard/accounts/${api.account.id}/keys`;
      html = `<!doctype html><title>Elsewhere</title><form method="post" enctype="text/plain" action="${path}">
        <input name='{"name": "stolen", "x": "' value='"}'><button>Win</button></form>`;
      const page = await visitor();
      const before = await keysOf();
      const answered = page.waitForResponse(path);
      await page.getByRole('button', { name: 'Win' }).click();
      expect((await answered).status()).toBe(403);
      expect(await keysOf()).toBe(before);
    });

    it('can do nothing with a script', async () => {
      html = '<!doctype html><title>Elsewhere</title>';
      const page = await visitor();
      const before = await keysOf();
      const path = `${lab.url}/dashboard/accounts/${api.account.id}/keys`;
      for (const type of ['application/json', 'text/plain']) {
        const init = {
          method: 'POST',
          credentials: 'include',
          headers: { 'content-type': type },
          body: '{"name":"stolen"}',
        };
        const call = `fetch(${JSON.stringify(path)}, ${JSON.stringify(init)}).then((r) => 'read ' + r.status, () => 'refused')`;
        expect(await page.evaluate(call)).toBe('refused');
      }
      expect(
        await page.evaluate(`fetch('${lab.url}/dashboard/session', { credentials: 'include' })
        .then((r) => 'read ' + r.status, () => 'refused')`),
      ).toBe('refused');
      expect(await keysOf()).toBe(before);
    });

    it('cannot show our pages within its own', async () => {
      html = `<!doctype html><title>Elsewhere</title><iframe src="${lab.url}/" title="framed"></iframe>`;
      const page = await visitor();
      await page.waitForLoadState('networkidle');
      expect(await page.frameLocator('iframe').getByRole('heading', { name: 'Overview' }).count()).toBe(0);
      expect(await page.frameLocator('iframe').locator('#root').count()).toBe(0);
    });
  });
});
