import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCli } from '../lab/process.ts';
import { type Lab, type Member, startLab } from '../lab/service.ts';

let lab: Lab;
let dir: string;
beforeAll(async () => {
  lab = await startLab();
  dir = mkdtempSync(join(tmpdir(), 'mailvet-cli-filters-'));
});
afterAll(async () => {
  rmSync(dir, { recursive: true });
  await lab.close();
});

const cliOf = (who: Member) => {
  const cli = (...args: string[]) => runCli(['filters', ...args], { MAILVET_URL: lab.url, MAILVET_KEY: who.key });
  const json = async (...args: string[]) => JSON.parse((await cli(...args, '--json')).out);
  return { cli, json };
};
const fileOf = (name: string, content: string | Buffer): string => {
  const path = join(dir, name);
  writeFileSync(path, content);
  return path;
};

it('imports a file, saying how it was read and what cannot be used; lists and exports filters', async () => {
  const [from, to] = [await lab.member({ rateLimit: 100_000 }), await lab.member({ rateLimit: 100_000 })];
  const { cli, json } = cliOf(from);
  const file = fileOf('list.csv', Buffer.from('Domäne;Grund\nspam.com;Käse\ngood.com;\nno such thing;\n', 'latin1'));
  const preview = await cli('import', file, '--dry-run');
  expect(preview.out).toMatch(
    /^Read as csv, delimiter semicolon, windows-1252, header in row 1; values in the column "Domäne"\.$/m,
  );
  expect(preview.out).toMatch(/^Row 4, value: value must be a domain .* It is: no such thing;$/m);
  expect(preview.out).toMatch(/^2 +domain +spam\.com +block +exact +- +Käse$/m);
  expect(preview.out).toMatch(/^3 rows: 2 would be added, 0 there already, 1 invalid$/m);
  expect(preview).toMatchObject({ code: 1, err: 'mailvet: 1 of 3 rows cannot be used.\n' });
  expect((await json('list')).filters).toEqual([]);

  const done = await cli('import', file);
  expect(done).toMatchObject({ code: 1, err: 'mailvet: 1 of 3 rows were not imported.\n' });
  expect(done.out).toMatch(/^3 rows: 2 added, 0 there already, 1 invalid$/m);
  const allow = fileOf('allow.json', JSON.stringify([{ value: 'a@other.com', action: 'allow' }]));
  expect(await cli('import', allow)).toMatchObject({ code: 0, err: '' });
  expect(await json('import', allow)).toMatchObject({ added: 0, existing: 1, read: { format: 'json' } });
  const other = fileOf('other.tsv', 'x\ty\na.com\tb.com\nc.com\td.com\n');
  expect(await json('import', other, '--columns', 'y', '--header-row', '1', '--dry-run')).toMatchObject({
    filters: [{ value: 'b.com' }, { value: 'd.com' }],
  });

  const listed = await cli('list', '--type', 'domain', '--limit', '1');
  expect(listed.out).toMatch(/^\d+ +domain +good\.com +block +exact +- +0 +-$/m);
  expect(listed.out).toMatch(/^2 filters, page 1 of 2$/m);
  expect((await json('list', '--query', 'KÄSE')).filters).toMatchObject([{ value: 'spam.com' }]);

  const out = join(dir, 'filters.csv');
  expect(await cli('export', '--out', out)).toMatchObject({ code: 0, err: '' });
  expect((await cli('export')).out).toBe(readFileSync(out, 'utf8'));
  expect(await cliOf(to).json('import', out)).toMatchObject({ added: 3, existing: 0, invalid: 0 });
});

it('says what is wrong with the command, the file or the server', async () => {
  const { cli } = cliOf(await lab.member());
  expect(await cli('import', join(dir, 'none.csv'))).toMatchObject({ code: 2, err: expect.stringContaining('ENOENT') });
  expect(await cli('import', fileOf('a.pdf', '%PDF-1.7\n'))).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringMatching(/cannot be read/),
  });
  expect(await cli('list', '--type', 'host')).toMatchObject({ code: 2 });
  expect(await cli('export', '--out', join(dir, 'none', 'x.csv'))).toMatchObject({ code: 2 });
  const nobody = await runCli(['filters', 'list'], { MAILVET_URL: lab.url });
  expect(nobody).toMatchObject({ code: 2, err: expect.stringContaining('MAILVET_KEY') });
});
