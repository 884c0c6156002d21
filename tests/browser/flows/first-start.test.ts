import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeBrowser } from '../../lab/browser.ts';
import { type DnsLab, zone } from '../../lab/dns.ts';
import { NET, request } from '../../lab/service.ts';
import { type Database, freshDatabase } from '../../lab/stores.ts';
import { button, dialog, expectText, field, fillIn, goTo, heading, rowOf, says, signInAs, signOut } from '../steps.ts';

const CLI = fileURLToPath(new URL('../../../bin/mailvet.mjs', import.meta.url));
const LINK = /http:\/\/\S+\/setup#token=\S+/;

/** `serve --first-account` as `npm run up` begins it, with everything that it says. */
async function firstStart(environment: Record<string, string>) {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [CLI, 'serve', '--first-account'], {
    env: {
      PATH,
      HOME,
      NODE_NO_WARNINGS: '1',
      MAILVET_PORT: '0',
      MAILVET_LOG_LEVEL: 'debug',
      MAILVET_DRAIN_SECONDS: '0',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text));
  await expect.poll(() => said, { timeout: 20_000 }).toMatch(/API reference: \S+\n[\s\S]*\n/);
  return {
    /** Until now. */
    said: () => said,
    url: /listening on (\S+)/.exec(said)![1]!,
    link: LINK.exec(said)?.[0] ?? null,
    async end() {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    },
  };
}

describeBrowser('the first start', (browser) => {
  let dns: DnsLab;
  let database: Database;
  beforeAll(async () => {
    dns = await zone(NET);
    database = await freshDatabase({ empty: true });
  });
  afterAll(async () => {
    await dns.close();
    await database.drop();
  });
  const environment = () => ({
    MAILVET_DATABASE_URL: database.url,
    MAILVET_DNS_SERVERS: `${dns.address}:${dns.port}`,
    MAILVET_DNS_CONTROL_NAMES: 'none',
    MAILVET_ALLOW_PRIVATE_NETWORKS: 'true',
    MAILVET_SMTP_HELO: 'verifier.lab',
  });
  const owner = { name: 'Ada Lind', email: 'ada@good.com', password: 'a long enough pass phrase' };

  it('from the printed link to the first verification with the key just made', async () => {
    const before = await firstStart(environment());
    const stale = before.link!;
    await before.end();
    const service = await firstStart(environment());
    expect(service.link).not.toBeNull();
    const { page, refused } = await browser.visit(service.url);
    await heading(page, 'Not set up yet').waitFor();

    await page.goto(service.link!);
    await heading(page, 'Set up Mailvet').waitFor();
    expect(page.url()).not.toContain('token');
    await fillIn(page, { 'Your name': owner.name, Email: owner.email, Password: 'too short' });
    await button(page, 'Set up').click();
    await says(page, /Use at least 12 characters/);
    await field(page, 'Password').fill(owner.password);
    await button(page, 'Set up').click();
    await heading(page, 'Overview').waitFor();
    await expectText(page.getByRole('region', { name: 'Balance' })).toContain('Unlimited credits');

    await goTo(page, 'API keys');
    await button(page, 'Create API key').click();
    await field(dialog(page), 'Name').fill('First of mine');
    await button(dialog(page), 'Create key').click();
    const key = (await dialog(page).getByLabel('API key', { exact: true }).textContent()) ?? '';
    await button(dialog(page), 'Done').click();
    const reply = await request(
      service.url,
      'POST',
      '/v1/verify',
      { email: 'jane@good.com' },
      { authorization: `Bearer ${key}` },
    );
    expect(reply).toMatchObject({ status: 200, json: { status: 'good', credits_used: 1 } });

    await goTo(page, 'Log');
    await expectText(rowOf(page, 'jane@good.com')).toContain('First of mine');
    await goTo(page, 'Overview');
    await page.reload();
    await expectText(page.getByRole('region', { name: 'Balance' })).toContain('99,999 of 100,000');

    // Used up, and that of the start before died with it.
    for (const link of [service.link!, stale.replace(/^.*(?=\/setup)/, service.url)]) {
      await page.goto('about:blank');
      await page.goto(link);
      refused(410, '/dashboard/setup');
      await fillIn(page, { 'Your name': 'Eve', Email: 'eve@good.com', Password: owner.password });
      await button(page, 'Set up').click();
      await heading(page, 'This link is no longer valid').waitFor();
    }
    const secrets = [key, owner.password, new URL(service.link!).hash.replace('#token=', '')];
    const logged = service.said().replace(service.link!, '');
    for (const secret of secrets) expect(logged).not.toContain(secret);
    expect(logged).not.toMatch(/session_token=/);
    await service.end();
  });

  it('prints no link once somebody can sign in; who owns it signs in and is the operator', async () => {
    const service = await firstStart(environment());
    expect(service.link).toBeNull();
    const { page } = await browser.visit(service.url);
    await signInAs(page, owner);
    await heading(page, 'Overview').waitFor();
    await goTo(page, 'Operator', 'Accounts');
    await rowOf(page, 'Default').waitFor();
    await signOut(page);
    await service.end();
  });
});
