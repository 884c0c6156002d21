import { describe, expect, it, vi } from 'vitest';
import { brokenRules } from './rooms.ts';
import { allSources } from './syntax.ts';

// Parses every source, which takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const sources = allSources();

describe('the rooms of src', () => {
  it('finds the sources', () =>
    expect(sources.map(({ path }) => path)).toEqual(expect.arrayContaining(['src/kernel/clock.ts', 'tests/rooms.ts'])));

  it('follow the rules in CONTRIBUTING.md', () => {
    expect(sources.flatMap(({ path, text }) => brokenRules(path, text))).toEqual([]);
  });
});

describe('a violation is found', () => {
  const planted: readonly (readonly [path: string, text: string, what: RegExp])[] = [
    ['src/kernel/a.ts', "import { x } from '../engine/x.ts';", /src\/kernel may not import src\/engine/],
    ['src/engine/a.ts', "import type { X } from '../store/store.ts';", /may not import src\/store/],
    ['src/engine/dns/a.ts', "export { x } from '../../config/read.ts';", /may not import src\/config/],
    ['src/engine/a.ts', "export * from '../service/x.ts';", /may not import src\/service/],
    ['src/store/sqlite/a.ts', "import '../../engine/verify.ts';", /may not import src\/engine/],
    ['src/service/a.ts', "const x = await import('../http/app.ts');", /may not import src\/http/],
    ['src/http/routes/a.ts', "import { x } from '../../store/store.ts';", /may not import src\/store/],
    ['src/http/a.ts', "type X = import('../cli/main.ts').X;", /may not import src\/cli/],
    ['src/jobs/a.ts', "import { x } from '../store/store.ts';", /may not import src\/store/],
    ['src/index.ts', "import { x } from './http/app.ts';", /may not import src\/http/],
    ['src/service/a.ts', "import { x } from '../jobs/worker.ts';", /src\/service may not import src\/jobs/],
    ['src/http/a.ts', "import { x } from '../jobs/worker.ts';", /src\/http may not import src\/jobs/],
    ['src/store/a.ts', "import { x } from '../main.ts';", /src\/store may not import src\/main\.ts/],
    ['src/main.ts', "import { x } from './cli/serve.ts';", /src\/main\.ts may not import src\/cli/],
    ['src/main/a.ts', "const x = await import('../cli/serve.ts');", /src\/main may not import src\/cli/],
    ['src/main/a.ts', "import { x } from '../main.ts';", /src\/main may not import src\/main\.ts/],
    ['src/engine/a.ts', "import { x } from '../../sdk/src/index.ts';", /src\/engine may not import sdk/],
    ['src/http/a.ts', "import { x } from '../../web/src/parts/format.ts';", /src\/http may not import web/],
    ['src/cli/a.ts', "import { x } from '../../web/src/parts/format.ts';", /src\/cli may not import web/],
    ['src/http/a.ts', "import { x } from '../../tests/lab/stores.ts';", /src\/http may not import tests/],
    ['sdk/src/a.ts', "import { x } from '../../src/kernel/facts/limits.ts';", /sdk may not import src\/kernel/],
    ['sdk/src/a.ts', "import x from '../../data/reasons.json';", /sdk may not import data/],
    ['sdk/src/a.ts', "import type { X } from '../../web/src/api/schema.ts';", /sdk may not import web/],
    ['sdk/src/a.ts', "import { fetch } from 'undici';", /sdk has no dependencies: undici/],
    ['sdk/src/express.ts', "import { Router } from 'express';", /sdk has no dependencies: express/],
    ['sdk/src/a.ts', "import { connect } from 'node:net';", /sdk has no dependencies: node:net/],
    ['web/src/pages/a.tsx', "import { x } from '../../../src/kernel/ids.ts';", /web may not import src\/kernel/],
    ['src/kernel/ip.ts', "import { isIPv4 } from 'node:net';", /runs in browsers: node:net/],
    ['src/kernel/facts/limits.ts', "import { x } from '../ids.ts';", /runs in browsers: ..\/ids.ts/],
    ['web/src/parts/a.ts', "type X = import('../../../src/service/jobs.ts').X;", /web may not import src\/service/],
    ['web/src/a.ts', "export * from '../../src/index.ts';", /web may not import src\/index\.ts/],
    ['web/src/a.ts', "const x = await import('../../tests/lab/stores.ts');", /web may not import tests/],
    ['src/newroom/a.ts', "import { x } from '../kernel/clock.ts';", /src\/newroom may not import/],
    ['src/http/a.ts', 'const x = process.env.HOME;', /process\.env belongs to src\/config/],
    ['src/cli/a.ts', "const x = process['env'];", /process\.env/],
    ['src/http/a.ts', 'const y = globalThis.process.env;', /process\.env/],
    ['src/http/a.ts', 'const { env } = process;', /process\.env/],
    ['src/http/a.ts', "import { env } from 'node:process';", /process\.env/],
    ['src/store/a.ts', 'const x = new Date();', /new Date belongs to src\/kernel/],
    ['src/store/a.ts', 'const x = Date();', /new Date/],
    ['src/engine/a.ts', 'const x = Date.now();', /Date\.now/],
    ['src/engine/a.ts', 'const now = Date.now;', /Date\.now/],
    ['src/engine/a.ts', 'const x = globalThis.Date.now();', /Date\.now/],
    ['src/engine/a.ts', 'const x = Math.random();', /Math\.random/],
    ['src/engine/a.ts', 'const x = performance.now();', /performance\.now/],
    ['src/http/a.ts', "import { connect } from 'node:net';", /node:net belongs to src\/engine\/dns/],
    ['src/http/a.ts', "import net from 'node:net';", /node:net/],
    ['src/http/a.ts', "import * as net from 'net';", /net belongs/],
    ['src/engine/data/a.ts', "import { resolveMx } from 'node:dns/promises';", /node:dns/],
    ['src/cli/a.ts', "import dgram from 'node:dgram';", /node:dgram/],
    ['src/service/a.ts', "const tls = await import('node:tls');", /node:tls/],
    ['src/engine/a.ts', "import { createServer } from 'node:http';", /node:http belongs to src\/http/],
    ['src/service/a.ts', "const q = 'SELECT id FROM accounts';", /SQL belongs to src\/store/],
    ['src/cli/a.ts', 'const q = `\n update accounts set plan = $' + '{plan}`;', /SQL/],
    ['src/http/a.ts', "db.exec('begin immediate');", /SQL/],
    ['src/http/utils.ts', 'export {};', /the file name/],
    ['src/helpers/a.ts', 'export {};', /the file name/],
    ['tests/http/key-manager.ts', 'export {};', /the file name/],
    ['tests/a.ts', `const x = 1;\n// ${'word '.repeat(24)}`, /a\.ts:2: a comment wider/],
    ['tests/a.ts', 'export const x: any = 1;', /any/],
    ['src/http/a.ts', 'const x = 1; // @ts-ignore', /@ts-ignore/],
  ];
  it.each(planted)('%s (%#)', (path, text, what) => {
    expect(brokenRules(path, text)).toEqual([expect.stringMatching(what)]);
  });

  it('is reported with its line', () => {
    expect(brokenRules('src/http/a.ts', '\n\nDate.now();')[0]).toMatch(/^src\/http\/a\.ts:3: /);
  });
});

