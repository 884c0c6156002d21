import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { ROOT } from '../fresh.mjs';

interface Manifest {
  name: string;
  version: string;
  license?: string;
  homepage?: string;
  author?: string | { name?: string };
}

/** Name, version and license text of every bundled package, and of those in `also`. */
export function licenses(metafiles: readonly Metafile[], also: readonly string[]): string {
  const folders = new Set(also.map((name) => `node_modules/${name}`));
  for (const file of metafiles.flatMap((metafile) => Object.keys(metafile.inputs))) {
    const folder = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0];
    if (folder !== undefined) folders.add(folder);
  }
  return [...folders]
    .sort()
    .map(section)
    .join(`\n${'-'.repeat(80)}\n\n`);
}

function section(folder: string): string {
  const path = join(ROOT, folder);
  const manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as Manifest;
  if (!manifest.license) throw new Error(`${folder} names no licence`);
  const author = typeof manifest.author === 'string' ? manifest.author : (manifest.author?.name ?? '');
  const files = existsSync(path) ? readdirSync(path).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name)) : [];
  const texts = files.map((name) => readFileSync(join(path, name), 'utf8').trim());
  const head = [`${manifest.name} ${manifest.version}`, manifest.license, author, manifest.homepage ?? ''];
  return `${head.filter(Boolean).join(' · ')}\n\n${texts.join('\n\n') || 'The package has no file with the text of its licence.'}\n`;
}
