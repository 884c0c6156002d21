import { describe, expect, it } from 'vitest';
import { SMTP_LIMITS } from './limits.ts';
import { Transcript } from './session.ts';

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

  it('has each line of a reply with its code, and none after the end', () => {
    const transcript = new Transcript(clock, SMTP_LIMITS, 'jane');
    const lines = ['mx.example.test', 'PIPELINING', 'jane'];
    const reply = { code: 250, enhanced: null, lines, texts: lines, text: lines.join(' '), mixed: false };
    transcript.addReply(reply);
    const all = () => transcript.lines.map(({ text }) => text);
    expect(all()).toEqual(['250-mx.example.test', '250-PIPELINING', '250 ***']);
    transcript.end().addReply(reply);
    expect(all()).toHaveLength(3);
  });

  it('bounds the lines of one reply', () => {
    const transcript = new Transcript(clock, SMTP_LIMITS, 'jane');
    const lines = Array.from({ length: 100 }, () => 'x');
    transcript.addReply({ code: 250, enhanced: null, lines, texts: lines, text: lines.join(' '), mixed: false });
    expect(transcript.lines).toHaveLength(SMTP_LIMITS.transcriptLines);
    expect(transcript.lines.at(-1)).toEqual({ at: 0, from: 'note', text: 'the rest is left out' });
  });

  it('handles letters that change their length in lower case', () => {
    expect(texts('jane', '\u0130 jane')).toEqual(['***']);
  });
});
