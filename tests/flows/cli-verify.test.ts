import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DnsLab, zone } from '../lab/dns.ts';
import { runCli } from '../lab/process.ts';
import { NET } from '../lab/service.ts';

let dns: DnsLab;
let dir: string;
let environment: Record<string, string>;

beforeAll(async () => {
  dns = await zone(NET);
  dir = await mkdtemp(join(tmpdir(), 'mailvet-verify-'));
  environment = {
    MAILVET_DNS_SERVERS: `${dns.address}:${dns.port}`,
    MAILVET_DNS_CONTROL_NAMES: 'none',
    MAILVET_ALLOW_PRIVATE_NETWORKS: 'true',
    MAILVET_LISTS_DIR: join(dir, 'lists'),
  };
});
afterAll(async () => {
  await dns.close();
  await rm(dir, { recursive: true, force: true });
});

const cli = (...args: string[]) => runCli(args, environment);

describe('verify', () => {
  it('prints a table by default', async () => {
    const { code, out } = await cli('verify', 'a@good.com', 'someone@mailinator.com', 'a..b@good.com');
    expect(code).toBe(0);
    expect(out).toMatch(/ADDRESS +STATUS/);
    expect(out).toMatch(/a@good\.com +good/);
    expect(out).toMatch(/disposable_domain/);
    expect(out).toMatch(/double_dot/);
  });

  it('prints JSON lines with --json, in order, without a charge', async () => {
    const { out } = await cli('verify', '--json', 'b@null-mx.com', 'a@good.com');
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map((r) => [r.email, r.status, r.credits_used])).toEqual([
      ['b@null-mx.com', 'bad', 0],
      ['a@good.com', 'good', 0],
    ]);
  });

  it('still reports verdicts that need no DNS when no resolver answers', async () => {
    const down = { ...environment, MAILVET_DNS_SERVERS: '127.0.0.1:1', MAILVET_DNS_TIMEOUT_MS: '50' };
    const { code, out } = await runCli(['verify', '--json', 'a..b@x.com', 'a@good.com', 'x@mailinator.com'], down);
    const reasons = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).reason);
    expect([code, reasons]).toEqual([1, ['invalid_format', 'verification_unavailable', 'disposable_domain']]);
  });

  it('escapes control characters in addresses', async () => {
    const { out } = await cli('verify', 'a\u001b[2Jb@good.com');
    expect(out).not.toContain('\u001b');
  });

  it('reads a CSV file and writes one with the result columns appended', async () => {
    const [input, output] = [join(dir, 'in.csv'), join(dir, 'out.csv')];
    await writeFile(input, '\uFEFFName,E-Mail\n"Doe, Jane",jane@good.com\nSpam,x@mailinator.com\n\nEmpty,\n');
    expect(await cli('verify', '--file', input, '--out', output)).toMatchObject({ code: 0, err: '' });
    const lines = (await readFile(output, 'utf8')).trim().split('\n');
    expect(lines[0]).toMatch(/^Name,E-Mail,status,deliverability,reason/);
    expect(lines[1]).toMatch(/^"Doe, Jane",jane@good\.com,good,unknown,,mx,false/);
    expect(lines[2]).toMatch(/^Spam,x@mailinator\.com,bad,risky,disposable_domain/);
    expect(lines[3]).toMatch(/^Empty,,bad,undeliverable,invalid_format/);
    expect(lines).toHaveLength(4);
  });

  it('keeps results under their columns when rows are shorter or longer than the header', async () => {
    const [input, output] = [join(dir, 'ragged.csv'), join(dir, 'ragged-out.csv')];
    await writeFile(input, 'email,name,town\na@good.com\nb@good.com,Bo,Ulm,extra,more\n');
    await cli('verify', '--file', input, '--out', output);
    const [names = [], short = [], long = []] = parse(await readFile(output, 'utf8'), { relax_column_count: true });
    expect(short).toHaveLength(names.length);
    expect([short, long].map((row) => row[names.indexOf('status')])).toEqual(['good', 'good']);
    // What has no column stands behind the last one.
    expect(long.slice(names.length)).toEqual(['extra', 'more']);
  });

  it.each([
    [
      '--out in a folder that does not exist',
      () => ['--file', 'list.csv', '--out', 'missing/x.csv'],
      /missing\/x\.csv/,
    ],
    ['--out that is a folder', () => ['--file', 'list.csv', '--out', '.'], /--out/],
    ['--file that is a folder', () => ['--file', '.'], /--file .* is a folder/],
    ['--out without --file', () => ['a@good.com', '--out', 'x.csv'], /--out .*--file/],
    ['--column without --file', () => ['a@good.com', '--column', 'x'], /--column .*--file/],
    ['--wait without --smtp', () => ['a@good.com', '--wait'], /--wait .*--smtp/],
    ['--evidence without --json', () => ['a@good.com', '--evidence'], /--evidence .*--json/],
  ])('rejects %s with a sentence and exit 2', async (_title, args, message) => {
    await writeFile(join(dir, 'list.csv'), 'email\na@good.com\n');
    const paths = new Set(['list.csv', 'missing/x.csv', '.', 'x.csv']);
    const { code, out, err } = await cli('verify', ...args().map((arg) => (paths.has(arg) ? join(dir, arg) : arg)));
    expect([code, out, err]).toEqual([2, '', expect.stringMatching(message)]);
    expect(err.trim().split('\n')).toHaveLength(1);
  });

  it('writes CSV in which no cell is a formula to a spreadsheet', async () => {
    const [input, output] = [join(dir, 'formulas.csv'), join(dir, 'formulas-out.csv')];
    await writeFile(input, 'email,=x,+x,-x,@x,"\tx","\rx"\n=a@good.com,1,2,3,4,5,6\n');
    await cli('verify', '--file', input, '--out', output);
    const [names = [], row = []] = parse(await readFile(output, 'utf8'));
    expect([...names.slice(1, 7), row[0]].join()).toBe("'=x,'+x,'-x,'@x,'\tx,'\rx,'=a@good.com");
  });

  it('reports unusable input files', async () => {
    const input = join(dir, 'names.csv');
    await writeFile(input, 'first,last\nJane,Doe\n');
    expect(await cli('verify', '--file', input)).toMatchObject({ code: 2, err: expect.stringMatching(/--column/) });
    expect(await cli('verify', '--file', join(dir, 'none.csv'))).toMatchObject({
      code: 2,
      err: expect.stringMatching(/ENOENT/),
    });
  });

  it('writes a complete file when no resolver answers, with a reason for each row without a verdict', {
    timeout: 60_000,
  }, async () => {
    const [input, output] = [join(dir, 'down.csv'), join(dir, 'down-out.csv')];
    await writeFile(input, 'email\na@good.com\na..b@good.com\n');
    const down = { ...environment, MAILVET_DNS_SERVERS: '127.0.0.1:1', MAILVET_DNS_TIMEOUT_MS: '50' };
    const { code, err } = await runCli(['verify', '--file', input, '--out', output], down);
    expect(err).toMatch(/1 of 2 rows have no verdict/);
    expect(code).toBe(1);
    const lines = (await readFile(output, 'utf8')).trim().split('\n');
    expect(lines[1]).toMatch(/^a@good\.com,,,verification_unavailable,/);
    expect(lines[2]).toMatch(/^a\.\.b@good\.com,bad,/);
  });

  it('fails with exit 1 when no resolver answers', async () => {
    const { code, err } = await runCli(['verify', 'a@good.com'], {
      ...environment,
      MAILVET_DNS_SERVERS: '127.0.0.1:1',
      MAILVET_DNS_TIMEOUT_MS: '50',
    });
    expect(err).toMatch(/MAILVET_DNS_SERVERS/);
    expect(code).toBe(1);
  });
});