describe('allowed code passes', () => {
  const allowed: readonly (readonly [path: string, text: string])[] = [
    ['src/kernel/a.ts', 'export const now = () => new Date(Date.now() + performance.now() * Math.random());'],
    ['src/config/a.ts', 'export const env = process.env;'],
    ['src/http/a.ts', "import { BlockList, isIP, type Socket } from 'node:net';"],
    ['src/http/a.ts', "import type { Socket } from 'node:net'; type S = import('node:net').Socket;"],
    ['src/engine/smtp/a.ts', "import { connect } from 'node:net'; import tls from 'node:tls';"],
    ['src/engine/dns/a.ts', "import { createSocket } from 'node:dgram'; import { getServers } from 'node:dns';"],
    ['src/store/postgres/a.ts', "const q = 'select id from accounts';"],
    ['src/main.ts', "import { x } from './http/app.ts'; import { y } from './store/open.ts';"],
    ['src/cli/a.ts', "import { x } from '../http/app.ts'; import { y } from './b.ts';"],
    ['src/http/a.ts', "import { x } from './b.ts'; import { y } from '../contract/verify.ts';"],
    ['src/cli/a.ts', "import { x } from '../main.ts'; import { y } from '../../sdk/src/index.ts';"],
    ['src/main/a.ts', "import { x } from '../jobs/worker.ts'; import { y } from '../store/store.ts';"],
    ['sdk/src/a.ts', "import { x } from './transport.ts'; export type { X } from './types.ts';"],
    ['sdk/src/nest.ts', "import { HttpException } from '@nestjs/common'; import { x } from './form.ts';"],
    ['web/src/pages/keys/a.tsx', "import { x } from '../../../../sdk/src/index.ts'; import { y } from 'react';"],
    ['web/src/pages/a.tsx', "import { x } from '../../../src/kernel/facts/limits.ts';"],
    ['web/src/pages/a.test.ts', "import { x } from '../../../src/kernel/ip.ts';"],
    ['web/src/a.ts', 'const x = Date.now(); const y = Math.random();'],
    ['scripts/a.ts', "import { x } from '../src/http/app.ts'; import { y } from '../web/vite.config.ts';"],
    [
      'src/http/a.ts',
      "// new Date(), select id from accounts\nconst s = 'Date.now() is for the kernel; Select one from here';",
    ],
    ['src/http/a.ts', "const t: Date = d; const f = { help: 'Update the lists' };"],
    ['src/http/a.test.ts', 'const x = Date.now();'],
    ['tests/http/a.ts', "import { createServer } from 'node:net'; const x = process.env.X;"],
  ];
  it.each(allowed)('%s (%#)', (path, text) => expect(brokenRules(path, text)).toEqual([]));
});
