import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dataFile } from '../../src/engine/data-files.ts';
import { ECHOES, evaluate, isReadAsBad } from '../../src/engine/smtp/classify/evaluation.ts';
import {
  type Certainty,
  CLASSES,
  calibrated,
  createModel,
  featuresForTraining,
  opinionOf,
  parseModel,
  type Said,
  THRESHOLDS,
} from '../../src/engine/smtp/classify/model.ts';

import { createClassifier } from '../../src/engine/smtp/classify.ts';
import { rulesData } from './folds.ts';
import { allRows, isHeldBack, nonsense } from './rows.ts';

import { isFalselyDead, isGone } from './tables.ts';
import { calibrate, type Example, train } from './train.ts';

const text = readFileSync(dataFile('smtp-model.tsv'), 'utf8');
const classifier = createClassifier();
const seeing = (said: string, code = 550) =>
  classifier.see({ stage: 'rcpt', reply: { code, enhanced: null, text: said }, operator: null, echoes: ECHOES });

describe('training', () => {
  const examples: Example[] = allRows()
    .filter(({ code }, index) => code >= 400 && index % 20 === 0)
    .map((reply, index) => {
      const { code, enhanced } = reply;
      const seen = classifier.see({
        stage: 'rcpt',
        operator: null,
        echoes: ECHOES,
        reply: { code, enhanced, text: reply.text },
      });
      return { ...featuresForTraining(seen), label: index % 2 === 0 ? 0 : 4, weight: 1 };
    });

  it('the same replies give the same bytes', () => {
    const once = train(examples, { calibration: '1 0' });
    expect(train([...examples], { calibration: '1 0' })).toBe(once);
    const { features, head } = parseModel(once);
    expect(features.length).toBeGreaterThan(100);
    expect(head.classes).toBe(CLASSES.join(' '));
  });

  it('learns what the labels say', () => {
    const words = { 0: ['user', 'unknown', 'gone'], 4: ['blocked', 'spam', 'policy'] };
    const rows = Array.from({ length: 60 }, (_, index): Example => {
      const label = index % 2 === 0 ? 0 : 4;
      return {
        ...featuresForTraining(seeing(`${words[label][index % 3]} ${words[label][(index + 1) % 3]}`)),
        label,
        weight: 1,
      };
    });
    const model = createModel(parseModel(train(rows, { calibration: '1 0' })));
    expect(model.predict(seeing('user gone')).dead).toBeGreaterThan(0.9);
    expect(model.predict(seeing('spam policy')).dead).toBeLessThan(0.1);
    const [first] = model.explain(seeing('spam policy'));
    expect(first!.weight).toBeLessThan(0);
  });

  it('calibration makes shares what happened', () => {
    const shares = Array.from({ length: 1000 }, (_, index) => (index + 0.5) / 1000);
    // What is called p happens with p², so that shares are too high in the middle.
    const happened = shares.map((share, index) => (index * 0.618) % 1 < share ** 2);
    const [slope, offset] = calibrate(shares, happened);
    const around = (share: number): number => calibrated(share, slope, offset);
    expect(around(0.5)).toBeGreaterThan(0.15);
    expect(around(0.5)).toBeLessThan(0.35);
    expect(around(0.9)).toBeGreaterThan(around(0.5));
  });
});

