/** Every sample of the documentation is run: here, or by the test that docs-claims.ts names. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../../scripts/fresh.mjs';
import { readOptions, unknownVariables } from '../../src/config/read.ts';
import { KEY_SCOPES, OPERATOR_SCOPES } from '../../src/kernel/facts/scopes.ts';
import { createKey } from '../../src/service/keys.ts';
import { createOperatorKey } from '../../src/service/operator-keys.ts';
import { SAMPLE_REPORTS } from '../lab/mail-reports.ts';
import { type MailSink, startMailSink } from '../lab/mail-sink.ts';
import { person } from '../lab/person.ts';
import { pathWithMailvet } from '../lab/process.ts';
import { SAMPLE_PAGES, type Sample, samplesOf } from '../lab/samples.ts';
import { type Lab, type Member, startLab } from '../lab/service.ts';
import { CLAIMS } from './docs-claims.ts';

type Json = ReturnType<JSON['parse']>;
const run = promisify(execFile);
const RUNNABLE = ['sh', 'js', 'ts'];

/** The longest beginning that a sample has. */
const claimName = ({ page, code }: Sample): string | undefined =>
  Object.keys(CLAIMS[page] ?? {})
    .filter((start) => code.startsWith(start))
    .sort((a, b) => b.length - a.length)[0];
const claimOf = (sample: Sample) => CLAIMS[sample.page]?.[claimName(sample) ?? ''];

describe('every sample', () => {
  it.each(SAMPLE_PAGES)('of %s is run, or it is said why not', (page) => {
    const samples = samplesOf(page);
    const unclaimed = samples.filter((one) => !RUNNABLE.includes(one.language) && claimOf(one) === undefined);
    expect(unclaimed.map(({ code }) => code)).toEqual([]);
    expect(Object.keys(CLAIMS[page] ?? {}).filter((name) => !samples.some((one) => claimName(one) === name))).toEqual(
      [],
    );
    for (const claim of Object.values(CLAIMS[page] ?? {})) {
      if (!('by' in claim)) continue;
      const reads = existsSync(join(ROOT, claim.by)) && readFileSync(join(ROOT, claim.by), 'utf8').includes(page);
      expect([claim.by, reads]).toEqual([claim.by, true]);
    }
  });

  it('is of a page that exists', () => {
    expect(Object.keys(CLAIMS).filter((page) => !SAMPLE_PAGES.includes(page))).toEqual([]);
  });
});

let lab: Lab;
let sink: MailSink;
/** Of the page. */
let live: Member;
let test: Member;
let dir: string;
/** What the samples need beside the service. */
let environment: Record<string, string>;
beforeAll(async () => {
  const mx = 'gmail-smtp-in.l.google.com';
  lab = await startLab({}, { net: { 'gmail.com': { MX: [[5, mx]] }, [mx]: { A: ['127.0.0.1'] } } });
  sink = await startMailSink();
  dir = mkdtempSync(join(tmpdir(), 'mailvet-samples-'));
  const people = 'Name,Email\nAda,ada@example.com\nBob,domain_not_found@example.com\n';
  for (const name of ['people.csv', 'newsletter.xlsx']) writeFileSync(join(dir, name), people);
  writeFileSync(join(dir, 'blocked.csv'), 'Domain,action\nspam.example.com,\nexample.com,permit\n');
  writeFileSync(join(dir, 'users.tsv'), 'Ada\tada@good.com\n');
  writeFileSync(join(dir, 'bounce.eml'), SAMPLE_REPORTS[0]?.raw ?? '');
  writeFileSync(join(dir, 'password.txt'), 'correct horse battery staple\n');
  const { HOME = '' } = process.env;
  environment = {
    PATH: pathWithMailvet(),
    HOME,
    ROOT: `${ROOT}/`,
    NODE_NO_WARNINGS: '1',
    MAILVET_DATABASE_URL: lab.databaseUrl,
    MAILVET_DNS_SERVERS: `127.0.0.1:${lab.dns.port}`,
    MAILVET_DNS_CONTROL_NAMES: 'none',
    MAILVET_ALLOW_PRIVATE_NETWORKS: 'true',
    MAILVET_LISTS_DIR: lab.listsDir,
    MAILVET_URL: lab.url,
    MAILVET_MAIL_URL: sink.url,
    MAILVET_WEBHOOK_SECRET: `whsec_${'A'.repeat(32)}`,
    MAILVET_OPERATOR_KEY: (await operatorKey()).value,
  };
});
afterAll(async () => {
  rmSync(dir, { recursive: true, force: true });
  await lab.close();
  await sink.close();
});

