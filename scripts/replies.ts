/**
 * Accuracy of the classification of SMTP replies: `npm run replies` prints the figures, `--misses` the replies that are
 * read differently, `--write` updates docs/classification.md, `--check` fails if that page is stale.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { crossValidate, type Held } from './replies/folds.ts';
import { page } from './replies/page.ts';
import { byLabel, byLanguage, misses } from './replies/tables.ts';

const PAGE = fileURLToPath(new URL('../docs/classification.md', import.meta.url));

const held: readonly Held[] = crossValidate();
const text = page(held);
if (process.argv.includes('--write')) writeFileSync(PAGE, text);
else if (process.argv.includes('--check')) {
  if (readFileSync(PAGE, 'utf8') !== text) {
    console.error('docs/classification.md is stale: node scripts/replies.ts --write');
    process.exitCode = 1;
  }
} else {
  console.log(`${byLabel(held)}\n\n${byLanguage(held)}`);
  if (process.argv.includes('--misses')) for (const line of misses(held)) console.log(line);
}
