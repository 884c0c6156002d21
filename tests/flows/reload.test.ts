/** SIGHUP: what changes while the service runs, and what waits for the next start. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Running, startProcess } from '../lab/process.ts';
import { openSetting, type Setting } from './setting.ts';

const WAIT = { timeout: 30_000 };
const [FIRST, SECOND] = ['first-token-of-the-metrics', 'second-token-of-the-metrics'];

let setting: Setting;
let node: Running;
let dir: string;
const tokenFile = () => join(dir, 'token');
const envFile = () => join(dir, 'mailvet.env');
beforeAll(async () => {
  setting = await openSetting({ credits: 1 });
  dir = mkdtempSync(join(tmpdir(), 'mailvet-reload-'));
  writeFileSync(tokenFile(), `${FIRST}\n`);
  writeFileSync(envFile(), 'MAILVET_LOG_LEVEL=info\n');
  node = await startProcess(
    { ...setting.environment, MAILVET_LOG_LEVEL: '', MAILVET_METRICS_TOKEN_FILE: tokenFile() },
    ['--env-file', envFile()],
  );
});
afterAll(async () => {
  await node.end('SIGTERM');
  await setting.close();
  rmSync(dir, { recursive: true });
});

const lines = (msg: string) => node.printed.filter((line) => line.includes(msg));
async function hangUp(msg: string): Promise<Record<string, unknown>> {
  const before = lines(msg).length;
  node.child.kill('SIGHUP');
  await expect.poll(() => lines(msg).length, WAIT).toBe(before + 1);
  return JSON.parse(lines(msg).at(-1) ?? '');
}
const metrics = async (token: string) =>
  (await fetch(`${node.url}/metrics`, { headers: { authorization: `Bearer ${token}` } })).status;

describe('SIGHUP', () => {
  it('reads the file of a secret again: the old one is of no more use', async () => {
    expect(await Promise.all([metrics(FIRST), metrics(SECOND)])).toEqual([200, 401]);
    writeFileSync(tokenFile(), SECOND);
    expect(await hangUp('read the options again')).toMatchObject({ changed: ['MAILVET_METRICS_TOKEN'] });
    expect(await Promise.all([metrics(FIRST), metrics(SECOND)])).toEqual([401, 200]);
  });

  it('with a mistake, changes nothing and says which', async () => {
    writeFileSync(tokenFile(), '');
    const { problems } = await hangUp('the options stay as they were');
    expect(problems).toEqual([expect.stringContaining(`${tokenFile()} is empty`)]);
    expect(await metrics(SECOND)).toBe(200);
  });

  it('names what waits for the next start, and reads the level of the log', async () => {
    writeFileSync(tokenFile(), SECOND);
    writeFileSync(envFile(), 'MAILVET_LOG_LEVEL=warn\nMAILVET_RETENTION_DAYS=7\nMAILVET_MAIL_URL=smtp://127.0.0.1\n');
    const { options } = await hangUp('take effect at the next start');
    expect(options).toEqual(['MAILVET_MAIL_URL', 'MAILVET_RETENTION_DAYS']);
    const reloads = lines('read the options again').length;
    await hangUp('take effect at the next start');
    // At level `warn`, what is read is not told.
    expect(lines('read the options again')).toHaveLength(reloads);
    expect(node.printed.join()).not.toContain(SECOND);
  });
});