const operatorKey = () =>
  createOperatorKey(
    lab.store,
    { name: 'samples', allowIps: ['127.0.0.1'], scopes: OPERATOR_SCOPES, expiresAt: Date.now() + 3_600_000 },
    { kind: 'command', id: null, name: 'test', ip: null },
  );

/** Addresses, keys and placeholders of the page as they are here. */
async function here(text: string): Promise<string> {
  // What a page does to an account is not done to its keys here.
  const other = text.includes('_…') ? await lab.member() : null;
  if (other !== null && text.includes('mailvet alerts test'))
    await person(lab, { account: other.account.id, role: 'admin', email: 'ops@example.com' });
  return text
    .replaceAll('http://127.0.0.1:8025', lab.url)
    .replaceAll('https://mailvet.example.com', lab.url)
    .replaceAll('mv_live_…', live.key)
    .replaceAll('mv_test_…', test.key)
    .replaceAll('opk_…', text.includes('opk_…') ? (await operatorKey()).key.id : '')
    .replaceAll('acc_…', other?.account.id ?? '')
    .replaceAll('key_…', other?.keyId ?? '')
    .replaceAll('/backup/', `${dir}/backup-`);
}

/** Variables alone, as in a file of options. */
const OPTIONS = /^(?:#.*\n|\w+=\S+\n)+$/;

async function shell(code: string): Promise<string> {
  if (OPTIONS.test(code)) {
    const set = [...code.matchAll(/^(\w+)=(\S+)$/gm)].map(([, name = '', value = '']) => [name, value]);
    const options = Object.fromEntries(set);
    expect([readOptions(options).ok, unknownVariables(options)]).toEqual([true, []]);
    return '';
  }
  // A reply that is an error fails.
  const local = (await here(code))
    .replaceAll('bin/mailvet.mjs', 'mailvet')
    .replaceAll('curl -s ', '$&--fail-with-body ');
  return (await run('bash', ['-ec', local], { cwd: dir, env: environment })).stdout;
}

/** Runs as a module, with the sources in place of the packages and the DNS of the laboratory. */
async function program(code: string, { before = '', after = '' }): Promise<string> {
  const dns = `dnsServers: ['127.0.0.1:${lab.dns.port}'], dnsControlNames: [], allowPrivateNetworks: true`;
  const text = `${before}\n${await here(code)}\n${after}`
    .replaceAll("'@mailvet/client/testing'", JSON.stringify(join(ROOT, 'sdk/src/testing.ts')))
    .replaceAll("'@mailvet/client'", JSON.stringify(join(ROOT, 'sdk/src/index.ts')))
    .replaceAll("'@mailvet/engine'", JSON.stringify(join(ROOT, 'src/index.ts')))
    .replaceAll('createVerifier()', `createVerifier({ ${dns} })`)
    .replaceAll('createVerifier({ smtp', `createVerifier({ ${dns}, smtp`);
  writeFileSync(join(dir, 'sample.mjs'), text);
  const { stdout } = await run(process.execPath, ['sample.mjs'], { cwd: dir, env: environment });
  // What a comment behind console.log says is printed.
  for (const [, said = ''] of code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)) expect(stdout).toContain(said);
  return stdout;
}

/**
 * Whether all that is shown is there, of the same type, and all that is there is shown, unless only a part of it is
 * shown; what is null or left out (`…`) may be anything.
 */
