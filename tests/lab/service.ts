/**
 * The whole service on loopback: a real store, a real DNS server, real HTTP. The same accounts for all endpoint tests:
 * an owner on Premium, a starter, and an outsider from another account.
 */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EnvironmentVariables, readOptions } from '../../src/config/read.ts';
import { type Clock, systemClock } from '../../src/kernel/clock.ts';
import { createLogger } from '../../src/kernel/log.ts';
import { type Service, startService } from '../../src/main.ts';
import { type CreatedKey, createKey } from '../../src/service/keys.ts';
import type { Account, KeyLimits, Store } from '../../src/store/store.ts';
import { type DnsLab, type FalseAnswers, type Zone, zone } from './dns.ts';
import { type OidcLab, oidcOptions } from './oidc.ts';
import { freshDatabase } from './stores.ts';

/** The lab's DNS zone. Addresses are loopback, because private networks are allowed. */
export const NET: Zone = {
  'good.com': { MX: [[10, 'mx.good.com']] },
  'mx.good.com': { A: ['127.0.0.1'] },
  'google-hosted.com': { MX: [[1, 'aspmx.l.google.com']] },
  'aspmx.l.google.com': { A: ['127.0.0.1'] },
  'no-mail.com': { TXT: ['v=spf1 -all'] },
  'null-mx.com': { MX: [[0, '.']] },
  'hotmail.org': { MX: [[0, '.']] },
  'outlook.fi': { TXT: ['no mail'] },
  'yahoo.lu': { MX: [[10, 'mx.good.com']] },
  'implicit.com': { A: ['127.0.0.1'] },
  'broken-mx.com': { MX: [[10, 'localhost']] },
  'lame.com': { fault: 'servfail' },
  'silent.com': { fault: 'silent' },
  'front.com': { MX: [[10, 'mail.mailinator.com']] },
  'mail.mailinator.com': { A: ['127.0.0.1'] },
};

export interface Lab {
  readonly url: string;
  readonly service: Service;
  readonly store: Store;
  readonly dns: DnsLab;
  readonly databaseUrl: string;
  /** With whom its people sign in; null: with passwords. */
  readonly oidc: OidcLab | null;
  /** Who calls with a new test key of the member's account. */
  testMember(of: Member, limits?: KeyLimits & { allowIps?: string[] }): Promise<Member>;
  readonly listsDir: string;
  /** A separate account with a key. */
  member(
    options?: { plan?: string; credits?: number; rateLimit?: number | null; allowIps?: string[] } & KeyLimits,
  ): Promise<Member>;
  close(): Promise<void>;
}

export interface Member {
  readonly account: Account;
  readonly keyId: string;
  readonly key: string;
  /** A request with this member's key; `body` is sent as JSON unless it is a string. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  verify(email: string, more?: Record<string, unknown>, headers?: Record<string, string>): Promise<Reply>;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Untyped, because tests assert its shape. Null if the reply is not JSON. */
  readonly json: ReturnType<JSON['parse']>;
}

