import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { dataFile } from '../../data-files.ts';
import { createClassifier, loadClassifierData } from '../classify.ts';
import { compileCodes } from './codes.ts';
import { ECHOES } from './evaluation.ts';
import { compileLexicon, type LexiconFile, lexiconEntries } from './lexicon.ts';

const { lexicon, codes } = loadClassifierData();
const providers = new Set(
  (JSON.parse(readFileSync(dataFile('mx-providers.json'), 'utf8')) as { provider: string }[]).map(
    (row) => row.provider,
  ),
);
const { classify } = createClassifier(undefined, { operators: providers });

describe('the lexicon is refused', () => {
  const withSlots = (slots: Record<string, string[]>): LexiconFile => ({ ...lexicon, languages: { xx: slots } });
  const all = {
    user: ['uzanto'],
    sender: ['sendinto'],
    absent: ['nekonata'],
    disabled: ['malaktiva'],
    full: ['plena'],
    declines: ['rifuzas'],
    later: ['poste'],
    not: ['ne'],
  };

  it('if a language has nouns, but no words for absence, refusal or negation', () => {
    expect(lexiconEntries(withSlots(all))).not.toEqual([]);
    for (const slot of Object.keys(all)) {
      const { [slot]: _, ...others } = all as Record<string, string[]>;
      expect(() => lexiconEntries(withSlots(others)), slot).toThrow('has no words for');
    }
  });

  it('if a slot is unknown, or a phrase has two meanings', () => {
    expect(() => lexiconEntries(withSlots({ ...all, nothing: ['x'] }))).toThrow('unknown slot');
    expect(() => compileLexicon(lexiconEntries(withSlots({ ...all, full: ['Uzanto'] })))).toThrow('"Uzanto" is');
  });
});

describe('operators’ codes', () => {
  const at = (sample: string) => /^(\d{3}) (?:([245]\.\d+\.\d+) )?(.*)$/s.exec(sample)!;

  it.each(codes.operators.map((row) => [row.id, row] as const))('%s decides its sample', (id, row) => {
    const [, code, enhanced, text] = at(row.sample);
    const reply = { code: Number(code), enhanced: enhanced ?? null, text: text ?? '' };
    const operator = row.operators?.[0] ?? null;
    expect(classify({ stage: 'rcpt', reply, operator, echoes: ECHOES }).rule).toBe(id);
    expect(row.source).not.toBe('');
  });

  it('are refused with an unknown rule or operator, or an id or code twice', () => {
    const row = codes.operators[0]!;
    const wrong =
      (more: object, again = false) =>
      () =>
        compileCodes({ ...codes, operators: [{ ...row, ...more }, ...(again ? [row] : [])] }, providers);
    expect(wrong({ rule: 'nothing' })).toThrow('unknown rule');
    expect(wrong({ operators: ['nobody'] })).toThrow('unknown operator');
    expect(wrong({}, true)).toThrow('twice');
    expect(() => compileCodes({ ...codes, enhanced: [codes.enhanced[0]!, codes.enhanced[0]!] })).toThrow('twice');
  });
});
