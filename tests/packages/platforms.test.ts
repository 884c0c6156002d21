/** What README.md, SUPPORT.md and the manifest promise of the package `mailvet`: each Node, package manager, user. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUN, emptyProject, NODES, run, tarball, tool } from './packed.ts';

const MAILVET = tarball('mailvet');
const COMMAND = 'node_modules/mailvet/bin/mailvet.mjs';
const VERIFY = [COMMAND, 'verify', 'bad@@x', '--json'];

const NPM = ['install', '--no-audit', '--no-fund', '--prefer-offline', MAILVET];
/** How each installs the tarball, and what leaves optional dependencies out. */
const MANAGERS = {
  npm: { command: 'npm', args: NPM, without: '--omit=optional' },
  pnpm: { command: tool('pnpm'), args: ['add', '--prefer-offline', MAILVET], without: '--no-optional' },
  yarn: { command: tool('yarn'), args: ['add', '--no-progress', `file:${MAILVET}`], without: '--ignore-optional' },
  bun: { command: BUN, args: ['add', MAILVET], without: '--omit=optional' },
} as const;
type Manager = keyof typeof MANAGERS;
const NAMES = ['npm', 'pnpm', 'yarn', 'bun'] as const satisfies readonly Manager[];

async function install(manager: Manager, cwd: string, ...flags: string[]): Promise<void> {
  const { command, args } = MANAGERS[manager];
  const installed = await run(cwd, command, [...args, ...flags]);
  expect([manager, installed.code, installed.code === 0 ? '' : installed.stderr]).toEqual([manager, 0, '']);
}

/** Folders whose names have a blank. */
const folders = new Map<Manager, string>();
const bare = new Map<Manager, string>();
const folderOf = (of: ReadonlyMap<Manager, string>, manager: Manager): string => of.get(manager) ?? '';
beforeAll(async () => {
  for (const manager of NAMES) {
    const folder = emptyProject(`with ${manager}`);
    folders.set(manager, folder);
    await install(manager, folder);
    // Not below a folder whose modules have a Node.
    const without = mkdtempSync(join(tmpdir(), `mailvet by ${manager} without optional `));
    bare.set(manager, without);
    writeFileSync(join(without, 'package.json'), '{"private": true}');
    await install(manager, without, MANAGERS[manager].without);
  }
});
afterAll(() => {
  for (const folder of bare.values()) rmSync(folder, { recursive: true, force: true });
});

const everyRun = NAMES.flatMap((manager) =>
  (['20.19', '22', '24'] as const).map((version) => [manager, version] as const),
);

describe('the command', () => {
  it.each(everyRun)('installed by %s runs on Node %s', async (manager, version) => {
    const cwd = folderOf(folders, manager);
    const node = NODES[version];
    const verified = await run(cwd, node, VERIFY, { node });
    expect([verified.code, JSON.parse(verified.stdout)]).toEqual([0, expect.objectContaining({ status: 'bad' })]);
    // As people call it.
    const named = await run(cwd, join(cwd, 'node_modules/.bin/mailvet'), ['version', '--json'], { node });
    expect(JSON.parse(named.stdout).node).toMatch(/^24\./);
  });

  it.runIf(process.getuid?.() === 0).each(everyRun)(
    'installed by %s runs on Node %s as another user than the one who installed it',
    async (manager, version) => {
      const home = mkdtempSync(join(tmpdir(), 'mailvet-nobody-'));
      const store = join(home, 'store');
      const cwd = folderOf(folders, manager);
      const user = ['--reuid=65534', '--regid=65534', '--clear-groups'];
      try {
        await run(cwd, 'install', ['-d', '-o', '65534', '-g', '65534', store]);
        await run(cwd, 'chmod', ['711', home]);
        const env = { MAILVET_DATABASE_URL: `sqlite:${store}/mailvet.db`, HOME: store };
        const migrated = await run(cwd, 'setpriv', [...user, NODES[version], COMMAND, 'migrate'], { env });
        expect([migrated.code, migrated.stderr]).toEqual([0, '']);
        expect(existsSync(join(store, 'mailvet.db'))).toBe(true);
      } finally {
        rmSync(home, { recursive: true });
      }
    },
  );
});

describe('without optional dependencies, installed by', () => {
  const older = NAMES.flatMap((manager) => (['20.19', '22'] as const).map((version) => [manager, version] as const));
  it.each(older)('%s, it says on Node %s what to install', async (manager, version) => {
    const node = NODES[version];
    const { code, stderr } = await run(folderOf(bare, manager), node, VERIFY, { node });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/needs Node 24\.7 or newer[\s\S]*--include=optional/)]);
  });

  it.each(NAMES)('%s, it runs on Node 24', async (manager) => {
    expect(await run(folderOf(bare, manager), NODES['24'], VERIFY)).toMatchObject({ code: 0 });
  });
});
