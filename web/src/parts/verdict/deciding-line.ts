import type { Verification } from '../../api/schema.ts';

type Transcript = NonNullable<NonNullable<Verification['evidence']>['smtp']>['transcript'];
type Decided = Pick<Verification['checks']['smtp'], 'stage' | 'code'>;

/**
 * The command whose reply is that of a stage; those that are not here, such as the greeting, are not replies to one.
 */
const COMMANDS: Readonly<Record<string, RegExp>> = {
  ehlo: /^(EHLO|HELO)\b/i,
  starttls: /^STARTTLS\b/i,
  mail: /^MAIL\b/i,
  rcpt: /^RCPT\b/i,
};

/**
 * Index of the last line of the reply that decided; -1: none can be identified. Servers reply in the order of the
 * commands (RFC 2920 §3.1), after a greeting, and one line of each reply has no hyphen after its code (RFC 5321
 * §4.2.1).
 */
export function decidingLine(transcript: Transcript, { stage, code }: Decided): number {
  const command = COMMANDS[stage ?? ''];
  if (command === undefined || code == null) return -1;
  const unanswered = ['greeting'];
  return transcript.findIndex(({ from, text }) => {
    if (from === 'client') unanswered.push(text);
    if (from !== 'server' || !/^\d{3}(?!-)/.test(text)) return false;
    return command.test(unanswered.shift() ?? '') && text.startsWith(String(code));
  });
}
