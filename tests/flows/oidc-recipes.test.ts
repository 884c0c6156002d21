/** The recipes for OpenID providers: the options of each page, with the claims that its provider documents. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { ROOT } from '../../scripts/fresh.mjs';
import { readOptions } from '../../src/config/read.ts';
import { OIDC_FAILURES } from '../../src/service/sign-in/oidc-failures.ts';
import { type OidcLab, oidcOptions, startOidc } from '../lab/oidc.ts';
import { browser, signInByOidc } from '../lab/person.ts';
import { type Lab, startLab } from '../lab/service.ts';

type Claims = Readonly<Record<string, unknown>>;
interface Provider {
  readonly page: string;
  /** Path of the issuer, as the page has it. */
  readonly path: string;
  readonly idToken: Claims;
  readonly userInfo?: Claims;
  /** Whether the provider counts as a second factor. */
  readonly secondFactor: boolean;
}

const EMAIL = 'jane@example.com';
const PROVIDERS: readonly Provider[] = [
  {
    page: 'docs/recipes/keycloak.md',
    path: '/realms/staff',
    // https://www.keycloak.org/docs/latest/server_admin/ (protocol mappers, step-up authentication)
    idToken: {
      sub: 'f:1:jane',
      sid: '0b7d',
      typ: 'ID',
      acr: '2',
      azp: 'mailvet-lab',
      auth_time: 1,
      email: EMAIL,
      email_verified: true,
      name: 'Jane Doe',
      preferred_username: 'jane',
      realm_access: { roles: ['offline_access', 'default-roles-staff', 'mailvet-admin'] },
    },
    secondFactor: true,
  },
  {
    page: 'docs/recipes/authentik.md',
    path: '/application/o/mailvet/',
    // https://docs.goauthentik.io/add-secure-apps/providers/oauth2/ (default scopes)
    idToken: {
      sub: 'a hash of the user',
      acr: 'goauthentik.io/providers/oauth2/default',
      amr: ['pwd', 'mfa'],
      sid: 's1',
      email: EMAIL,
      email_verified: true,
      name: 'Jane Doe',
      given_name: 'Jane Doe',
      nickname: 'jane',
      groups: ['authentik Admins', 'Mailvet admins'],
    },
    secondFactor: false,
  },
  {
    page: 'docs/recipes/entra-id.md',
    path: '/00000000-0000-0000-0000-000000000000/v2.0',
    // https://learn.microsoft.com/entra/identity-platform/id-token-claims-reference
    idToken: {
      sub: 'pairwise',
      oid: '22222222-2222-2222-2222-222222222222',
      tid: '00000000-0000-0000-0000-000000000000',
      ver: '2.0',
      name: 'Jane Doe',
      preferred_username: EMAIL,
      email: EMAIL,
      xms_edov: true,
      roles: ['admin'],
    },
    secondFactor: false,
  },
  {
    page: 'docs/recipes/okta.md',
    path: '',
    // https://developer.okta.com/docs/api/openapi/okta-oauth/guides/overview/ (tokens and claims)
    idToken: {
      sub: '00u1',
      ver: 1,
      amr: ['mfa', 'otp', 'pwd'],
      idp: '00o1',
      auth_time: 1,
      name: 'Jane Doe',
      preferred_username: EMAIL,
      email: EMAIL,
    },
    userInfo: { email_verified: true, zoneinfo: 'America/Los_Angeles', groups: ['mailvet-admins'] },
    secondFactor: true,
  },
];

const read = (page: string) => readFileSync(join(ROOT, page), 'utf8');
/** The options of each sample of the page. */
const samplesOf = (page: string): Record<string, string>[] =>
  [...read(page).matchAll(/```ini\n([\s\S]*?)```/g)].map(([, sample = '']) =>
    Object.fromEntries(
      sample
        .trim()
        .split('\n')
        .map((line) => line.split(/=(.*)/s).slice(0, 2)),
    ),
  );

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});
/** Closes it after the test. */
const opened = <T extends Lab | OidcLab>(one: T): T => {
  open.push(one);
  return one;
};

it.each(PROVIDERS)('the recipe for $page lets its people in, with their role', async (provider) => {
  const [{ MAILVET_OIDC_CLIENT_SECRET_FILE: file, ...options } = {}] = samplesOf(provider.page);
  expect(new URL(options.MAILVET_OIDC_ISSUER!).pathname.replace(/^\/$/, '')).toBe(provider.path);
  expect(file).toBe('/etc/mailvet/oidc-secret');
  const oidc = opened(await startOidc(provider.path));
  oidc.userInfo = provider.userInfo ?? null;
  const first = opened(await startLab());
  const { account } = await first.member();
  await first.service.stop();
  // What belongs to the place alone is replaced: issuer, client, account.
  const { MAILVET_OIDC_NAME: _name, ...place } = oidcOptions(oidc);
  const database = { MAILVET_DATABASE_URL: first.databaseUrl };
  const lab = opened(await startLab({ ...options, ...place, ...database, MAILVET_OIDC_ACCOUNT: account.id }));
  const window = browser(lab.url);
  const reply = await signInByOidc(window, oidc, provider.idToken);
  expect([reply.status, reply.json]).toEqual([200, { second_factor: false, confirmed: null }]);
  const { user, accounts, oidc: offer } = (await window.call('GET', '/dashboard/session')).json;
  expect(user).toMatchObject({ email: EMAIL, name: 'Jane Doe', with_second_factor: provider.secondFactor });
  expect(accounts).toMatchObject([{ id: account.id, role: 'admin' }]);
  expect(offer.name).toBe(options.MAILVET_OIDC_NAME);
  const nobody = { ...provider.idToken, sub: 'another', roles: [], groups: ['x'], realm_access: {} };
  oidc.userInfo = { ...provider.userInfo, groups: ['x'] };
  expect((await signInByOidc(browser(lab.url), oidc, nobody)).status).toBe(403);
});

it('the page on OpenID Connect has every reason with its sentence', () => {
  const rows = Object.entries(OIDC_FAILURES).map(([reason, sentence]) => `| \`${reason}\` | ${sentence} |`);
  expect(read('docs/oidc.md')).toContain(rows.join('\n'));
});

it('the samples of the page on OpenID Connect are options that fit together', () => {
  const { MAILVET_OIDC_CLIENT_SECRET_FILE: _file, ...options } = Object.assign({}, ...samplesOf('docs/oidc.md'));
  const read = readOptions({ ...options, MAILVET_OIDC_ACCOUNT: options.MAILVET_OIDC_ACCOUNT.replace('…', '1') });
  expect(read.ok ? [] : read.problems).toEqual([]);
});
