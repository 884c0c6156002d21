import { describe, expect, it } from 'vitest';
import { SMTP_LIMITS } from './limits.ts';
import { Transcript } from './transcript.ts';

const clock = { now: () => 0, elapsed: () => 0 };
const texts = (secret: string, ...lines: string[]) => {
  const transcript = new Transcript(clock, SMTP_LIMITS, secret);
  for (const line of lines) transcript.add('server', line);
  return transcript.lines.map(({ text }) => text);
};

describe('Transcript', () => {
  it('masks the local part, in any case, as a separate word or before an @', () => {
    expect(texts('jane', 'RCPT TO:<Jane@x.test>', 'no JANE here', 'janet and mary-jane', 'xjane@x.test')).toEqual([
      'RCPT TO:<***@x.test>',
      'no *** here',
      'janet and mary-***',
      'xjane@x.test',
    ]);
  });

  it('bounds the length and number of lines', () => {
    const lines = texts('a', ...Array.from({ length: 500 }, () => 'x'.repeat(5_000)));
    expect(lines).toHaveLength(SMTP_LIMITS.transcriptLines);
    expect(lines[0]).toHaveLength(SMTP_LIMITS.transcriptLineLength);
    expect(lines.at(-1)).toBe('the rest is left out');
  });

  it('handles letters that change their length in lower case', () => {
    expect(texts('jane', '\u0130 jane')).toEqual(['***']);
  });
});
