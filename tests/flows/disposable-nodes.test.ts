/** Disposable lists of several nodes on one store, downloaded every day from a real HTTP server. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { allEntries, LETTER_BIT } from '../../src/engine/data/disposable-file.ts';
import { packagedDir, readDisposable } from '../../src/engine/data/domain-data.ts';
import { signedIn } from '../http/dashboard/client.ts';
import { runCli } from '../lab/process.ts';
import { type Lab, type Member, startLab } from '../lab/service.ts';

const BITS = {
  disposable: LETTER_BIT.a,
  fakefilter: LETTER_BIT.b,
  mailchecker: LETTER_BIT.c,
  tompec: LETTER_BIT.d,
} as const;
type Source = keyof typeof BITS;
const SOON = { timeout: 30_000, interval: 100 };

let server: Server;
/** Null: 500. */
const bodies = new Map<Source, string | null>();
let urls: Record<string, string>;
let nodes: { lab: Lab; member: Member }[] = [];

beforeAll(async () => {
  const packaged = [...allEntries(readDisposable(packagedDir()))];
  for (const [source, bit] of Object.entries(BITS) as [Source, number][]) {
    const names = packaged.filter(([, { bits }]) => (bits & bit) !== 0).map(([name]) => name);
    if (source === 'disposable') names.push('brand-new-burner.com');
    bodies.set(source, source === 'tompec' ? JSON.stringify(names) : names.join('\n'));
  }
  bodies.set('mailchecker', null);
  server = createServer((request, reply) => {
    const body = bodies.get(request.url?.slice(1) as Source) ?? null;
    if (body === null) reply.writeHead(500).end();
    else reply.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  urls = {
    MAILVET_LISTS_DISPOSABLE_URL: `${at}/disposable`,
    MAILVET_LISTS_FAKEFILTER_URL: `${at}/fakefilter`,
    MAILVET_LISTS_MAILCHECKER_URL: `${at}/mailchecker`,
    MAILVET_LISTS_TOMPEC_URL: `${at}/tompec`,
    MAILVET_LISTS_IVOLO_URL: 'none',
  };
  const first = await startLab({ ...urls, MAILVET_LISTS_UPDATE: 'daily' });
  nodes = [{ lab: first, member: await first.member() }];
  const second = await startLab({ ...urls, MAILVET_DATABASE_URL: first.databaseUrl, MAILVET_ROLE: 'api' });
  nodes.unshift({ lab: second, member: await second.member() });
}, 120_000);
afterAll(async () => {
  for (const { lab } of nodes) await lab.close();
  server.close();
});

const disposableEverywhere = (domain: string) =>
  vi.waitFor(async () => {
    for (const { member } of nodes) expect((await member.verify(`a@${domain}`)).json.is_disposable).toBe(true);
  }, SOON);

describe('the disposable lists', () => {
  it('are downloaded by a job, and every node gets them', async () => {
    await disposableEverywhere('brand-new-burner.com');
  });

  it('are shown to operators with their age and size; a source that fails keeps its last good copy', async () => {
    const operator = await signedIn(nodes[0]!.lab, { operator: true });
    const { json } = await operator.call('GET', '/dashboard/operator/lists');
    expect(json).toMatchObject({ problem: null, failed: null, attempted_at: expect.any(String) });
    const known = (name: string) => json.sources.find((source: { name: string }) => source.name === name);
    expect(known('disposable')).toMatchObject({ downloaded_at: expect.any(String), problem: null, license: 'CC0-1.0' });
    expect(known('mailchecker')).toMatchObject({ downloaded_at: null, problem: expect.stringContaining('500') });
    expect(known('mailchecker').domains).toBeGreaterThan(50_000);
    expect(known('ivolo')).toMatchObject({ url: null, downloaded_at: null, problem: null });
    expect((await nodes[0]!.member.verify('a@0-30-24.com')).json.is_disposable).toBe(true);
  });

  it('that a command downloads on one host reach the other nodes', { timeout: 180_000 }, async () => {
    bodies.set('disposable', `${bodies.get('disposable')}\nanother-burner.com`);
    const dir = nodes[1]!.lab.listsDir;
    const { code, out } = await runCli(['disposable', 'update'], { ...urls, MAILVET_LISTS_DIR: dir });
    expect(out).toMatch(/Kept as it was: .*mailchecker/);
    expect(out).toMatch(/ 1 added, 0 removed\.\n$/);
    expect(code).toBe(0);
    await disposableEverywhere('another-burner.com');
  });
});
