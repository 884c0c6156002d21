/** The tabs of the guide: each program in each language, as it stands there, with ids of what the service has. */
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { guidePages } from '../../scripts/build/guide-pages.ts';
import { withTabs } from '../../scripts/build/guide-tabs.ts';
import { ROOT } from '../../scripts/fresh.mjs';
import { createMailvet } from '../../sdk/src/index.ts';
import { KEY_SCOPES } from '../../src/kernel/facts/scopes.ts';
import { createKey } from '../../src/service/keys.ts';
import { LANGUAGES } from '../../web/src/pages/reference/samples.ts';
import { SAMPLE_REPORTS } from '../lab/mail-reports.ts';
import { outputsOf, type Program, RUNNABLE } from '../lab/sample-programs.ts';
import { type Lab, startLab } from '../lab/service.ts';

/** Where the pages have the service. */
const ORIGIN = 'http://127.0.0.1:8025';

const { start, sections } = guidePages();
const pages = [start, ...sections.flatMap((section) => section.pages)];
/** The tabs of each group that sends requests to the service of the pages, by label. */
const groups = pages.flatMap(({ name, text }) =>
  [...text.matchAll(/^::: code-group\n([\s\S]*?)^:::$/gm)].flatMap(([, inner = '']) => {
    const tabs = [...inner.matchAll(/^```\w+ \[(\w+)\]\n([\s\S]*?)^```$/gm)];
    const codes = Object.fromEntries(tabs.map(([, label = '', code = '']) => [label, code]));
    return codes.curl?.includes(ORIGIN) ? [{ name, codes }] : [];
  }),
);

it('every request of a page that goes to the API has tabs in all languages', () => {
  expect(groups.length).toBeGreaterThan(25);
  for (const { name, codes } of groups) expect([name, Object.keys(codes)]).toEqual([name, [...LANGUAGES]]);
  const outside = pages.map(({ text }) => text.replaceAll(/^::: code-group\n[\s\S]*?^:::$/gm, ''));
  expect(outside.flatMap((text) => text.match(/^ *curl .*:8025\/v1\/.*Authorization: Bearer \$.*$/gm) ?? [])).toEqual(
    [],
  );
});

it('the page of the clients has a workflow for each task', () => {
  const { text = '' } = pages.find(({ name }) => name === 'clients') ?? {};
  const shown = [...text.matchAll(/^```json \[n8n\]\n([\s\S]*?)^```$/gm)].map(([, json = '']) => JSON.parse(json).name);
  const folder = join(ROOT, 'clients/n8n/workflows');
  const names = readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')).name);
  expect(shown.toSorted()).toEqual(names.toSorted());
});

describe('a request that no program can make', () => {
  it.each([
    ['an option', `curl -s --http2 ${ORIGIN}/v1/usage`, /option --http2/],
    ['a header', `curl -s ${ORIGIN}/v1/usage -H 'X-Other: 1'`, /header x-other/],
    ['an operation', `curl -s ${ORIGIN}/v1/nothing`, /no operation GET \/v1\/nothing/],
    ['keys', `curl -s ${ORIGIN}/v1/usage -H "Authorization: Bearer $A"\ncurl -s ${ORIGIN}/v1/usage`, /several keys/],
  ])('fails the build for %s', (_, command, message) => {
    expect(() => withTabs(`\`\`\`sh\n${command}\n\`\`\`\n`)).toThrow(message);
  });

  it('stays as it is where it does not go to the API', () => {
    for (const command of ['mailvet audit', `curl -s ${ORIGIN}/metrics`, `curl -s ${ORIGIN}/v1/usage\necho done`]) {
      const page = `\`\`\`sh\n${command}\n\`\`\`\n`;
      expect(withTabs(page)).toBe(page);
    }
  });
});

let lab: Lab;
let folder: string;
beforeAll(async () => {
  // Nobody works on lists, so that they stay as a sample needs them.
  lab = await startLab({ MAILVET_ROLE: 'api' }, { net: { 'example.com': { A: ['127.0.0.1'] } } });
  folder = await mkdtemp(join(tmpdir(), 'mailvet-guide-'));
  await writeFile(join(folder, 'people.csv'), 'Name,Email\nAda,ada@example.com\n');
  await writeFile(join(folder, 'blocked.csv'), 'Domain\nspam.example.com\n');
  await writeFile(join(folder, 'bounce.eml'), SAMPLE_REPORTS[0]?.raw ?? '');
});
afterAll(async () => {
  await lab.close();
  await rm(folder, { recursive: true });
});

/** The program with an account of its own, and what the variables in it name. */
async function prepared(code: string): Promise<Program> {
  const member = await lab.member({ plan: 'enterprise', credits: 1000 });
  const { value: MAILVET_KEY } = await createKey(lab.store, member.account.id, {
    name: 'guide',
    allowIps: [],
    scopes: KEY_SCOPES,
  });
  const { lists, filters, webhooks } = createMailvet({ url: lab.url, key: member.key });
  const environment: Record<string, string> = { MAILVET_KEY, MAILVET_TEST_KEY: (await lab.testMember(member)).key };
  if (code.includes('LIST_ID')) {
    const file = new File(['Name,Email\nAda,ada@example.com\n'], 'people.csv');
    environment.LIST_ID = (await lists.create(file, { start: code.includes('pause') })).id;
  }
  if (code.includes('FILTER_ID')) environment.FILTER_ID = String((await filters.add({ value: 'spam.example.org' })).id);
  if (/WEBHOOK_ID|DELIVERY_ID/.test(code)) {
    environment.WEBHOOK_ID = (await webhooks.create({ url: 'http://127.0.0.1:9/', events: ['*'] })).id;
    environment.DELIVERY_ID = (await webhooks.test(environment.WEBHOOK_ID)).id;
  }
  return { code: code.replaceAll(ORIGIN, lab.url), environment };
}

/** The lists have no rows with a result yet. */
const SILENT = /lists\W+(rows|results)|\/(rows|results)\b/;

it.each(RUNNABLE)('every program in %s runs', async (language) => {
  const programs = await Promise.all(groups.map(({ codes }) => prepared(codes[language] ?? '')));
  const outputs = await outputsOf(language, programs, folder);
  const silent = programs.filter((_, n) => outputs[n]?.trim() === '');
  expect(silent.filter(({ code }) => !SILENT.test(code))).toEqual([]);
  expect(outputs).toHaveLength(programs.length);
  for (const name of ['people.results.csv', 'people.results.xlsx', 'filters.csv']) {
    expect((await readFile(join(folder, name))).length).toBeGreaterThan(20);
    await rm(join(folder, name));
  }
});
