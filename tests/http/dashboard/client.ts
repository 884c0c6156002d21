/** Clients of the dashboard's private API. Every response is validated against the document of its row. */

import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { expect } from 'vitest';
import { DashboardErrorReply } from '../../../src/contract/errors.ts';
import { DASHBOARD_ROUTES } from '../../../src/http/dashboard/table.ts';
import { errorsOf } from '../../../src/http/openapi.ts';
import type { Route } from '../../../src/http/route.ts';
import type { Role } from '../../../src/kernel/facts/roles.ts';
import type { Account } from '../../../src/store/store.ts';
import { type Person, person as personOf } from '../../lab/person.ts';
import { type Lab, type Reply, request } from '../../lab/service.ts';

export interface Client {
  readonly person: Person;
  readonly cookie: string;
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
}

/** A signed-in user, a member of an account or of none. */
export async function signedIn(
  lab: Lab,
  input: { account?: Account; role?: Role; operator?: boolean; email?: string; name?: string } = {},
): Promise<Client> {
  const { account, ...more } = input;
  const person = await personOf(lab, { ...more, ...(account ? { account: account.id } : {}) });
  const cookie = [...person.jar].map(([name, value]) => `${name}=${value}`).join('; ');
  return {
    person,
    cookie,
    call: (method, path, body, headers = {}) => ask(lab.url, method, path, body, { cookie, ...headers }),
  };
}

/** A client without a session. */
export const nobody =
  (lab: Lab): Client['call'] =>
  (method, path, body, headers) =>
    ask(lab.url, method, path, body, headers);

async function ask(...[url, method, path, body, headers]: Parameters<typeof request>): Promise<Reply> {
  const reply = await request(url, method, path, body, headers);
  const row = rowOf(method, path);
  if (row !== undefined) holds(row, reply);
  return reply;
}

const patterns = DASHBOARD_ROUTES.map((row) => {
  const pattern = row.path.replaceAll('.', '\\.').replaceAll(/:[a-z]+/g, '[^/]+');
  return { row, pattern: new RegExp(`^${pattern}$`) };
});
const rowOf = (method: string, path: string): Route | undefined =>
  patterns.find(({ row, pattern }) => row.method === method && pattern.test(path.split('?', 1)[0]!))?.row;

type Check = ReturnType<typeof Compile>;
const compiled = new Map<TSchema, Check>();
function checkOf(schema: TSchema): Check {
  const check = compiled.get(schema) ?? Compile(schema);
  compiled.set(schema, check);
  return check;
}

/** Checks status, type, headers and body against the row. */
function holds(row: Route, reply: Reply): void {
  const what = `${row.method} ${row.path} → ${reply.status} ${reply.text.slice(0, 2000)}`;
  expect(reply.headers.get('cache-control'), what).toBe('no-store');
  const { status = 200, content } = row.output!;
  if (reply.status >= 400) {
    expect(errorsOf(row), what).toContain(reply.status);
    expect(reply.headers.get('www-authenticate'), what).toBe(null);
    expect(checkOf(DashboardErrorReply).Errors(reply.json), what).toEqual([]);
    return;
  }
  expect(reply.status, what).toBe(status);
  if (typeof content === 'string') expect(reply.headers.get('content-type'), what).toBe(`${content}; charset=utf-8`);
  else expect(checkOf(content).Errors(reply.json), what).toEqual([]);
}

/** Path under an account. */
export const of = (account: Account, path = ''): string => `/dashboard/accounts/${account.id}${path}`;
