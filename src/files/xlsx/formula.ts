/** Formulas that make text, where a program wrote them without their values. */

/** Longer ones are not evaluated. */
export const FORMULA_LENGTH = 8_192;
const DEPTH_MAX = 20;

interface Value {
  readonly text: string;
  /** Of HYPERLINK. */
  readonly link: string | null;
}

/**
 * Texts and cells joined by `&` and a few functions; null for everything else. `cellAt`: the text of a cell such as
 * `$A2`, null where it is not known.
 */
export function evaluateFormula(formula: string, cellAt: (reference: string) => string | null): Value | null {
  if (formula.length > FORMULA_LENGTH) return null;
  const tokens = tokensOf(formula);
  if (tokens === null) return null;
  let at = 0;
  const value = joined(0);
  return value !== null && at === tokens.length ? value : null;

  function take(wanted: string): boolean {
    if (tokens?.[at] !== wanted) return false;
    at += 1;
    return true;
  }

  function joined(depth: number): Value | null {
    let value = operand(depth);
    while (value !== null && take('&')) {
      const next = operand(depth);
      value = next === null ? null : { text: value.text + next.text, link: null };
    }
    return value;
  }

  function operand(depth: number): Value | null {
    const token = tokens?.[at];
    if (token === undefined || depth > DEPTH_MAX) return null;
    at += 1;
    if (token.startsWith('"')) return { text: token.slice(1, -1).replaceAll('""', '"'), link: null };
    if (/^[\d.]/.test(token)) return { text: token, link: null };
    if (token === '(') {
      const inner = joined(depth + 1);
      return take(')') ? inner : null;
    }
    if (take('(')) return called(token.toUpperCase(), depth + 1);
    const text = cellAt(token.replaceAll('$', '').toUpperCase());
    return text === null ? null : { text, link: null };
  }

  function called(name: string, depth: number): Value | null {
    const values: Value[] = [];
    do {
      const value = joined(depth);
      if (value === null) return null;
      values.push(value);
    } while (take(',') || take(';'));
    return take(')') ? (FUNCTIONS[name.replace(/^_XLFN\./, '')]?.(values.map(({ text }) => text)) ?? null) : null;
  }
}

const plain = (text: string): Value => ({ text, link: null });
const FUNCTIONS: Readonly<Record<string, (texts: readonly string[]) => Value>> = {
  CONCATENATE: (texts) => plain(texts.join('')),
  CONCAT: (texts) => plain(texts.join('')),
  LOWER: ([text = '']) => plain(text.toLowerCase()),
  UPPER: ([text = '']) => plain(text.toUpperCase()),
  TRIM: ([text = '']) => plain(text.trim().replaceAll(/ +/g, ' ')),
  T: ([text = '']) => plain(text),
  HYPERLINK: ([link = '', text = link]) => ({ text, link }),
};

/** Null: it has something that is none. */
function tokensOf(formula: string): string[] | null {
  const tokens: string[] = [];
  const token = /\s*("(?:[^"]|"")*"|[A-Za-z_$][\w.$]*|\d[\d.]*|[&(),;])/y;
  const text = formula.trim().replace(/^=/, '');
  while (token.lastIndex < text.length) {
    const [, found] = token.exec(text) ?? [];
    if (found === undefined) return null;
    tokens.push(found);
  }
  return tokens;
}
