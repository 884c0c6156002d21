import { SYNTAX_ERRORS } from '../../src/engine/address/parse.ts';
import { table } from './markdown.ts';

/** docs/syntax-errors.md, from the table of the address parser. */
export function syntaxErrorsPage(): string {
  const rows = Object.entries(SYNTAX_ERRORS).map(([code, sentence]) => [`\`${code}\``, sentence]);
  return `<!-- Generated from src/engine/address/parse.ts by \`npm run gen\`; edit it there. -->
# Syntax errors

A malformed address is a verdict: \`status\` is \`bad\`, \`reason\` is \`invalid_format\`, and \`checks.syntax\` says what is
wrong and where: \`{"result": "fail", "error": "double_dot", "index": 5}\`. \`index\` is an offset in UTF-16 code units from
0, as in JavaScript strings; if something is missing, it is where it was expected.

${table(['code', 'meaning'], rows)}`;
}
