import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { ROOT } from '../fresh.mjs';

/** `from './a.ts'` and `import('./a.ts')`, as the compiler prints them. */
const SPECIFIER = /((?:from|import\()\s*['"])(\.{1,2}\/[^'"]+)\.ts(?=['"])/g;
/** Declares nothing that exists at run time, so ES modules can import it from CommonJS. */
const HAS_VALUES = /^export (declare |\{(?!\})|\* |default )/m;

interface Declarations {
  /** Compiler arguments for the project. */
  readonly project: readonly string[];
  /** Names of the sources that others import, without `.ts`. */
  readonly entries: readonly string[];
}

/**
 * Writes the declarations reachable from the entries into `folder`, for ES modules (`.d.ts`) and for CommonJS
 * (`.d.cts`). The compiler leaves `.ts` in their imports; `.js` and `.cjs` are what every consumer's TypeScript
 * resolves to the declaration next to them. Files with types only are there once, as `.d.cts`, which both can import.
 */
export function writeDeclarations(folder: string, { project, entries }: Declarations): void {
  const all = mkdtempSync(join(tmpdir(), 'mailvet-types-'));
  try {
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    execFileSync(tsc, [...project, '--declaration', '--outDir', all], { cwd: ROOT, stdio: 'inherit' });
    const texts = new Map<string, string>();
    const read = (file: string): string => {
      const text = texts.get(file) ?? readFileSync(file, 'utf8');
      texts.set(file, text);
      return text;
    };
    const reached = new Set(entries.map((name) => join(all, `${name}.d.ts`)));
    const isShared = (file: string): boolean =>
      !HAS_VALUES.test(read(file)) && !entries.some((name) => file === join(all, `${name}.d.ts`));
    for (const file of reached) {
      const linked = (extension: string): string =>
        read(file).replace(SPECIFIER, (_, before: string, path: string) => {
          const target = join(dirname(file), `${path}.d.ts`);
          reached.add(target);
          return `${before}${path}.${isShared(target) ? 'cjs' : extension}`;
        });
      const place = join(folder, relative(all, file));
      mkdirSync(dirname(place), { recursive: true });
      writeFileSync(place.replace(/\.ts$/, '.cts'), linked('cjs'));
      if (!isShared(file)) writeFileSync(place, linked('js'));
    }
  } finally {
    rmSync(all, { recursive: true });
  }
}