export async function startLab(
  environment: EnvironmentVariables = {},
  parts: {
    net?: Zone;
    falseAnswers?: FalseAnswers;
    clock?: Clock;
    web?: string;
    dashboardPerWindow?: number;
    oidc?: OidcLab;
  } = {},
): Promise<Lab> {
  const dns = await zone({ ...NET, ...parts.net });
  if (parts.falseAnswers) dns.answerFalsely(parts.falseAnswers);
  const database = await freshDatabase();
  const dir = await mkdtemp(join(tmpdir(), 'mailvet-lab-'));
  const read = readOptions({
    MAILVET_DATABASE_URL: database.url,
    MAILVET_PORT: '0',
    MAILVET_DNS_SERVERS: `${dns.address}:${dns.port}`,
    MAILVET_DNS_TIMEOUT_MS: '200',
    MAILVET_DNS_CONTROL_NAMES: 'none',
    MAILVET_ALLOW_PRIVATE_NETWORKS: 'true',
    MAILVET_LISTS_DIR: dir,
    MAILVET_LISTS_UPDATE: 'off',
    MAILVET_LISTS_LEARN_HOSTS: 'false',
    MAILVET_LOG_LEVEL: 'silent',
    MAILVET_SMTP_HELO: 'verifier.lab',
    ...(parts.oidc ? oidcOptions(parts.oidc) : {}),
    ...environment,
  });
  if (!read.ok) throw new Error(read.problems.join('\n'));
  const logger = createLogger(read.options.logLevel);
  const service = await startService(read.options, logger, {
    clock: parts.clock ?? systemClock,
    // No other node is there to go to.
    lameDuckMs: 0,
    ...(parts.web ? { webFolders: [parts.web] } : {}),
    ...(parts.dashboardPerWindow ? { dashboardPerWindow: parts.dashboardPerWindow } : {}),
  });
  const { url, store } = service;
  return {
    url,
    service,
    store,
    dns,
    databaseUrl: database.url,
    oidc: parts.oidc ?? null,
    listsDir: dir,
    member: (options = {}) => memberOf(url, store, options),
    async testMember({ account: live }, { allowIps = [], ...limits } = {}) {
      const account = await store.accounts.testAccount(live.id);
      return caller(url, account, await createKey(store, account.id, { ...limits, name: 'test', allowIps }));
    },
    async close() {
      await service.stop();
      await dns.close();
      await database.drop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

let members = 0;

async function memberOf(url: string, store: Store, options: Parameters<Lab['member']>[0] = {}): Promise<Member> {
  const { plan = 'premium', credits = 1000, rateLimit = null, allowIps = [], ...limits } = options;
  members += 1;
  const account = await store.accounts.create({ name: `member ${members}`, plan, rateLimit, credits });
  return caller(url, account, await createKey(store, account.id, { ...limits, name: 'test', allowIps }));
}

function caller(url: string, account: Account, { key: made, value: key }: CreatedKey): Member {
  const call: Member['call'] = (method, path, body, headers = {}) =>
    request(url, method, path, body, { authorization: `Bearer ${key}`, ...headers });
  return {
    account,
    keyId: made.id,
    key,
    call,
    verify: (email, more = {}, headers = {}) => call('POST', '/v1/verify', { email, ...more }, headers),
  };
}

export async function request(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const sent = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(url + path, {
    method,
    headers: { ...(sent === null ? {} : { 'content-type': 'application/json' }), ...headers },
    body: sent,
    redirect: 'manual',
  });
  const text = await response.text();
  const isJson = /^application\/json(;|$)/.test(response.headers.get('content-type') ?? '');
  const json = isJson ? JSON.parse(text) : null;
  // With a test key, addresses ask for errors of their own.
  const isTest = Object.values(headers).some((value) => value.includes('mv_test_'));
  if (response.status >= 400 && typeof json?.code === 'string' && !isTest) assertDocumented(method, path, json.code);
  return { status: response.status, headers: response.headers, text, json };
}

/** What the public document says of each operation: method, path, and the errors that it can have. */
const DOCUMENTED = Object.entries<Record<string, { 'x-error-codes'?: string[] }>>(
  JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8')).paths,
).flatMap(([template, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    method: method.toUpperCase(),
    path: new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    hasNames: template.includes('{'),
    codes: operation['x-error-codes'] ?? [],
  })),
);

/** An error that the document does not name for the operation fails the test. */
function assertDocumented(method: string, path: string, code: string): void {
  const [pathname = ''] = path.split('?');
  const named = DOCUMENTED.filter((one) => one.method === method && one.path.test(pathname));
  const operation = named.find(({ hasNames }) => !hasNames) ?? named[0];
  // A worker, and a service of an earlier version, has not all paths.
  const isNoPath = code === 'not_found' && operation?.hasNames === false;
  if (operation !== undefined && !isNoPath && !operation.codes.includes(code))
    throw new Error(`The document does not say that ${method} ${pathname} can fail with ${code}.`);
}
