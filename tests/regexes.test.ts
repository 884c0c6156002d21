/** Regular expressions over untrusted input take time linear in its length. */
import { check } from 'recheck';
import { describe, expect, it } from 'vitest';
import { allSources, parse, visit } from './syntax.ts';

/** Files whose expressions see short texts only: there, quadratic is fast enough. */
const SHORT: Readonly<Record<string, string>> = {
  'sdk/src/guard.ts': 'addresses of 253 characters in a header',
  'sdk/src/transport.ts': 'the base URL of its user',
  'src/config/options.ts': 'options of the operator',
  'src/config/read.ts': 'names of environment variables',
  'src/engine/address/parse.ts': 'addresses',
  'src/engine/address/suggest.ts': 'addresses',
  'src/engine/data/domain-data.ts': 'domains',
  'src/engine/smtp/classify.ts': 'SMTP replies',
  'src/engine/smtp/classify/clauses.ts': 'SMTP replies',
  'src/engine/smtp/classify/echoes.ts': 'SMTP replies',
  'src/engine/smtp/classify/lexicon.ts': 'SMTP replies',
  'src/engine/smtp/reply.ts': 'SMTP replies, of which it searches 1,000 characters',
  'src/files/xlsx/styles.ts': 'format codes of 255 characters',
  'src/http/dashboard/pages.ts': 'our own page',
  'src/http/metrics/registry.ts': 'our own descriptions',
  'src/service/link-text.ts': 'names of accounts and users',
  'src/service/sign-in/validate.ts': 'passwords',
  'src/store/postgres/migrate.ts': 'our own migrations',
};

interface Expression {
  readonly source: string;
  readonly flags: string;
  readonly where: string;
  readonly path: string;
}

const EXPRESSIONS: Expression[] = allSources()
  .filter(({ path }) => /^(src|sdk\/src)\//.test(path) && !path.endsWith('.test.ts'))
  .flatMap((file) => {
    const found: Expression[] = [];
    visit(parse(file), ({ type, regex, start }) => {
      if (type !== 'Literal' || regex === undefined) return;
      const { pattern, flags } = regex as { pattern: string; flags: string };
      const line = file.text.slice(0, start).split('\n').length;
      found.push({ source: pattern, flags, where: `${file.path}:${line} /${pattern}/${flags}`, path: file.path });
    });
    return found;
  });

/**
 * Its complexity; null: linear, or not known, as with look-around. One that is tried at each character of a run, such
 * as `/x+$/`, becomes linear by `(?<!x)` in front of it.
 */
async function slowness({ source, flags }: Pick<Expression, 'source' | 'flags'>): Promise<string | null> {
  const found = await check(source, flags, { checker: 'automaton', timeout: 1_000 });
  return found.status === 'vulnerable' ? found.complexity.type : null;
}

describe('a regular expression', () => {
  it('is linear, or sees short texts', { timeout: 300_000 }, async () => {
    expect(EXPRESSIONS.length).toBeGreaterThan(400);
    const slow: string[] = [];
    for (const one of EXPRESSIONS) {
      const complexity = await slowness(one);
      if (complexity === null) continue;
      if (complexity === 'exponential' || !(one.path in SHORT)) slow.push(`${complexity}: ${one.where}`);
    }
    expect(slow).toEqual([]);
  });

  it.each([
    ['exponential', '^(?:#.*\\n|(?:#.*)?\\n)*x'],
    ['polynomial', '\\s+$'],
    ['polynomial', '[^@]+@'],
    [null, '^[a-z]+@'],
  ])('is found to be %s: %s', async (complexity, source) => {
    expect(await slowness({ source, flags: '' })).toBe(complexity);
  });
});
