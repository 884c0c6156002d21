import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LANGUAGES, SOURCE_LANGUAGE } from '../../src/kernel/facts/languages.ts';
import { FACT_TEXTS } from '../../web/fact-texts.ts';
import { catalogPath, type Message, messagesOf, readCatalog, type Translated, writeCatalog } from '../../web/lingui.ts';
import { ROOT } from '../fresh.mjs';

const SOURCES = 'web/src';

export const TRANSLATED = Object.keys(LANGUAGES).filter((one): one is Translated => one !== SOURCE_LANGUAGE);

/** Every message of the dashboard by id, with the files that have it. */
export async function allMessages(root = ROOT): Promise<ReadonlyMap<string, Message>> {
  const files = readdirSync(join(root, SOURCES), { recursive: true, encoding: 'utf8' })
    .filter((name) => /(?<!\.test|\.d)\.tsx?$/.test(name))
    .map((name) => `${SOURCES}/${name.replaceAll('\\', '/')}`)
    .sort();
  const all = new Map<string, Message>();
  for (const path of files)
    for (const message of await messagesOf(path, readFileSync(join(root, path), 'utf8'))) {
      const known = all.get(message.id) ?? { ...message, files: [] };
      if (!known.files.includes(path)) all.set(message.id, { ...known, files: [...known.files, path] });
    }
  for (const id of FACT_TEXTS) all.set(id, { id, message: undefined, files: ['web/fact-texts.ts'], placeholders: {} });
  return all;
}

/** The catalogs, with the translations that they have; messages that no source has are left out. */
export async function catalogs(): Promise<Record<string, string>> {
  const messages = await allMessages();
  const written = TRANSLATED.map(async (language) => {
    const known = await readCatalog(ROOT, language);
    return [
      catalogPath(language),
      await writeCatalog(language, messages, (id) => known[id]?.translation ?? ''),
    ] as const;
  });
  return Object.fromEntries(await Promise.all(written));
}
