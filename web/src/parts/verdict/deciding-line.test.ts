import { expect, it } from 'vitest';
import { decidingLines } from './deciding-line.ts';

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
  expect(decidingLines(PIPELINED, { stage: 'rcpt', code: 250 })).toEqual({ first: 9, last: 10 });
  expect(decidingLines(PIPELINED, { stage: 'rcpt', code: 550 })).toEqual({ first: 11, last: 11 });
  expect(decidingLines(PIPELINED, { stage: 'mail', code: 250 })).toEqual({ first: 8, last: 8 });
  expect(decidingLines(PIPELINED, { stage: 'ehlo', code: 250 })).toEqual({ first: 3, last: 4 });
});

it('is none where no reply decided, or it is not in the transcript', () => {
  expect(decidingLines(PIPELINED, { stage: 'rcpt', code: 451 })).toBeNull();
  expect(decidingLines(PIPELINED, { stage: 'rcpt', code: null })).toBeNull();
  expect(decidingLines(PIPELINED, { stage: 'greeting', code: 220 })).toBeNull();
  expect(decidingLines([], { stage: 'rcpt', code: 250 })).toBeNull();
  expect(decidingLines(PIPELINED, {})).toBeNull();
});
