/** JSON values as literals of programming languages. */

const LINE = 78;

/** In place of a text: a variable of the environment, by its name. */
export class Variable {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

interface Syntax {
  readonly text: (value: string) => string;
  readonly variable: (name: string) => string;
  readonly key: (name: string) => string;
  readonly words: readonly [nothing: string, yes: string, no: string];
  readonly indent: string;
  /** Around the parts of an object, and between a key and its value. */
  readonly object: readonly [open: string, between: string, close: string];
  /** Inside the braces of an object on one line. */
  readonly space: string;
}

function literal(value: unknown, syntax: Syntax, margin: string): string {
  const [nothing, yes, no] = syntax.words;
  if (value === null || value === undefined) return nothing;
  if (typeof value === 'boolean') return value ? yes : no;
  if (typeof value === 'string') return syntax.text(value);
  if (value instanceof Variable) return syntax.variable(value.name);
  if (typeof value !== 'object') return String(value);
  const inner = margin + syntax.indent;
  const isList = Array.isArray(value);
  const [opening, between, closing] = syntax.object;
  const [open, close, space] = isList ? ['[', ']', ''] : [opening, closing, syntax.space];
  const parts = (at: string): string[] =>
    isList
      ? value.map((item) => literal(item, syntax, at))
      : Object.entries(value).map(([name, item]) => `${syntax.key(name)}${between}${literal(item, syntax, at)}`);
  const short = parts(margin).join(', ');
  if (short === '') return open + close;
  if (short.length + margin.length < LINE && !short.includes('\n')) return open + space + short + space + close;
  const lines = parts(inner).map((part) => `${inner}${part},\n`);
  return `${open}\n${lines.join('')}${margin}${close}`;
}

const JAVASCRIPT: Syntax = {
  text: (value) =>
    value.includes("'") ? JSON.stringify(value) : `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"')}'`,
  variable: (name) => `process.env.${name}`,
  key: (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)),
  words: ['null', 'true', 'false'],
  indent: '  ',
  object: ['{', ': ', '}'],
  space: ' ',
};

/** Strings of JSON are strings of Python. */
const PYTHON: Syntax = {
  text: (value) => JSON.stringify(value),
  variable: (name) => `os.environ["${name}"]`,
  key: (name) => JSON.stringify(name),
  words: ['None', 'True', 'False'],
  indent: '    ',
  object: ['{', ': ', '}'],
  space: '',
};

const quoted = (value: string): string => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
/** Maps are arrays. */
const PHP: Syntax = {
  text: quoted,
  variable: (name) => `getenv('${name}')`,
  key: quoted,
  words: ['null', 'true', 'false'],
  indent: '    ',
  object: ['[', ' => ', ']'],
  space: '',
};

export const javascript = (value: unknown): string => literal(value, JAVASCRIPT, '');
/** As an argument of a call that is indented by four. */
export const python = (value: unknown): string => literal(value, PYTHON, '    ');
export const php = (value: unknown): string => literal(value, PHP, '    ');