function expectShape(shown: Json, actual: Json, isPart: boolean, path = ''): void {
  if (shown === null || actual === null || shown === '…') return;
  expect([path, Array.isArray(actual) ? 'array' : typeof actual]).toEqual([
    path,
    Array.isArray(shown) ? 'array' : typeof shown,
  ]);
  if (Array.isArray(shown)) {
    if (shown.length > 0 && actual.length > 0) expectShape(shown[0], actual[0], isPart, `${path}[0]`);
  } else if (typeof shown === 'object') {
    for (const [name, value] of Object.entries(shown).filter(([name]) => name !== '…')) {
      expect(Object.keys(actual), path).toContain(name);
      expectShape(value, actual[name], isPart, `${path}.${name}`);
    }
    if (!isPart && !('…' in shown)) expect(Object.keys(shown).sort(), path).toEqual(Object.keys(actual).sort());
  }
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');
/** A line whose numbers, IDs, times and paths are others. */
const pattern = (line: string): RegExp =>
  new RegExp(
    escaped(line.trim())
      .replaceAll(/\\\/\S*\\\/\S*:/g, '\\S+:')
      .replaceAll(/(acc|key|job|opk)_\w+/g, '$1_\\w+')
      .replaceAll(/\d[\d,:-]*/g, '[\\d.,:-]+')
      .replaceAll(/ +/g, ' +'),
  );

/** What a verdict has anew each time. */
function lasting({ id: _id, duration_ms: _ms, verified_at: _at, ...verdict }: Json): Json {
  return verdict;
}

/** Runs the samples of a page that nobody else runs, in order. */
async function runPage(page: string): Promise<void> {
  live = await lab.member({ plan: 'enterprise', credits: 10_000 });
  test = await lab.testMember(live);
  const name = 'samples';
  const { value } = await createKey(lab.store, live.account.id, { name, allowIps: [], scopes: KEY_SCOPES });
  const { json: filter } = await live.call('POST', '/v1/filters', { value: 'other.example.com' });
  Object.assign(environment, { MAILVET_KEY: value, MAILVET_TEST_KEY: test.key, FILTER_ID: String(filter.id) });
  let printed = '';
  for (const sample of samplesOf(page)) {
    const claim = claimOf(sample) ?? {};
    if ('by' in claim || 'not' in claim) continue;
    const { code, language } = sample;
    if ('printed' in claim) expect(printed).toMatch(pattern(code.split('\n')[0] ?? ''));
    else if ('verdict' in claim) {
      const { json } = await live.verify(claim.verdict);
      const actual = claim.part === undefined ? json : json[claim.part];
      expect(actual).toMatchObject(lasting(JSON.parse(code)));
    } else if ('shape' in claim) {
      const shown = JSON.parse(code);
      const [, path] = claim.shape.split(' /');
      if (claim.shape === 'of the command before') expectShape(shown, JSON.parse(printed), false);
      else if (path !== undefined) expectShape(shown, (await live.call('GET', `/${path}`)).json, true);
    } else if (language === 'sh') printed = await shell(code);
    else {
      const output = await program(code, claim);
      expect(output).toContain(claim.prints ?? '');
    }
  }
}

const TOLD = ['docs', 'README.md', 'SUPPORT.md', 'SECURITY.md', 'CONTRIBUTING.md', 'CHANGELOG.md', '.github', 'man'];
const ELSEWHERE = ['src', 'web/src', 'sdk', 'library', 'clients', 'deploy', 'scripts', '.env.example'];

it('nothing tells people to run a package of the registry that is not published', async () => {
  const args = ['grep', '-lE', 'npx (--yes |-y )?@?mailvet', '--', ...TOLD, ...ELSEWHERE];
  // Git exits with 1 where nothing is found.
  await expect(run('git', args, { cwd: ROOT })).rejects.toMatchObject({ code: 1, stdout: '' });
});

it('each npm package has the license and the notice, as docs/licenses.md says', () => {
  const missing = ['', 'library/dist', 'sdk/dist'].flatMap((folder) =>
    ['LICENSE', 'NOTICE'].map((name) => join(ROOT, folder, name)).filter((path) => !existsSync(path)),
  );
  expect(missing).toEqual([]);
});

/** Pages with nothing to run are not listed. */
const own = SAMPLE_PAGES.filter((page) =>
  samplesOf(page).some((sample) => {
    const claim = claimOf(sample);
    return claim === undefined || !('by' in claim || 'not' in claim);
  }),
);
it.each(own)('the samples of %s work', runPage);
