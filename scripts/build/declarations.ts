import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { ROOT } from '../fresh.mjs';

/** `from './a.ts'` and `import('./a.ts')`, as the compiler prints them. */
const SPECIFIER = /((?:from|import\()\s*['"])(\.{1,2}\/[^'"]+)\.ts(?=['"])/g;

/** Compiler arguments for the library's declarations. */
const LIBRARY = ['-p', 'tsconfig.types.json'];

/**
 * Writes the declarations reachable from index.ts into `folder`. The compiler leaves `.ts` in their imports; `.js` is
 * what every consumer's TypeScript resolves to the `.d.ts` next to it.
 */
export function writeDeclarations(folder: string, project: readonly string[] = LIBRARY): void {
  const all = mkdtempSync(join(tmpdir(), 'mailvet-types-'));
  try {
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    execFileSync(tsc, [...project, '--declaration', '--outDir', all], { cwd: ROOT, stdio: 'inherit' });
    const reached = new Set([join(all, 'index.d.ts')]);
    for (const file of reached) {
      const text = readFileSync(file, 'utf8').replace(SPECIFIER, (_, before: string, path: string) => {
        reached.add(join(dirname(file), `${path}.d.ts`));
        return `${before}${path}.js`;
      });
      const target = join(folder, relative(all, file));
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, text);
    }
  } finally {
    rmSync(all, { recursive: true });
  }
}
