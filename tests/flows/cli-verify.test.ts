import { execFileSync } from 'node:child_process';
import { access, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import readXlsx from 'read-excel-file/node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { RESULT_COLUMNS, RESULT_PREFIX } from '../../src/files/result-columns.ts';
import { type DnsLab, zone } from '../lab/dns.ts';
import { runCli, spawnCli } from '../lab/process.ts';
import { NET } from '../lab/service.ts';

let dns: DnsLab;
let dir: string;
let environment: Record<string, string>;

beforeAll(async () => {
  const host = 'us-smtp-inbound-1.mimecast.com';
  dns = await zone({ ...NET, 'filtered-mail.com': { MX: [[10, host]] }, [host]: { A: ['127.0.0.1'] } });
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

  it('names the provider, what its hosts do unless they have mailboxes, and who runs a relay', async () => {
    const { out } = await cli('verify', 'jane@filtered-mail.com', 'jane@google-hosted.com', 'a1@duck.com');
    expect(out).toMatch(/^jane@filtered-mail\.com .* mimecast \(gateway\)$/m);
    expect(out).toMatch(/^jane@google-hosted\.com .* google$/m);
    expect(out).toMatch(/^a1@duck\.com .*relay: DuckDuckGo Email Protection$/m);
    const json = JSON.parse((await cli('verify', '--json', 'jane@filtered-mail.com')).out);
    expect(json).toMatchObject({ relay_provider: null, checks: { mx: { provider_kind: 'gateway' } } });
  });

  it('says what a built-in policy decides, without a service', async () => {
    const addresses = ['a@good.com', 'someone@mailinator.com', 'a@null-mx.com'];
    const { code, out } = await cli('verify', ...addresses, '--policy', 'signup');
    expect(code).toBe(0);
    expect(out).toMatch(/^ADDRESS .* REASON +DECISION +NOTES$/m);
    expect(out).toMatch(/^a@good\.com .* accept +/m);
    expect(out).toMatch(/^someone@mailinator\.com .* reject \(disposable\) +/m);
    const lines = (await cli('verify', '--json', '--policy', 'strict', ...addresses)).out.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).decision)).toMatchObject([
      { action: 'accept', because: [], message: null },
      { action: 'reject', because: ['disposable'], message: 'Use a permanent email address.' },
      { action: 'reject', because: ['undeliverable'] },
    ]);
    const file = join(dir, 'decided.csv');
    await writeFile(file, `email\n${addresses.join('\n')}\n`);
    const csv = (await cli('verify', '--file', file, '--policy', 'signup')).out;
    const rows: Record<string, string>[] = parse(csv, { columns: true });
    expect(rows.map((row) => row['mailvet_decision'])).toEqual(['accept', 'reject', 'reject']);
    expect(await cli('verify', addresses[0]!, '--policy', 'mine')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/no policy "mine" without a service, only "signup" or "strict"/),
    });
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

  it.each([
    ['Ada <ada@gmail.com>', 'ada@gmail.com'],
    ['mailto:ada@gmail.com', 'ada@gmail.com'],
    ['ada@gmail.com,', 'ada@gmail.com'],
    ['ada@gmail,com', 'ada@gmail.com'],
    ['ada@@gmail.com', 'ada@gmail.com'],
    // In NFC, the Greek question mark is a semicolon.
    ['me.\u{37E}@good.com', null],
  ])('calls %j malformed and suggests %s', async (email, did_you_mean) => {
    const { out } = await cli('verify', '--json', email);
    expect(JSON.parse(out)).toMatchObject({ email, status: 'bad', reason: 'invalid_format', did_you_mean });
  });

  it('drops white space around an address', async () => {
    const { out } = await cli('verify', '--json', ' a@good.com \u{A0}');
    expect(JSON.parse(out)).toMatchObject({ status: 'good', normalized_email: 'a@good.com' });
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
    await writeFile(input, '\uFEFFName,E-Mail\n"Doe, Jane",Jane <jane@good.com>\nSpam,x@mailinator.com\n\nEmpty,\n');
    expect(await cli('verify', '--file', input, '--out', output)).toMatchObject({ code: 0, err: '' });
    const lines = (await readFile(output, 'utf8')).trim().split('\r\n');
    expect(lines[0]).toBe(['Name', 'E-Mail', ...RESULT_COLUMNS.map((name) => RESULT_PREFIX + name)].join(','));
    expect(lines[1]).toMatch(/^"Doe, Jane",Jane <jane@good\.com>,good,unknown,,,mx,false,false,false,false,,0,20/);
    expect(lines[2]).toMatch(/^Spam,x@mailinator\.com,bad,risky,disposable_domain/);
    // Rows without an address stay in their place.
    expect(lines.slice(3)).toEqual([
      `,${','.repeat(RESULT_COLUMNS.length)}`,
      `Empty,${','.repeat(RESULT_COLUMNS.length)}`,
    ]);
  });

  it('keeps results under their columns when rows are shorter or longer than the header', async () => {
    const [input, output] = [join(dir, 'ragged.csv'), join(dir, 'ragged-out.csv')];
    await writeFile(input, 'email,name,town\na@good.com\nb@good.com,Bo,Ulm,extra,more\nc@good.com,Cy,Ulm\n');
    await cli('verify', '--file', input, '--out', output);
    const [names = [], short = [], long = []] = parse(await readFile(output, 'utf8'), { relax_column_count: true });
    expect(short).toHaveLength(names.length);
    expect([short, long].map((row) => row[names.indexOf('mailvet_status')])).toEqual(['good', 'good']);
    // What has no column stands behind the last one.
    expect(long.slice(names.length)).toEqual(['extra', 'more']);
  });

  it('replaces the results of an earlier run, through XLSX and JSON Lines', async () => {
    const [csv, xlsx, again, jsonl] = ['1.csv', '2.xlsx', '3.csv', '4.jsonl'].map((name) => join(dir, `chain-${name}`));
    await writeFile(join(dir, 'chain.csv'), 'Kontakt E-Mail;Ort\na@good.com;Köln\nb@null-mx.com;"=1+1\n"\n');
    const files = [join(dir, 'chain.csv'), csv, xlsx, again, jsonl].map((name) => name ?? '');
    for (const [i, file] of files.slice(0, -1).entries())
      expect(await cli('verify', '--file', file, '--out', files[i + 1] ?? '')).toMatchObject({ code: 0, err: '' });
    // In the dialect of the file that was asked about.
    const read = async (path = '', delimiter = ',') =>
      parse(await readFile(path, 'utf8'), { delimiter }).map((row) => row.slice(0, 5));
    expect(await read(again)).toEqual(await read(csv, ';'));
    const cells = (await readXlsx(xlsx ?? '', { trim: false })).flatMap(({ data }) =>
      data.map((row) => row.slice(0, 5)),
    );
    expect(cells).toEqual([
      ['Kontakt E-Mail', 'Ort', 'mailvet_status', 'mailvet_deliverability', 'mailvet_reason'],
      ['a@good.com', 'Köln', 'good', 'unknown', null],
      ['b@null-mx.com', '=1+1\n', 'bad', 'undeliverable', 'null_mx'],
    ]);
    const lines = (await readFile(jsonl ?? '', 'utf8')).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line)).map(({ row, email, status }) => [row, email, status])).toEqual([
      [1, 'a@good.com', 'good'],
      [2, 'b@null-mx.com', 'bad'],
    ]);
  });

  it('reads standard input, and writes only the rows asked for', async () => {
    const args = ['verify', '--file', '-', '--only', 'undeliverable,risky', '--concurrency', '2'];
    const input = 'a@good.com\nb@null-mx.com\nc@good.com\n\nd@mailinator.com\n';
    const { code, out, err } = await runCli(args, environment, input);
    expect([code, err]).toEqual([0, '']);
    expect(parse(out).map(([email]) => email)).toEqual(['email', 'b@null-mx.com', 'd@mailinator.com']);
  });

  it('reads a named pipe, such as <(…) of a shell, once', async () => {
    const [pipe, output] = [join(dir, 'people.pipe'), join(dir, 'piped.csv')];
    execFileSync('mkfifo', [pipe]);
    const writing = writeFile(pipe, 'email\na@good.com\nb@null-mx.com\n');
    expect(await cli('verify', '--file', pipe, '--out', output)).toMatchObject({ code: 0, err: '' });
    await writing;
    expect(parse(await readFile(output, 'utf8')).map(([email]) => email)).toEqual([
      'email',
      'a@good.com',
      'b@null-mx.com',
    ]);
  });

  it('writes to a named pipe or a device without taking its place', async () => {
    const pipe = join(dir, 'results.pipe');
    execFileSync('mkfifo', [pipe]);
    const reading = readFile(pipe, 'utf8');
    const input = ['verify', '--file', '-', '--out', pipe] as const;
    const { code, err } = await runCli(input, environment, 'a@good.com\n');
    expect([code, err]).toEqual([0, '']);
    expect((await stat(pipe)).isFIFO()).toBe(true);
    expect(parse(await reading).map(([email]) => email)).toEqual(['email', 'a@good.com']);
  });

  it('leaves a link for --out in its place, and never replaces the input', async () => {
    const [input, output, link] = [join(dir, 'own.csv'), join(dir, 'linked.csv'), join(dir, 'link.csv')];
    await writeFile(input, 'email,name\na@good.com,Ann\n');
    await writeFile(output, 'old');
    await symlink('linked.csv', link);
    expect(await cli('verify', '--file', input, '--out', link)).toMatchObject({ code: 0, err: '' });
    expect([await readlink(link), await readFile(output, 'utf8')]).toEqual([
      'linked.csv',
      expect.stringMatching(/Ann/),
    ]);
    await rm(output);
    expect((await cli('verify', '--file', input, '--out', link)).err).toMatch(/a link to nothing/);
    await symlink('own.csv', output);
    const { code, err } = await cli('verify', '--file', input, '--out', link, '--only', 'risky');
    expect([code, err]).toEqual([2, `mailvet: --out would replace ${input}, which is the input: give another name.\n`]);
    expect(await readFile(input, 'utf8')).toBe('email,name\na@good.com,Ann\n');
  });

  it('asks once about a mailbox with --dedupe mailbox, and marks repeated rows either way', async () => {
    const input = join(dir, 'mailboxes.csv');
    const many = Array.from({ length: 60 }, (_, i) => `j.doe+${i}@gmail.com`).join('\n');
    await writeFile(input, `email\nJ.Doe@gmail.com\n${many}\nbo+x@good.com\nbo@good.com\nJ.Doe@gmail.com\n`);
    const checked = async (...more: string[]) => {
      const { code, out } = await cli('verify', '--file', input, '--format', 'jsonl', ...more);
      expect(code).toBe(0);
      return out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    };
    const byMailbox = await checked('--dedupe', 'mailbox');
    const jane = byMailbox.filter(({ email }) => email.endsWith('@gmail.com'));
    expect(jane.map((row) => row.is_duplicate)).toEqual([false, ...Array.from({ length: 61 }, () => true)]);
    expect(new Set(jane.map((row) => [row.id, row.verified_at, row.canonical_email].join(' '))).size).toBe(1);
    // What only the spelling says is that of the row.
    expect(jane[3]).toMatchObject({ email: 'j.doe+2@gmail.com', normalized_email: 'j.doe+2@gmail.com', tag: '2' });
    const others = byMailbox.filter(({ email }) => email.endsWith('@good.com'));
    expect(others.map((row) => [row.email, row.is_duplicate])).toEqual([
      ['bo+x@good.com', false],
      ['bo@good.com', false],
    ]);
    expect(new Set(others.map(({ id }) => id)).size).toBe(2);
    const byAddress = await checked();
    expect(byAddress.filter((row) => row.is_duplicate).map(({ email }) => email)).toEqual(['J.Doe@gmail.com']);
    expect(new Set(byAddress.map(({ id }) => id)).size).toBe(byAddress.length);
    expect(await cli('verify', '--dedupe', 'mailbox', 'a@good.com')).toMatchObject({ code: 2 });
  });

  it('keeps a row that cannot be read, and names its line', async () => {
    const input = join(dir, 'quotes.csv');
    await writeFile(input, 'email,name\na@good.com,"open\nb@good.com,"Bo"\n');
    const { code, out, err } = await cli('verify', '--file', input);
    expect(err).toBe('mailvet: 1 of 2 rows cannot be read (line 2: text follows a closing quote).\n');
    const [, broken = [], good = []] = parse(out);
    expect([code, broken[0], broken[4], good[2]]).toEqual([1, 'a@good.com,"open', 'unreadable_row', 'good']);
  });

  it.each([
    ['kill -9', 'SIGKILL'],
    ['Ctrl-C', 'SIGINT'],
  ] as const)('continues after %s with --resume, and only then', async (_title, signal) => {
    const [input, output] = [join(dir, `${signal}.csv`), join(dir, `${signal}-out.xlsx`)];
    // The first rows are finished at once, the others not before the resolver answers.
    const rows = Array.from({ length: 3000 }, (_, i) => `u${i}@${i < 2990 ? 'good' : 'late'}.com,${i}`);
    await writeFile(input, `email,n\n${rows.join('\n')}\n`);
    dns.set('late.com', { fault: 'silent' });
    const args = ['verify', '--file', input, '--out', output, '--timeout-ms', '30000'];
    const slow = { ...environment, MAILVET_DNS_TIMEOUT_MS: '10000' };
    const first = spawnCli(args, slow);
    await vi.waitFor(() => access(`${output}.part.json`), { timeout: 30_000 });
    first.child.kill(signal);
    const { code, err } = await first.done;
    // As a run leaves it that is killed while it stores its progress.
    await writeFile(`${output}.part.json.new`, '{');
    dns.set('late.com', NET['good.com'] ?? {});
    if (signal === 'SIGINT') {
      expect(code).toBe(130);
      expect(err).toMatch(/^mailvet: Stopped after [\d,]+ rows in .*: [\d,]+ good, 0 bad\. .*--resume continues\.\n$/);
    }
    expect(await runCli(args, slow)).toMatchObject({ code: 2, err: expect.stringMatching(/--resume/) });
    const other = await runCli([...args, '--resume', '--only', 'risky'], slow);
    expect(other).toMatchObject({ code: 2, err: expect.stringMatching(/cannot be continued/) });
    expect(await runCli([...args, '--resume'], slow)).toMatchObject({ code: 0, err: '' });
    const [sheet] = await readXlsx(output);
    expect(sheet?.data.slice(1).map(([email, n]) => `${email},${n}`)).toEqual(rows);
    expect((await readdir(dir)).filter((name) => name.includes('.part'))).toEqual([]);
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
    ['--resume of a pipe', () => ['--file', '-', '--out', 'x.csv', '--resume'], /--resume needs files/],
    ['--resume into a device', () => ['--file', 'list.csv', '--out', '/dev/null', '--resume'], /--resume needs files/],
    ['--resume without --out', () => ['--file', 'list.csv', '--resume'], /--resume .*--out/],
    ['an unknown verdict in --only', () => ['--file', 'list.csv', '--only', 'good'], /--only takes/],
    ['--column without --file', () => ['a@good.com', '--column', 'x'], /--column .*--file/],
    ['--wait without --smtp', () => ['a@good.com', '--wait'], /--wait .*--level smtp/],
    ['two levels', () => ['a@good.com', '--smtp', '--level', 'mx'], /other names for --level/],
    ['two other levels', () => ['a@good.com', '--validation-type', 'mx', '--level', 'smtp'], /other names for --level/],
    ['--evidence without --json', () => ['a@good.com', '--evidence'], /--evidence .*--json/],
  ])('rejects %s with a sentence and exit 2', async (_title, args, message) => {
    await writeFile(join(dir, 'list.csv'), 'email\na@good.com\n');
    const paths = new Set(['list.csv', 'missing/x.csv', '.', 'x.csv']);
    const { code, out, err } = await cli('verify', ...args().map((arg) => (paths.has(arg) ? join(dir, arg) : arg)));
    expect([code, out, err]).toEqual([2, '', expect.stringMatching(message)]);
    expect(err.trim().split('\n')).toHaveLength(1);
  });

  it('writes CSV in which the cells of the file keep their values', async () => {
    const [input, output] = [join(dir, 'formulas.csv'), join(dir, 'formulas-out.csv')];
    await writeFile(input, 'email,=x,+x,-x,@x,"\tx","\rx"\n=a@good.com,1,2,3,4,5,6\n');
    await cli('verify', '--file', input, '--out', output);
    const [names = [], row = []] = parse(await readFile(output, 'utf8'));
    expect([...names.slice(1, 7), row[0]]).toEqual(['=x', '+x', '-x', '@x', '\tx', '\rx', '=a@good.com']);
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

  it('stops after a hundred rows when no resolver answers, and --resume goes on with the first of them', {
    timeout: 120_000,
  }, async () => {
    const [input, output] = [join(dir, 'outage.csv'), join(dir, 'outage-out.csv')];
    const rows = Array.from({ length: 300 }, (_, i) => `a${i}@good.com`);
    await writeFile(input, `email\na..b@good.com\n${rows.join('\n')}\n`);
    const down = { ...environment, MAILVET_DNS_SERVERS: '127.0.0.1:1', MAILVET_DNS_TIMEOUT_MS: '50' };
    const stopped = await runCli(['verify', '--file', input, '--out', output], down);
    expect(stopped).toMatchObject({
      code: 1,
      err: expect.stringMatching(/stopped: 100 rows have no verdict.*--resume/),
    });
    const resumed = await runCli(['verify', '--file', input, '--out', output, '--resume'], environment);
    expect([resumed.code, resumed.err]).toEqual([0, '']);
    const lines = (await readFile(output, 'utf8')).trim().split('\n');
    expect(lines).toHaveLength(302);
    expect(lines.slice(2).every((line) => line.includes(',good,'))).toBe(true);
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
