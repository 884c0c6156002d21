import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createWebFiles } from './dashboard/web-files.ts';
import { createGuideFiles } from './guide-files.ts';

it('files are kept whatever names are asked for, and a new build is found', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mailvet-built-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  await mkdir(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), 'index');
  writeFileSync(join(folder, 'assets/app.js'), 'app');
  const guide = createGuideFiles([folder]);
  const web = createWebFiles([folder]);
  const page = await guide.file('index.html');
  const script = await web.asset('app.js', () => false);
  for (let i = 0; i < 5; i += 1) {
    expect(await guide.file(`${i}.html`)).toBeNull();
    expect(await web.asset(`${i}.js`, () => false)).toBeNull();
  }
  expect(page).not.toBeNull();
  expect(await guide.file('index.html')).toBe(page);
  expect((await web.asset('app.js', () => false))?.bytes).toBe(script?.bytes);
  writeFileSync(join(folder, 'new.html'), 'new');
  writeFileSync(join(folder, 'assets/new.js'), 'new');
  await expect.poll(() => guide.file('new.html'), { timeout: 10_000 }).not.toBeNull();
  await expect.poll(() => web.asset('new.js', () => false), { timeout: 10_000 }).not.toBeNull();
});
