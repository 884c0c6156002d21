/**
 * The classification of SMTP replies: `npm run replies` trains the model and prints its figures on sources that it had
 * not seen, `--misses` the replies that it reads differently too. `--write` writes data/smtp-model.tsv and
 * docs/classification.md if the sources have changed (`--force`: anyway), but not if a labelled reply changes between
 * bad and not bad that `--accept <id>,<id>…` does not name. `--check` fails if either is older than the sources.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { evaluate, isReadAsBad } from '../src/engine/smtp/classify/evaluation.ts';
import { createModel, parseModel } from '../src/engine/smtp/classify/model.ts';
import { createClassifier } from '../src/engine/smtp/classify.ts';
import { rulesData, trainAndMeasure } from './replies/folds.ts';
import { figures, page } from './replies/page.ts';
import { allRows, SET_NAMES } from './replies/rows.ts';
import { misses } from './replies/tables.ts';

const path = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url));
const [MODEL, PAGE] = [path('data/smtp-model.tsv'), path('docs/classification.md')];
const FROM = [...SET_NAMES.map((name) => `data/sources/${name}`), 'data/smtp-lexicon.json', 'data/smtp-codes.json'];

const hash = createHash('sha256');
for (const name of FROM) hash.update(readFileSync(path(name)));
const sources = hash.digest('hex').slice(0, 16);

const has = (flag: string): boolean => process.argv.includes(flag);
const isFresh =
  existsSync(MODEL) &&
  parseModel(readFileSync(MODEL, 'utf8')).head.sources === sources &&
  readFileSync(PAGE, 'utf8').includes(`\`${sources}\``);

/** Labelled replies that the present model and another one read differently: bad, or not. */
function changes(model: string): string[] {
  if (!existsSync(MODEL)) return [];
  const rows = allRows();
  const [before, after] = [readFileSync(MODEL, 'utf8'), model].map((text) =>
    evaluate(createClassifier({ ...rulesData, model: createModel(parseModel(text)) }), rows),
  );
  return rows.flatMap(({ id, code, enhanced, text }, at) => {
    const [was, is] = [before![at]!, after![at]!];
    return isReadAsBad(was.reading) === isReadAsBad(is.reading)
      ? []
      : [`${id}: ${was.reading.finding} → ${is.reading.finding}: ${code} ${enhanced ?? ''} ${text.slice(0, 120)}`];
  });
}

if (has('--check')) {
  if (!isFresh) {
    console.error(
      'data/smtp-model.tsv or docs/classification.md is older than its sources: npm run replies -- --write',
    );
    process.exitCode = 1;
  }
} else if (!has('--write') || has('--force') || !isFresh) {
  const trained = trainAndMeasure(sources, (line) => console.error(line));
  console.log(figures(trained));
  if (has('--misses')) for (const one of misses([...trained.held, ...trained.heldBack])) console.log(one);
  if (has('--write')) {
    const accepted = new Set((process.argv[process.argv.indexOf('--accept') + 1] ?? '').split(','));
    const open = changes(trained.model).filter((change) => !accepted.has(change.slice(0, change.indexOf(':'))));
    if (open.length > 0) {
      console.error(
        `Nothing written: these replies change between bad and not bad. Name them with --accept:\n${open.join('\n')}`,
      );
      process.exitCode = 1;
    } else {
      writeFileSync(MODEL, trained.model);
      writeFileSync(PAGE, page(trained, sources));
    }
  }
}
