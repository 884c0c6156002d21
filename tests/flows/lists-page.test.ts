/** The samples of docs/lists.md, as they stand there, with a test key in a service without DNS and mail servers. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { RESULT_COLUMNS, RESULT_PREFIX } from '../../src/files/result-columns.ts';
import { pathWithMailvet } from '../lab/process.ts';
import { type Lab, type Member, startLab } from '../lab/service.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/lists.md'), 'utf8');
const ADDRESS = 'http://127.0.0.1:8025';

/** The samples of a section. */
function samples(section: string, language = 'sh'): string[] {
  const [, text = ''] = PAGE.split(`## ${section}\n`);
  const [own = ''] = text.split('\n## ');
  const found = [...own.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))];
  expect(found.length).toBeGreaterThan(0);
  return found.map(([, code = '']) => code);
}

let lab: Lab;
let live: Member;
let test: Member;
/** Does no work on lists, so that they keep running. */
let idle: Lab;
let dir: string;
beforeAll(async () => {
  lab = await startLab({ MAILVET_DNS_SERVERS: '127.0.0.1:9' });
  live = await lab.member();
  test = await lab.testMember(live);
  idle = await startLab({ MAILVET_ROLE: 'api' });
  dir = mkdtempSync(join(tmpdir(), 'mailvet-lists-page-'));
  const [, file = ''] = /```sh\n(printf .*)\n/.exec(PAGE) ?? [];
  await sh(lab, test, file);
});
afterAll(async () => {
  rmSync(dir, { recursive: true, force: true });
  await idle.close();
  await lab.close();
});

async function run(file: string, args: readonly string[], { key }: Member, more = {}): Promise<string> {
  const env = { ...process.env, PATH: pathWithMailvet(), MAILVET_KEY: key, ...more };
  return (await promisify(execFile)(file, args, { cwd: dir, env })).stdout;
}

/** What the commands print. */
const sh = ({ url }: Lab, who: Member, commands: string, listId = ''): Promise<string> => {
  const local = commands.replaceAll(ADDRESS, url);
  return run('bash', ['-ec', local], who, { LIST_ID: listId });
};
const replies = async (...args: Parameters<typeof sh>): Promise<ReturnType<JSON['parse']>[]> =>
  JSON.parse(`[${(await sh(...args)).replaceAll('}{', '},{')}]`);

const ended = (id: string) =>
  vi.waitFor(
    async () => {
      const { json } = await test.call('GET', `/v1/lists/${id}`);
      expect(json.status).toBe('completed');
      return json;
    },
    { timeout: 30_000, interval: 50 },
  );

it('uploads in three forms; the list runs to its end with the results that the addresses select, for nothing', async () => {
  const [form = '', file = '', json = ''] = samples('Upload');
  const [uploaded = ''] = samples('Upload', 'json');
  const [shown = ''] = samples('Progress', 'json');
  const [list] = await replies(lab, test, form);
  expect(list).toMatchObject(JSON.parse(uploaded));
  expect(await ended(list.id)).toMatchObject({ ...JSON.parse(shown), credits: { price: 0, held: 0, used: 0 } });
  expect((await replies(lab, test, samples('Progress').join(''), list.id))[0].status).toBe('completed');
  const [page] = await replies(lab, test, samples('Rows').join(''), list.id);
  expect(page.rows).toMatchObject([
    { row: 2, reason: 'domain_not_found', credits_used: 0 },
    { row: 3, reason: 'domain_not_found', credits_used: 0 },
  ]);

  const [line = ''] = (await sh(lab, test, samples('Results').join(''), list.id)).split('\n');
  expect(JSON.parse(line)).toMatchObject({ email: 'ada@example.com', status: 'good', data: { Name: 'Ada' } });
  const [head, ada] = readFileSync(join(dir, 'people.results.csv'), 'utf8').split('\r\n');
  const names = RESULT_COLUMNS.map((name) => RESULT_PREFIX + name);
  expect(head).toBe(['Name', 'Email', ...names].join(','));
  expect([...PAGE.matchAll(/`(mailvet_\w+)`/g)].map(([, name]) => name).filter((name) => name !== 'mailvet_')).toEqual(
    names,
  );
  expect(ada).toMatch(/^Ada,ada@example\.com,good,deliverable,/);
  expect(readFileSync(join(dir, 'people.results.xlsx')).subarray(0, 2).toString()).toBe('PK');

  const [ready] = await replies(lab, test, file);
  expect(ready).toMatchObject({ name: 'people', status: 'ready', rows: list.rows });
  const [started] = await replies(lab, test, samples('Price and start').join(''), ready.id);
  expect(started).toMatchObject({ id: ready.id, error: null });
  await ended(ready.id);
  const [array] = await replies(lab, test, json);
  expect(await ended(array.id)).toMatchObject({ rows: { total: 2, addresses: 2 }, by_reason: { domain_not_found: 1 } });

  expect(await replies(lab, test, samples('Deleting').join(''), list.id)).toMatchObject([{ status: 'success' }]);
  expect((await test.call('GET', `/v1/lists/${list.id}`)).status).toBe(404);
  expect(await lab.store.accounts.audit()).toEqual([]);
});

it('is a list of a test key with results of the level smtp', async () => {
  const selectors = ['ada', 'catch_all', 'mailbox_not_found', 'greylisted', 'slow+3000', 'invalid_api_key'];
  const emails = selectors.map((name) => `${name}@example.com`);
  const before = (await live.call('GET', '/v1/usage')).json.credits;
  const { json } = await test.call('POST', '/v1/lists', { emails, validation_type: 'smtp' });
  const list = await ended(json.id);
  expect(list).toMatchObject({
    progress: { done: 6, waiting: 0 },
    by_reason: { catch_all: 1, mailbox_not_found: 1, greylisted: 1 },
    credits: { price: 0, held: 0, used: 0 },
  });
  const { rows } = (await test.call('GET', `/v1/lists/${json.id}/rows`)).json;
  const reasons = rows.map(({ reason }: { reason: string | null }) => reason);
  expect(reasons).toEqual([null, 'catch_all', 'mailbox_not_found', 'greylisted', null, null]);
  expect((await live.call('GET', '/v1/usage')).json.credits).toEqual(before);
  expect(await lab.store.accounts.audit()).toEqual([]);
});

it('is paused, resumed and cancelled', async () => {
  const owner = await idle.member();
  const [list] = await replies(idle, owner, samples('Upload')[0] ?? '');
  const changed = await replies(idle, owner, samples('Pause, resume, cancel').join(''), list.id);
  expect(changed.map(({ status, credits }) => [status, credits.held])).toEqual([
    ['paused', 20],
    ['running', 20],
    ['cancelled', 0],
  ]);
});

it('is submitted by the command', async () => {
  const { json } = await test.call('POST', '/v1/lists', { emails: ['ada@example.com'], validation_type: 'smtp' });
  await ended(json.id);
  expect(await sh(lab, test, samples('Command line').join(''), json.id)).toMatch(/people\.csv: completed/);
  expect(readFileSync(join(dir, 'people.results.csv'), 'utf8')).toMatch(/\r\nada@example\.com,good/);
});
