/** What an operator asks of the command about a service that runs, with the samples of docs/cli.md. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import pkg from '../../package.json' with { type: 'json' };
import { runCli } from '../lab/process.ts';
import { samplesOf } from '../lab/samples.ts';
import { type Lab, type Member, startLab } from '../lab/service.ts';

let lab: Lab;
let member: Member;
let dir: string;
beforeAll(async () => {
  lab = await startLab();
  member = await lab.member();
  dir = mkdtempSync(join(tmpdir(), 'mailvet-cli-service-'));
});
afterAll(async () => {
  rmSync(dir, { recursive: true });
  await lab.close();
});

const here = () => ({ MAILVET_PORT: new URL(lab.url).port });
const server = () => ({ MAILVET_URL: lab.url, MAILVET_KEY: member.key });
const json = async (words: string, environment: Record<string, string>) =>
  JSON.parse((await runCli([...words.split(' '), '--json'], environment)).out);

it('runs the samples of the page', async () => {
  const sample = samplesOf('docs/cli.md').find(({ code }) => code.startsWith('mailvet health'))?.code ?? '';
  for (const line of sample.trim().split('\n'))
    expect(await runCli(line.split(' ').slice(1), here())).toMatchObject({ code: 0, err: '' });
});

describe('health', () => {
  it('is 0 where the service is ready, and says what was checked', async () => {
    const { code, out } = await runCli(['health'], here());
    expect([code, out]).toEqual([0, expect.stringMatching(/^ready\nCHECK +STATUS +REASON\nstore +ok/)]);
    expect(await json('health', here())).toMatchObject({ status: 'ready', checks: { store: { status: 'ok' } } });
  });

  it('is 1 where nothing answers, or another program', async () => {
    expect(await runCli(['health', '--port', '1'])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^mailvet: http:\/\/127\.0\.0\.1:1\/readyz does not answer: .*MAILVET_PORT\?\n$/),
    });
    const dns = await runCli(['health'], { ...here(), MAILVET_HOST: '127.0.0.2' });
    expect(dns.code).toBe(1);
  });
});

describe('options from a file', () => {
  const file = () => join(dir, 'mailvet.env');

  it('are named with their file; those of the environment and flags come first', async () => {
    writeFileSync(
      file(),
      'MAILVET_PORT=4242\nMAILVET_METRICS_TOKEN="a-token-of-20-letters"\nMAILVET_DRAIN_SECONDS=3\n',
    );
    const words = `--env-file ${file()} config --host ::1`;
    const options = await json(words, { MAILVET_DRAIN_SECONDS: '4', MAILVET_RETENTION_DAYS: '7' });
    const of = (name: string) => options.find((one: { name: string }) => one.name === name);
    expect(of('MAILVET_PORT')).toEqual({ name: 'MAILVET_PORT', value: '4242', from: `MAILVET_PORT in ${file()}` });
    expect(of('MAILVET_METRICS_TOKEN')).toMatchObject({ value: '(hidden)' });
    expect(of('MAILVET_DRAIN_SECONDS')).toMatchObject({ value: '4', from: 'MAILVET_DRAIN_SECONDS' });
    expect(of('MAILVET_HOST')).toMatchObject({ value: '::1', from: '--host' });
    expect(of('MAILVET_PUBLIC_URL')).toMatchObject({ value: 'http://[::1]:4242', from: 'default' });
    expect(of('MAILVET_RETENTION_DAYS')).toMatchObject({ value: '7' });
  });

  it('are part of the command of the hints, as a shell reads it', async () => {
    const path = join(dir, "it's a file.env");
    writeFileSync(path, '');
    const { out } = await runCli(['config', '--json', '--env-file', path]);
    const options: readonly { readonly name: string; readonly value: string }[] = JSON.parse(out);
    const hint = options.find(({ name }) => name === 'MAILVET_COMMAND')?.value ?? '';
    const words = execFileSync('sh', ['-c', `printf '%s\\n' ${hint}`], { encoding: 'utf8' })
      .trim()
      .split('\n');
    expect(words.slice(1)).toEqual(['--env-file', path]);
  });

  it('need a path', async () => {
    expect(await runCli(['config', '--env-file'])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^mailvet: --env-file needs/),
    });
    // Node itself looks whether a file of such a flag is there.
    const { code, err } = await runCli(['config', '--env-file', join(dir, 'none')]);
    expect([code, err]).toEqual([9, expect.stringContaining(`${join(dir, 'none')}: not found`)]);
  });
});

it('prints the version with its commit, and the Node that runs it', async () => {
  const { version, commit, node } = await json('version', {});
  expect([version, node]).toEqual([pkg.version, process.versions.node]);
  for (const flag of ['-v', '-V', '--version', 'version'])
    expect((await runCli([flag])).out).toContain(`${version} (${commit === null ? 'from' : `commit ${commit}`}`);
});

describe('completion', () => {
  it('of bash proposes commands, commands of groups, and flags', async () => {
    const script = (await runCli(['completion', 'bash'])).out;
    const proposed = (line: string) => {
      const ask = `${script}\nCOMP_WORDS=(${line} '') COMP_CWORD=${line.split(' ').length}; _mailvet; echo "\${COMPREPLY[@]}"`;
      return execFileSync('bash', ['-c', ask], { encoding: 'utf8' }).trim().split(' ');
    };
    expect(proposed('mailvet')).toEqual(expect.arrayContaining(['serve', 'account', 'completion']));
    expect(proposed('mailvet account')).toEqual(expect.arrayContaining(['create', 'grant']));
    expect(proposed('mailvet account create')).toEqual(expect.arrayContaining(['--name', '--credits', '--json']));
  });

  it.each(['zsh', 'fish'])('of %s names every command', async (shell) => {
    const { out } = await runCli(['completion', shell]);
    for (const word of ['serve', 'webhooks', '--']) expect(out).toContain(word);
  });
});

describe('the account of a key', () => {
  it('usage', async () => {
    expect((await runCli(['usage'], server())).out).toMatch(/^Plan \w+: mx for 1 credit, smtp .*\n.* credits left/);
    expect(await json('usage', server())).toMatchObject({ credits: { locked: 0 } });
  });

  it('webhooks: create, list, disable, test, remove', async () => {
    const made = await json('webhooks create http://127.0.0.1:1/hooks --events list.completed,credits.low', server());
    expect(made).toMatchObject({ events: ['list.completed', 'credits.low'], secret: expect.stringMatching(/^whsec_/) });
    expect((await runCli(['webhooks', 'disable', made.id], server())).out).toContain('disabled');
    expect(await json('webhooks list', server())).toMatchObject([{ id: made.id, enabled: false }]);
    const { code, out } = await runCli(['webhooks', 'test', made.id], server());
    expect([code, out]).toEqual([1, expect.stringMatching(/^failed: /)]);
    expect((await json(`webhooks deliveries ${made.id}`, server())).deliveries).toHaveLength(1);
    expect((await runCli(['webhooks', 'remove', made.id], server())).code).toBe(0);
    expect(await json('webhooks list', server())).toEqual([]);
  });

  it('says which events there are', async () => {
    const { code, err } = await runCli(['webhooks', 'create', 'https://example.com', '--events', 'all'], server());
    expect([code, err]).toEqual([2, expect.stringContaining('list.completed')]);
  });
});
