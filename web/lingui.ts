/** The dashboard's texts: their macros and catalogs, for the build, the tests and `npm run gen`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type PluginObj, transformAsync, type types } from '@babel/core';
import extractPlugin, { type ExtractedMessage } from '@lingui/babel-plugin-extract-messages';
import macroPlugin from '@lingui/babel-plugin-lingui-macro';
import { makeConfig } from '@lingui/conf';
import { formatter } from '@lingui/format-po';
import { compileMessageOrThrow } from '@lingui/message-utils/compileMessage';
import type { Plugin } from 'vite';
import { type Language, SOURCE_LANGUAGE } from '../src/kernel/facts/languages.ts';

export type Translated = Exclude<Language, typeof SOURCE_LANGUAGE>;
export const catalogPath = (language: Translated): string => `web/src/locales/${language}.po`;

const linguiConfig = makeConfig(
  // An instance that is active before the first module with texts is evaluated.
  { locales: [], runtimeConfigModule: { i18n: ['#i18n', 'i18n'] } },
  { skipValidation: true },
);
const HAS_MACRO = /from '@lingui\/(?:core|react)\/macro'/;

/** Of files without macros, by their text: the page and its first view are built of the same ones. */
const replaced = new Map<string, ReturnType<typeof withoutMacros>>();

async function withoutMacros(path: string, code: string, plugins: readonly [unknown, object?][]) {
  const done = await transformAsync(code, {
    filename: path,
    configFile: false,
    babelrc: false,
    sourceMaps: true,
    parserOpts: { plugins: ['typescript', ...(path.endsWith('x') ? (['jsx'] as const) : [])] },
    plugins: [[macroPlugin, { linguiConfig, descriptorFields: 'message' }], ...plugins],
  });
  return { code: done?.code ?? '', map: JSON.stringify(done?.map) };
}

export interface Message {
  readonly id: string;
  /** In English; undefined: the id is the text. */
  readonly message: string | undefined;
  readonly files: readonly string[];
  /** Expressions in place of `{0}`. */
  readonly placeholders: Readonly<Record<string, string>>;
}

/** The messages of a source file. */
export async function messagesOf(path: string, code: string): Promise<readonly Message[]> {
  const found: ExtractedMessage[] = [];
  if (!HAS_MACRO.test(code)) return [];
  await withoutMacros(path, code, [
    [extractPlugin, { linguiConfig, onMessageExtracted: (one: ExtractedMessage) => found.push(one) }],
  ]);
  return found.map(({ id, message, placeholders = {} }) => ({ id, message, files: [path], placeholders }));
}

/**
 * Texts in English are compiled with their module: readers of English load neither a catalog nor the compiler. Lingui's
 * functions take a compiled message wherever they take a message.
 */
const compiled = ({ types: t }: { types: typeof types }): PluginObj => ({
  visitor: {
    Program: {
      exit(program) {
        program.traverse({
          ObjectExpression({ node: { leadingComments, properties } }) {
            if (leadingComments?.some(({ value }) => value.includes('i18n')) !== true) return;
            for (const property of properties) {
              if (!t.isObjectProperty(property) || !t.isIdentifier(property.key, { name: 'message' })) continue;
              if (t.isStringLiteral(property.value)) property.value = t.valueToNode(compile(property.value.value));
            }
          },
        });
      },
    },
  },
});

/** Without what is undefined. */
const compile = (message: string) => JSON.parse(JSON.stringify(compileMessageOrThrow(message)));

const po = formatter({ lineNumbers: false });
const place = (language: Translated) => ({
  locale: language,
  sourceLocale: SOURCE_LANGUAGE,
  filename: catalogPath(language),
});

/** Messages and their translations by id. */
const parseCatalog = async (language: Translated, text: string) => po.parse(text, place(language));

export const readCatalog = (root: string, language: Translated) =>
  parseCatalog(language, readFileSync(join(root, catalogPath(language)), 'utf8'));

/** A placeholder's expression, where it says in a line what stands there. */
const shortOf = (placeholders: Message['placeholders']): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(placeholders).flatMap(([name, of]) =>
      /^[^\n]{1,60}$/.test(of) && name !== of ? [[name, [of]]] : [],
    ),
  );

/** A catalog in order of the English texts. */
export async function writeCatalog(
  language: Translated,
  messages: ReadonlyMap<string, Message>,
  translationOf: (id: string) => string,
): Promise<string> {
  const textOf = ({ id, message }: Message): string => message ?? id;
  const sorted = [...messages.values()].sort((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
  const entries = sorted.map(({ id, message, files, placeholders }) => [
    id,
    {
      ...(message === undefined ? {} : { message }),
      translation: translationOf(id),
      origin: files.map((file): [string] => [file]),
      placeholders: shortOf(placeholders),
    },
  ]);
  return po.serialize(Object.fromEntries(entries), { ...place(language), existing: HEADER });
}

/** Without the time of writing. */
const HEADER = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n';

/** Replaces the macros of Lingui, and compiles catalogs. */
export function texts(): Plugin {
  return {
    name: 'texts',
    enforce: 'pre',
    transform: {
      filter: { id: /\/web\/src\/.*\.(?:tsx?|po)$/ },
      async handler(code, id) {
        if (!id.endsWith('.po')) {
          if (!HAS_MACRO.test(code)) return null;
          const done = replaced.get(code) ?? withoutMacros(id, code, [[compiled]]);
          replaced.set(code, done);
          return done;
        }
        const language = id.endsWith('/de.po') ? 'de' : 'fr';
        const catalog = Object.entries(await parseCatalog(language, code));
        const messages = catalog.flatMap(([id, { translation }]) => (translation ? [[id, compile(translation)]] : []));
        return {
          code: `export const messages = JSON.parse(${JSON.stringify(JSON.stringify(Object.fromEntries(messages)))});`,
          moduleType: 'js',
          map: null,
        };
      },
    },
  };
}
