/** What README.md, SUPPORT.md and the manifest promise of the package `mailvet`: each Node, package manager, user. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { emptyProject, NODES, run, tarball, tool } from './packed.ts';

const MAILVET = tarball('mailvet');
const COMMAND = 'node_modules/mailvet/bin/mailvet.mjs';
const VERIFY = [COMMAND, 'verify', 'bad@@x', '--json'];
const QUIET = ['--no-audit', '--no-fund', '--prefer-offline'];

/** How each installs the tarball, in a folder whose name has a blank. */
const MANAGERS = {
  npm: (cwd: string) => run(cwd, 'npm', ['install', ...QUIET, MAILVET]),
  pnpm: (cwd: string) => run(cwd, tool('pnpm'), ['add', '--prefer-offline', MAILVET]),
  yarn: (cwd: string) => run(cwd, tool('yarn'), ['add', '--no-progress', `file:${MAILVET}`]),
} as const;
type Manager = keyof typeof MANAGERS;

const folders = new Map<Manager, string>();
beforeAll(async () => {
  for (const manager of ['npm', 'pnpm', 'yarn'] as const) {
    const folder = emptyProject(`with ${manager}`);
    folders.set(manager, folder);
    const installed = await MANAGERS[manager](folder);
    expect([manager, installed.code, installed.code === 0 ? '' : installed.stderr]).toEqual([manager, 0, '']);
  }
});

const everyRun = (['npm', 'pnpm', 'yarn'] as const).flatMap((manager) =>
  (['20.19', '22', '24'] as const).map((version) => [manager, version] as const),
);

describe('the command', () => {
  it.each(everyRun)('installed by %s runs on Node %s', async (manager, version) => {
    const cwd = folders.get(manager) ?? '';
    const node = NODES[version];
    const verified = await run(cwd, node, VERIFY, { node });
    expect([verified.code, JSON.parse(verified.stdout)]).toEqual([0, expect.objectContaining({ status: 'bad' })]);
    // As people call it.
    const named = await run(cwd, join(cwd, 'node_modules/.bin/mailvet'), ['version', '--json'], { node });
    expect(JSON.parse(named.stdout).node).toMatch(/^24\./);
  });

  it.runIf(process.getuid?.() === 0)('runs as another user than the one who installed it', async () => {
    const home = mkdtempSync(join(tmpdir(), 'mailvet-nobody-'));
    const store = join(home, 'store');
    const cwd = folders.get('npm') ?? '';
    const user = ['--reuid=65534', '--regid=65534', '--clear-groups'];
    try {
      await run(cwd, 'install', ['-d', '-o', '65534', '-g', '65534', store]);
      await run(cwd, 'chmod', ['711', home]);
      const env = { MAILVET_DATABASE_URL: `sqlite:${store}/mailvet.db`, HOME: store };
      const migrated = await run(cwd, 'setpriv', [...user, NODES['20.19'], COMMAND, 'migrate'], { env });
      expect([migrated.code, migrated.stderr]).toEqual([0, '']);
      expect(existsSync(join(store, 'mailvet.db'))).toBe(true);
    } finally {
      rmSync(home, { recursive: true });
    }
  });
});

describe('without optional dependencies', () => {
  let folder: string;
  beforeAll(async () => {
    // Not below a folder whose modules have a Node.
    folder = mkdtempSync(join(tmpdir(), 'mailvet without optional '));
    writeFileSync(join(folder, 'package.json'), '{"private": true}');
    writeFileSync(join(folder, '.npmrc'), 'omit=optional\n');
    expect(await run(folder, 'npm', ['install', ...QUIET, MAILVET])).toMatchObject({ code: 0 });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(['20.19', '22'] as const)('says on Node %s what to install', async (version) => {
    const node = NODES[version];
    const { code, stderr } = await run(folder, node, VERIFY, { node });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/needs Node 24\.7 or newer[\s\S]*--include=optional/)]);
  });

  it('runs on Node 24', async () => {
    expect(await run(folder, NODES['24'], VERIFY)).toMatchObject({ code: 0 });
  });
});
