/** Runs in the copy of changed-limit.test.ts, where names may have 300 characters. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DASHBOARD_ROUTES } from '../../../src/http/dashboard/table.ts';
import { dashboardDocument } from '../../../src/http/openapi.ts';
import { type Client, of, signedIn } from '../../http/dashboard/client.ts';
import { type Lab, type Member, startLab } from '../../lab/service.ts';

let lab: Lab;
let member: Member;
let admin: Client;
beforeAll(async () => {
  lab = await startLab();
  member = await lab.member();
  admin = await signedIn(lab, { account: member.account, role: 'admin' });
});
afterAll(() => lab.close());

const make = (length: number) =>
  admin.call('POST', of(member.account, '/keys'), { name: 'x'.repeat(length), allow_ips: [] });
const rename = (length: number) => admin.call('PATCH', of(member.account, ''), { name: 'x'.repeat(length) });

it.each([
  ['/dashboard/accounts/{account}', 'patch'],
  ['/dashboard/accounts/{account}/keys', 'post'],
  ['/dashboard/accounts/{account}/keys/{id}', 'patch'],
  ['/dashboard/operator/accounts', 'post'],
  ['/dashboard/operator/accounts/{id}', 'patch'],
])('%s: %s describes a name of 300 characters', (path, method) => {
  const { paths } = JSON.parse(JSON.stringify(dashboardDocument(DASHBOARD_ROUTES, lab.url)));
  const { schema } = paths[path][method].requestBody.content['application/json'];
  expect(schema.properties.name.maxLength).toBe(300);
});

it('names of keys and accounts have up to 300 characters', async () => {
  expect((await make(300)).status).toBe(201);
  expect((await rename(300)).status).toBe(200);
});

it('and no more', async () => {
  for (const { status, json } of [await make(301), await rename(301)]) {
    expect(status).toBe(400);
    expect(json).toMatchObject({ code: 'invalid_parameter', field: 'name' });
    expect(json.error).toContain('1 to 300 characters');
  }
});
