import { expect, it } from 'vitest';
import { decidingLine } from './deciding-line.ts';

/** `> ` what was sent, `< ` what came back. */
const transcriptOf = (text: string) =>
  text.split('\n').map((line) => ({
    at: 0,
    from: line.startsWith('> ') ? ('client' as const) : line.startsWith('< ') ? ('server' as const) : ('note' as const),
    text: line.slice(2),
  }));

const PIPELINED = transcriptOf(`# connected
< 220 mx.test ESMTP
> EHLO verifier.test
< 250-mx.test
< 250 PIPELINING
> MAIL FROM:<>
> RCPT TO:<***@test>
> RCPT TO:<***@test>
< 250 sender ok
< 250-recipient
< 250 ok
< 550 5.1.1 unknown
> RSET
< 250 ok`);

it('is the reply to the command of the stage, in the order of the commands', () => {
  expect(decidingLine(PIPELINED, { stage: 'rcpt', code: 250 })).toBe(10);
  expect(decidingLine(PIPELINED, { stage: 'rcpt', code: 550 })).toBe(11);
  expect(decidingLine(PIPELINED, { stage: 'mail', code: 250 })).toBe(8);
  expect(decidingLine(PIPELINED, { stage: 'ehlo', code: 250 })).toBe(4);
});

it('is none where no reply decided, or it is not in the transcript', () => {
  expect(decidingLine(PIPELINED, { stage: 'rcpt', code: 451 })).toBe(-1);
  expect(decidingLine(PIPELINED, { stage: 'rcpt', code: null })).toBe(-1);
  expect(decidingLine(PIPELINED, { stage: 'greeting', code: 220 })).toBe(-1);
  expect(decidingLine([], { stage: 'rcpt', code: 250 })).toBe(-1);
  expect(decidingLine(PIPELINED, {})).toBe(-1);
});
