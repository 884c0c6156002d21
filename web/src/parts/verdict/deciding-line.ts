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

/** Indexes of the lines of a reply. */
interface Lines {
  readonly first: number;
  readonly last: number;
}

const isContinued = (text: string): boolean => /^\d{3}-/.test(text);

/**
 * The lines of the reply that decided; null: none can be identified. Servers reply in the order of the commands
 * (RFC 2920 §3.1), after a greeting, and the last line of each reply has no hyphen after its code (RFC 5321 §4.2.1).
 */
export function decidingLines(transcript: Transcript, { stage, code }: Decided): Lines | null {
  const command = COMMANDS[stage ?? ''];
  if (command === undefined || code == null) return null;
  const unanswered = ['greeting'];
  const last = transcript.findIndex(({ from, text }) => {
    if (from === 'client') unanswered.push(text);
    if (from !== 'server' || !/^\d{3}(?!-)/.test(text)) return false;
    return command.test(unanswered.shift() ?? '') && text.startsWith(String(code));
  });
  if (last < 0) return null;
  const before = transcript.slice(0, last);
  return { first: before.findLastIndex(({ from, text }) => from !== 'server' || !isContinued(text)) + 1, last };
}