describe('the model', () => {
  it('is small, and not for other classes', () => {
    expect(text.length).toBeLessThanOrEqual(250_000);
    expect(() => parseModel(text.replace('# classes not_found', '# classes nothing'))).toThrow('not for this version');
  });

  it('reads made-up words as nothing: at most one of 300 is bad, as some of them are words in some language', () => {
    const made = Array.from({ length: 20 }, (_, seed) => nonsense(300, seed + 2)).flat();
    const bad = evaluate(classifier, made).filter(({ reading }) => isReadAsBad(reading));
    expect(bad.length, bad.map(({ reply }) => reply.text).join('\n')).toBeLessThanOrEqual(made.length / 300);
    expect(bad.filter(({ reading }) => reading.readBy === 'model').length).toBeLessThanOrEqual(6);
  });

  it('takes any text, in bounds', () => {
    const units = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 400 }),
      fc.string({ unit: 'grapheme', maxLength: 400 }),
    );
    fc.assert(
      fc.property(units, fc.integer({ min: 500, max: 599 }), (said, code) => {
        const { dead, classes } = createModel(parseModel(text)).predict(seeing(said, code));
        expect(dead >= 0 && dead <= 1).toBe(true);
        expect(classes.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 6);
      }),
      { numRuns: 20 },
    );
    const many = Array.from({ length: 10_000 }, (_, index) => `w${index.toString(36)}x`).join(' ');
    expect(many.length).toBeGreaterThan(50_000);
    expect(featuresForTraining(seeing(many)).features.length).toBeLessThan(20_000);
    expect(seeing(many)).toEqual(seeing(many.slice(0, 2000)));
    expect(seeing('x'.repeat(65_536)).words.join('').length).toBeLessThanOrEqual(2000);
  });

  it('decides nothing about a 4xx, before RCPT, or against an operator’s own form', () => {
    for (const [code, stage] of [
      [450, 'rcpt'],
      [550, 'mail'],
      [554, 'banner'],
    ] as const) {
      const reply = { code, enhanced: null, text: 'zqx vbn user hooray' };
      expect(classifier.classify({ stage, reply, operator: null, echoes: ECHOES }).readBy).toBe('rule');
    }
    const reply = { code: 550, enhanced: '5.4.1', text: 'Recipient address rejected: Access denied' };
    const { readBy, probability } = classifier.classify({ stage: 'rcpt', reply, operator: null, echoes: ECHOES });
    expect([readBy, probability]).toEqual(['operator', null]);
  });

  it('decides only from its thresholds, and never that a reply which names the asker is about a dead mailbox', () => {
    const classes = CLASSES.map((name) => (name === 'not_found' ? 0.91 : 0.01));
    const of = (dead: number, certainty: Certainty, said: Partial<Said> = {}) =>
      opinionOf({ classes, dead }, certainty, {
        named: new Set(),
        clauses: [],
        denies: true,
        status: null,
        rules: [],
        ...said,
      });
    for (const certainty of ['none', 'weak'] as const) {
      expect(of(THRESHOLDS.dead, certainty)).toBe('model.not-found');
      expect(of(THRESHOLDS.dead - 0.001, certainty)).toBeNull();
      for (const other of ['sender', 'you', 'group', 'count'] as const)
        expect(of(1, certainty, { named: new Set([other]) })).toBeNull();
      expect(of(1, certainty, { clauses: [{ subject: 'server', predicate: 'disabled' }] })).toBeNull();
      const named = new Set(['client'] as const);
      expect(of(THRESHOLDS.sure, certainty, { named })).toBe('model.not-found');
      expect(of(THRESHOLDS.sure - 0.001, certainty, { named })).toBeNull();
      expect(of(THRESHOLDS.wordless, certainty, { denies: false })).toBe('model.not-found');
      expect(of(THRESHOLDS.wordless - 0.001, certainty, { denies: false })).toBeNull();
    }
    expect(of(THRESHOLDS.sure, 'nobody')).toBe('model.not-found');
    expect(of(THRESHOLDS.sure - 0.001, 'nobody')).toBeNull();
    expect(of(1, 'sure')).toBeNull();
    expect(of(THRESHOLDS.doubt, 'bad')).toBeNull();
    expect(of(THRESHOLDS.doubt - 0.001, 'bad')).toMatch(/^model\.(?!not-found|disabled|full|domain)/);
  });
});

describe('labelled replies', () => {
  const rows = allRows();
  const read = evaluate(classifier, rows).map((one, at) => ({ ...one, row: rows[at]! }));

  it('none about the client or the server is read as a dead mailbox', () => {
    const wrong = read.filter((one) => isFalselyDead(one) && !isHeldBack(one.row));
    // "We do not talk to machines without a name, user or no user"
    expect(wrong.map(({ row }) => row.id)).toEqual(['written261']);
  });

  it('more mailboxes that do not exist are recognized than by the rules alone', () => {
    const found = (by: Parameters<typeof evaluate>[0]): number =>
      evaluate(by, rows).filter((one) => isGone(one) && isReadAsBad(one.reading)).length;
    const [gone, both, rules] = [read.filter(isGone).length, found(classifier), found(createClassifier(rulesData))];
    expect(both / gone).toBeGreaterThan(0.93);
    expect(both).toBeGreaterThan(rules);
  });
});
